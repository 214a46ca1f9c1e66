"""The block of constants in a machine file."""

import json


def _number(value):
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    return value


def _plain(value):
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items() if entry is not None}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return _number(value)


def write(path, groups, date, data, order, kernels=None):
    """Puts `groups` into the machine file at `path`, one a line; where `kernels`
    is given, beside those of all other kernels that stand there, in the `order`
    of kernels that a fit of all has."""
    text = path.read_text()
    machine = json.loads(text)
    old = machine.get("calibration", {}).get("kernels", [])
    if kernels:
        groups = [group for group in old if group["kernel"] not in kernels] + groups
        groups.sort(key=lambda group: order.index(group["kernel"]))
    at = text.find(',\n  "calibration"')
    head = text[:at] if at >= 0 else text.rstrip().removesuffix("}").rstrip()
    lines = ",\n".join("      " + json.dumps(_plain(group)) for group in groups)
    path.write_text(
        f'{head},\n  "calibration": {{\n    "date": "{date}",\n    "data": "{data}",\n'
        f'    "kernels": [\n{lines}\n    ]\n  }}\n}}\n'
    )
