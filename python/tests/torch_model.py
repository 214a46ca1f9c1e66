"""Models of Transformers, sharded by torch as exported files say, a process a device.

Run by torchrun as `torch_model.py MODEL PLACE…`: the first process prints a row of JSON for
each place with the distance of the logits from those of one device, the collectives of
a step, the share of the weights that it holds, and whether placements of all tensors
of the checkpoint give back what was distributed.
"""

import json
import runpy
import sys
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file
from torch.distributed.tensor.debug import CommDebugMode

transformers.logging.set_verbosity_error()


def numbers(parameters):
    return sum(getattr(p, "to_local", lambda p=p: p)().numel() for p in parameters)


def round_trips(shardings, mesh, weights):
    """Whether each tensor is what its parts are together, and how many parts are smaller."""
    smaller = 0
    for name, weight in weights.items():
        made = shardings["distribute"](name, weight, mesh)
        if not torch.equal(made.full_tensor(), weight):
            return False, smaller
        smaller += made.to_local().numel() < weight.numel()
    return True, smaller


def main(folder, *places):
    folder = Path(folder)
    known = load_file(folder / "io.safetensors")
    weights = load_file(folder / "model.safetensors")
    whole = sum(weight.numel() for weight in weights.values())
    for place in places:
        shardings = runpy.run_path(place + "/shardings.py")
        mesh = shardings["mesh"]("cpu")
        model = transformers.AutoModelForCausalLM.from_pretrained(
            folder, attn_implementation="eager", experts_implementation="eager"
        )
        model = shardings["parallelize"](model, mesh)
        with torch.no_grad(), CommDebugMode() as counted:
            found = model(known["tokens"].long()).logits.float()
        error = (found - known["logits"]).abs().max() / known["logits"].abs().max()
        same, smaller = round_trips(shardings, mesh, weights)
        row = {
            "place": Path(place).name,
            "error": error.item(),
            "held": numbers(model.parameters()) / whole,
            "collectives": {str(op).split(".")[-1]: n for op, n in counted.get_comm_counts().items()},
            "round trips": same,
            "smaller": smaller,
        }
        if torch.distributed.get_rank() == 0:
            print(json.dumps(row), flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
