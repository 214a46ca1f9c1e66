"""Compares parameter counts of imported public models with published sizes.

    check_published_sizes.py FOLDER

The counts, in 1e9, are those of the model cards.
"""

import pathlib
import subprocess
import sys

PUBLISHED = {
    "meta-llama--Meta-Llama-3.1-8B": 8.03,
    "meta-llama--Meta-Llama-3.1-70B": 70.6,
    "meta-llama--Meta-Llama-3.1-405B": 406,
    "Qwen--Qwen3-32B": 32.8,
    "Qwen--Qwen3-30B-A3B": 30.5,
    "Qwen--Qwen3-235B-A22B": 235,
    "mistralai--Mixtral-8x7B-v0.1": 46.7,
    "mistralai--Mixtral-8x22B-v0.1": 141,
    "deepseek-ai--DeepSeek-V3": 671,
    "openai--gpt-oss-120b": 117,
}
COUNT = ["shard-translate", "--phase=prefill", "--context=1024", "--parameter-count"]


def main():
    folder = pathlib.Path(sys.argv[1])
    wrong = 0
    for name, published in PUBLISHED.items():
        command = [*COUNT, "--import-hf", folder / f"{name}_config.json"]
        result = subprocess.run(command, check=True, capture_output=True, text=True)
        error = int(result.stdout) / (published * 1e9) - 1
        print(f"{name}: {int(result.stdout)}, {error:+.2%} of the published size")
        wrong += abs(error) > 0.01
    sys.exit(1 if wrong else 0)


main()
