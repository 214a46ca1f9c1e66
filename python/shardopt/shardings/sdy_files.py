"""Shardings as text of Shardy (`sdy`), by name or on the arguments of a module.

A module is text that another compiler made, so nothing of it is parsed but the
arguments of its entry. Their names are their locations, as JAX prints them.
"""

from __future__ import annotations

import re
from typing import Iterator, Mapping

from ..border import shown
from ..errors import ShardoptError
from ..plans import Plan
from .facts import Shardings, Spec, Tensor, shardings_of

_NAME = "shardopt_mesh"


def _mesh(shardings: Shardings) -> str:
    axes = ", ".join(f'"{name}"={size}' for name, size in shardings.mesh.items())
    return f'"sdy.mesh"() <{{mesh = #sdy.mesh<[{axes}]>, sym_name = "{_NAME}"}}> : () -> ()'


def _sharding(spec: Spec) -> str:
    dims = ", ".join("{" + ", ".join(f'"{axis}"' for axis in axes) + "}" for axes in spec)
    return f"#sdy.sharding<@{_NAME}, [{dims}]>"


def _notes(shardings: Shardings) -> str:
    return "".join(f"// {note}\n" for note in shardings.notes)


def by_name(shardings: Shardings, element: str = "f32") -> str:
    """A module whose function `parameters` takes every tensor of the checkpoint, with
    its name (`*` for numbers) and its sharding; experts are stacked."""
    arguments = []
    for index, tensor in enumerate(shardings.tensors):
        sizes = "x".join(map(str, (*tensor.shape, element)))
        arguments.append(
            f'    %arg{index}: tensor<{sizes}> {{shardopt.name = "{tensor.name}", '
            f"sdy.sharding = {_sharding(tensor.spec)}}}"
        )
    body = ",\n".join(arguments)
    return (
        f"{_notes(shardings)}module {{\n  {_mesh(shardings)}\n"
        f"  func.func @parameters(\n{body}) {{\n    return\n  }}\n}}\n"
    )


# --- a module of another compiler -------------------------------------------------------

_ENTRY = re.compile(r"^[ \t]*func\.func (?:public )?@main\(", re.M)
_ALIAS = re.compile(r'^(#loc\d*) = loc\("((?:[^"\\]|\\.)*)"\)', re.M)
_LOCATION = re.compile(r'loc\((?:"((?:[^"\\]|\\.)*)"|(#loc\d*))\)\s*$')
_KEY = re.compile(r"\['([^']*)'\]|\[(\d+)\]|\.([A-Za-z_]\w*)")
_TYPE = re.compile(r"(%\w+: tensor<((?:\d+x)*)[a-z]\w*>)\s*(\{)?")
_PARTITIONS = re.compile(r"(mhlo\.num_partitions = )1 :")
_OPENS, _CLOSES = "([{<", ")]}>"


def _arguments_end(text: str, begin: int) -> tuple[list[int], int]:
    """Where the arguments from `begin` on are parted, and where their list ends."""
    commas: list[int] = []
    depth, at, quoted = 0, begin, False
    while at < len(text):
        char = text[at]
        if quoted:
            at += char == "\\"
            quoted = char != '"'
        elif char == '"':
            quoted = True
        elif char in _OPENS:
            depth += 1
        elif char in _CLOSES:
            if depth == 0:
                return commas, at
            depth -= 0 if text[at - 1 : at + 1] == "->" else 1
        elif char == "," and depth == 0:
            commas.append(at)
        at += 1
    raise ShardoptError("the arguments of '@main' have no end, expected a whole module")


def _names_of(argument: str, aliases: Mapping[str, str]) -> Iterator[str]:
    """The names that a location may mean: itself, and its keys behind the variable."""
    found = _LOCATION.search(argument)
    if not found:
        return
    text = found.group(1) if found.group(1) is not None else aliases.get(found.group(2), "")
    yield text
    keys = [next(filter(None, key)) for key in _KEY.findall(text)]
    if keys:
        yield ".".join(keys)


def _find(tensors: Mapping[str, Tensor], names: Iterator[str]) -> "tuple[str, Tensor] | None":
    for name in names:
        for glob, tensor in tensors.items():
            if re.fullmatch(r"(?:\d+|\*)".join(map(re.escape, glob.split("*"))), name):
                return name, tensor
    return None


