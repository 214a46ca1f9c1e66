"""Published models of the families: their sizes, and a proved plan of each.

    published_families.py FOLDER [--times] [--all]    (shard-translate and shard-opt are on the path)

The sizes are those of their configs on the hub; the numbers of parameters those of their
model cards, in billions. Of models whose programs are those of another one, or which other
tests plan, only the number is asked without `--all`. With `--times` the CPU seconds of every plan stand behind it.
"""

import json
import pathlib
import re
import resource
import subprocess
import sys

from published_models import ALIKE, MODELS

# Their sizes stand in `text_config`.
SEEING = ("Mistral3", "Qwen2_5_VL", "Qwen3VL", "Qwen3VLMoe")


def config_of(architecture, vocab, hidden, inner, layers, heads, kv_heads, more):
    config = {
        "vocab_size": vocab,
        "hidden_size": hidden,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "rms_norm_eps": 1e-5,
        "torch_dtype": "bfloat16",
        **more,
    }
    if architecture not in SEEING:
        return {"architectures": [f"{architecture}ForCausalLM"], **config}
    return {"architectures": [f"{architecture}ForConditionalGeneration"], "text_config": config}


def run(*command, check=True):
    return subprocess.run(command, check=check, capture_output=True, text=True)


def seconds():
    """CPU seconds of the commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, (*sizes, billions) in {**MODELS, **ALIKE}.items():
        config, module = folder / f"{name}.json", folder / f"{name}.mlir"
        config.write_text(json.dumps(config_of(*sizes)))
        importing = ["shard-translate", "--import-hf", config, "--phase=decode", "--context=8192"]
        count = int(run(*importing, "--parameter-count").stdout)
        near = not billions or abs(count / 1e9 - billions) <= 0.01 * billions
        run(*importing, "-o", module)
        proved = []
        for devices in (8, 64) if name in MODELS or "--all" in sys.argv else ():
            search = f"--llm-search-sharding=simulator=roofline machine=h100_sxm space=serving max-devices={devices}"
            before = seconds()
            # Where no strategy fits, the search ends with an error, and a proof.
            table = run("shard-opt", module, search, "-o", "/dev/null", check=False).stderr
            proof = re.search("exact, (proved optimal|proved infeasible)", table)
            words = {"proved optimal": "proved", "proved infeasible": "infeasible"}
            took = f" {seconds() - before:.2f} s" if "--times" in sys.argv else ""
            proved.append(f"{devices} devices {words[proof[1]] if proof else 'OPEN'}{took}")
        size = "" if near else f" FAR from {billions}e9"
        print(", ".join([f"{name}: {count} parameters{size}", *proved]), flush=True)


main()
