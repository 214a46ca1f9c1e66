"""Prints a config with some fields changed.

    edit_config.py llama.json hidden_size=0 rope_scaling.factor=2.0 -vocab_size

A dot leads into an object, `name=value` sets a field to a JSON value, `-name`
removes it.
"""

import json
import sys


def main():
    with open(sys.argv[1]) as file:
        config = json.load(file)
    for edit in sys.argv[2:]:
        path, _, value = edit.lstrip("-").partition("=")
        *folders, name = path.split(".")
        target = config
        for folder in folders:
            target = target[folder]
        if edit.startswith("-"):
            del target[name]
        else:
            target[name] = json.loads(value)
    json.dump(config, sys.stdout, indent=2)


main()