def _spec_for(name: str, tensor: Tensor, shape: tuple[int, ...]) -> Spec:
    """The spec of an argument: of one expert, of all of them, or of a stack of layers."""
    for dropped in range(2 if tensor.has_experts else 1):
        wanted = tensor.shape[dropped:]
        if shape == wanted:
            return tensor.spec[dropped:]
        if "*" in name and len(shape) == len(wanted) + 1 and shape[1:] == wanted:
            return ((), *tensor.spec[dropped:])
    raise ShardoptError(
        f"the argument '{name}' is {'x'.join(map(str, shape))}, expected "
        + "x".join(map(str, tensor.shape[tensor.has_experts :]))
        + " as the checkpoint has it"
    )


def _annotated(argument: str, aliases: Mapping[str, str], tensors: Mapping[str, Tensor]) -> str:
    """An argument with its sharding, or as it is where no tensor has its name."""
    named = _find(tensors, _names_of(argument, aliases))
    typed = _TYPE.search(argument)
    if not named or not typed:
        return argument
    name, tensor = named
    if "sdy.sharding" in argument or "mhlo.sharding" in argument:
        raise ShardoptError(f"the argument '{name}' has a sharding, expected a module without any")
    shape = tuple(int(size) for size in typed.group(2).split("x") if size)
    said = f"sdy.sharding = {_sharding(_spec_for(name, tensor, shape))}"
    rest = argument[typed.end() :]
    opened = f"{typed.group(1)} {{{said}, " if typed.group(3) else f"{typed.group(1)} {{{said}}} "
    return argument[: typed.start()] + opened + rest.lstrip()


def annotate(shardings: Shardings, text: str, place: str) -> str:
    """A module in text with the mesh, and a sharding on each argument of `@main` that
    has the name of a tensor. Raises `ShardoptError` if none has."""
    entry = _ENTRY.search(text)
    opened = re.search(r"^[ \t]*module\b[^\n]*\{[ \t]*(?:loc\([^\n]*\))?$", text, re.M)
    if not entry or not opened or opened.end() > entry.start():
        raise ShardoptError(f"{place} has no module with 'func.func public @main(', expected StableHLO")
    if f"@{_NAME}" in text or f'"{_NAME}"' in text:
        raise ShardoptError(f"{place} has a mesh '{_NAME}', expected a module without it")
    tensors = {tensor.name: tensor for tensor in shardings.tensors}
    aliases = dict(_ALIAS.findall(text))
    commas, end = _arguments_end(text, entry.end())
    edges = [entry.end() - 1, *commas, end]
    parts = [text[one + 1 : other] for one, other in zip(edges, edges[1:])]
    made = [_annotated(part, aliases, tensors) for part in parts]
    count = sum(one != other for one, other in zip(parts, made))
    if not count:
        names = [name for part in parts for name in list(_names_of(part, aliases))[-1:]]
        found = ", ".join(shown(name) for name in names[:3]) or "no locations"
        raise ShardoptError(
            f"no argument of {place} has the name of a tensor (found {found}), expected locations "
            f"such as {shown(next(iter(tensors), ''))}: as_text(debug_info=True) prints them"
        )
    head = f"// {count} of {len(parts)} arguments have a sharding\n"
    middle = text[opened.end() : entry.end()]
    devices = shardings.parts(tuple(shardings.mesh))
    begin = _PARTITIONS.sub(rf"\g<1>{devices} :", text[: opened.end()])
    return (
        f"{_notes(shardings)}{head}{begin}\n  {_mesh(shardings)}{middle}"
        + ",".join(made)
        + text[end:]
    )


def files_of(plan: Plan, module: "tuple[str, str] | None" = None) -> dict[str, str]:
    """The files, by name; with a `module`, (its place, its text), that one annotated."""
    shardings = shardings_of(plan)
    if not shardings.mesh:
        raise ShardoptError("the plan has one device in each stage: there is nothing to shard")
    files = {"shardings.mlir": by_name(shardings)}
    if module:
        files["module.mlir"] = annotate(shardings, module[1], module[0])
    return files
