#!/usr/bin/env python3
"""Checks the sizes of families that are planned by their keys alone.

    build/transformers-venv/bin/python utils/class_sizes.py build/bin/shard-translate [--only Cohere]

Every class of Transformers that generates text is made of its default config, without memory for
its weights. Its config is then read: it is refused, or has as many parameters as the language
model of the class. Exit status 1 if one has others.
"""

import argparse
import contextlib
import json
import logging
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import torch
import transformers
from transformers.models.auto import modeling_auto

# What sees and hears, and layers that predict further tokens.
LEFT_OUT = re.compile(
    "vision|visual|audio|image|multi_modal|projector|speech|mtp|patch|connector|aligner|perceiver|resampler"
)
# Of the parameters: biases and weights of norms that no key says.
TOLERANCE = 3e-4


def names():
    """The classes that generate text."""
    maps = (
        modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        modeling_auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
    )
    found = [name for each in maps for name in each.values()]
    return sorted({name if isinstance(name, str) else name[0] for name in found})


def default_of(name):
    """(config as a file has it, parameters of the language model) of a class."""
    kind = getattr(transformers, name)
    config = kind.config_class()
    with torch.device("meta"):
        model = kind(config)
    parameters = model.named_parameters()
    count = sum(weight.numel() for path, weight in parameters if not LEFT_OUT.search(path))
    return {**config.to_dict(), "architectures": [name]}, count


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("shard_translate", type=pathlib.Path)
    parser.add_argument("--only", default="", help="classes with this in their name")
    args = parser.parse_args()
    logging.disable(logging.ERROR)
    warnings.simplefilter("ignore")
    wrong = planned = 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "config.json"
        for name in names():
            if args.only not in name:
                continue
            config = None
            # A class may need packages that are not installed.
            with contextlib.suppress(Exception):
                config, count = default_of(name)
                path.write_text(json.dumps(config, default=str))
            if not config:
                continue
            command = [args.shard_translate, "--import-hf", path, "--parameter-count"]
            command += ["--phase=decode", "--context=128"]
            result = subprocess.run(command, capture_output=True, text=True)
            if result.returncode:
                continue
            planned += 1
            found = int(result.stdout.split()[0])
            if abs(found - count) > TOLERANCE * count:
                wrong += 1
                print(f"{name}: {found} parameters, its class has {count}", flush=True)
    print(f"{planned} classes are planned, {wrong} of them with other sizes")
    sys.exit(1 if wrong else 0)


main()
