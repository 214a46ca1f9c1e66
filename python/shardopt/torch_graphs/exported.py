"""The walker over a graph of `torch.export`. PyTorch is imported only to load a file and
to decompose ops; the walk itself reads attributes."""

from __future__ import annotations

import json
import operator
import os
import re
from typing import Any, Mapping

from ..border import list_known, reading
from ..errors import ShardoptError
from .aten import RULES, Unsupported
from .stablehlo import Builder, Value

_KINDS = {
    "bool": "i1", "uint8": "ui8", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
}
#: Ops that check something and make nothing.
_CHECKS = ("aten._assert", "aten.sym_constrain", "aten._assert_tensor_metadata", "aten._assert_async")
_FILE = re.compile(r'File "([^"]+)", line (\d+)')


def load_exported(path: "str | os.PathLike[str]") -> Any:
    """The program that `torch.export.save` wrote."""
    try:
        import torch  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise ShardoptError(f"'{path}' is a file of torch.export, which needs PyTorch: pip install torch") from None
    try:
        return torch.export.load(os.fspath(path))
    except Exception as error:  # whatever its reader raises
        text = " ".join(str(error).split())
        raise ShardoptError(f"'{path}' is no file of torch.export.save: {text[:200]}") from None


def stablehlo_of(program: Any) -> str:
    """A module of StableHLO in generic form that computes what `program` does, an
    ExportedProgram. Its arguments have the names of parameters, buffers and inputs."""
    with reading("the exported program"):
        return _Walker(_decomposed(program)).module()


def _decomposed(program: Any) -> Any:
    """The program in ops that have rules, as far as PyTorch takes others apart."""
    from torch._decomp import decomposition_table  # type: ignore[import-not-found, import-untyped, unused-ignore]
    from torch.export import default_decompositions  # type: ignore[import-not-found, import-untyped, unused-ignore]

    table = default_decompositions()
    for op in list(table):
        if _operation(op) in RULES:
            del table[op]
    # Core ops of ATen that PyTorch can take further apart.
    for op, parts in decomposition_table.items():
        if op not in table and _operation(op) not in RULES:
            table[op] = parts
    try:
        return program.run_decompositions(table)
    except Exception as error:  # whatever PyTorch raises, its own assertions included
        for node in program.graph.nodes:
            found = node.meta.get("val")
            for each in found if isinstance(found, (list, tuple)) else [found]:
                if hasattr(each, "dtype"):
                    _tensor(each, f"{_place(node)}: '{node.target}'")
        text = " ".join(str(error).split())
        raise ShardoptError(f"the exported program: PyTorch does not decompose it: {text[:200]}") from None


def _place(node: Any) -> str:
    """The node, and the line of the model that it stems from."""
    found = [each for each in _FILE.findall(node.meta.get("stack_trace") or "") if not each[0].startswith("<")]
    where = f" at {os.path.basename(found[-1][0])}:{found[-1][1]}" if found else ""
    return f"node '{node.name}'{where}"


def _operation(target: Any) -> str:
    """`aten.add` of `aten.add.Tensor`."""
    return ".".join(str(target).split(".")[:2])


def _tensor(found: Any, place: str) -> Value:
    shape = tuple(found.shape)
    if not all(isinstance(size, int) for size in shape):
        raise ShardoptError(
            f"{place} has sizes {[str(size) for size in shape]}, expected static sizes: "
            "torch.export.export without dynamic_shapes"
        )
    kind = str(found.dtype).removeprefix("torch.")
    if kind not in _KINDS:
        raise ShardoptError(f"{place} is of {kind}, expected one of {', '.join(_KINDS)}")
    return Value("", shape, _KINDS[kind])


class _Walker:
    def __init__(self, program: Any):
        self.program = program
        self.builder = Builder()
        self.known: dict[str, Any] = {}
        """Values by node; tuples where there are several."""

    def module(self) -> str:
        arguments: list[tuple[Value, str]] = []
        results: tuple[Value, ...] = ()
        names = self._argument_names()
        for node in self.program.graph.nodes:
            if node.op == "placeholder":
                if (value := self._argument(node, len(arguments), names)) is not None:
                    arguments.append((value, names.get(node.name, node.name)))
            elif node.op == "call_function":
                self._call(node)
            elif node.op == "output":
                self._check_results()
                results = self._flat(self._value(node.args[0], node))
            elif node.op == "get_attr":
                raise ShardoptError(
                    f"{_place(node)}: '{node.target}' is a graph of its own, as branches and loops of PyTorch have, "
                    "expected one straight graph: export each branch or body alone"
                )
            else:
                raise ShardoptError(f"{_place(node)}: '{node.op}' is not known, expected a graph of torch.export")
        if not results:
            raise ShardoptError("the graph has no result, expected a tensor")
        taken = ", ".join(f"{value.name}: {value.type} loc({json.dumps(name)})" for value, name in arguments)
        types = ", ".join(value.type for value in results)
        made = ", ".join(value.name for value in results)
        lines = [
            "module {",
            f"  func.func public @main({taken}) -> ({types}) {{",
            *(f"    {line}" for line in self.builder.lines),
            f"    return {made} : {types}",
            "  }",
            "}",
        ]
        return "\n".join(lines) + "\n"

    def _argument_names(self) -> Mapping[str, str]:
        """Names in the model, by placeholder."""
        specs = self.program.graph_signature.input_specs
        return {spec.arg.name: spec.target or spec.arg.name for spec in specs}

    def _argument(self, node: Any, index: int, names: Mapping[str, str]) -> "Value | None":
        found = node.meta.get("val")
        if not hasattr(found, "shape"):  # None, or a number that the graph was made for
            self.known[node.name] = found
            return None
        made = _tensor(found, f"argument '{names.get(node.name, node.name)}'")
        value = Value(f"%arg{index}", made.shape, made.kind)
        self.known[node.name] = value
        return value

    def _check_results(self) -> None:
        for spec in self.program.graph_signature.output_specs:
            kind = str(getattr(spec.kind, "name", spec.kind))
            if "MUTATION" in kind:
                raise ShardoptError(
                    f"'{spec.target}' is written in place, expected a model without: in eval mode, "
                    "with caches as arguments and results"
                )

    def _value(self, argument: Any, user: Any) -> Any:
        """An argument of a node, with values for nodes."""
        if isinstance(argument, (list, tuple)):
            return [self._value(each, user) for each in argument]
        if hasattr(argument, "op") and hasattr(argument, "target"):
            found = self.known[argument.name]
            if found is None:
                raise ShardoptError(
                    f"{_place(user)}: reads a result of {_place(argument)} that has no rule"
                )
            return found
        return argument

    def _flat(self, results: Any) -> "tuple[Value, ...]":
        if isinstance(results, Value):
            return (results,)
        if isinstance(results, (list, tuple)):
            return tuple(value for each in results for value in self._flat(each))
        return ()

    def _call(self, node: Any) -> None:
        if node.target is operator.getitem:
            source, index = node.args
            results = self.known[source.name]
            if not isinstance(results, tuple) or index >= len(results):
                raise ShardoptError(f"{_place(node)}: reads result {index} of {_place(source)} that has no rule")
            # A result that few read is made when one does.
            self.known[node.name] = results[index]() if callable(results[index]) else results[index]
            return
        name = _operation(node.target)
        if name.startswith(_CHECKS):
            return
        if name not in RULES:
            raise ShardoptError(
                f"{_place(node)}: '{node.target}' is not known, expected an op of ATen with a rule; "
                + list_known(name, RULES, most=6)
            )
        place = f"{_place(node)}: '{node.target}'"
        found = node.meta["val"]
        several = isinstance(found, (list, tuple))
        made = [_tensor(each, place) for each in (found if several else [found]) if each is not None]
        self.builder.place = node.name
        try:
            result = RULES[name](
                self.builder, made, *(self._value(each, node) for each in node.args),
                **{key: self._value(each, node) for key, each in node.kwargs.items()
                   if key not in ("dtype", "layout", "device", "pin_memory", "memory_format", "non_blocking")},
            )
        except Unsupported as error:
            raise ShardoptError(f"{place}: {error}") from None
        except (TypeError, IndexError, AttributeError) as error:
            raise ShardoptError(f"{place} has arguments without a rule: {error}") from None
        self._check(place, result, made)
        self.known[node.name] = result

    def _check(self, place: str, result: Any, made: "list[Value]") -> None:
        """Rules make what PyTorch says that the op makes."""
        for value, wanted in zip(result if isinstance(result, tuple) else [result], made):
            if value is not None and not callable(value) and (value.shape, value.kind) != (wanted.shape, wanted.kind):
                raise ShardoptError(f"{place} makes {wanted.type}, and its rule {value.type}")
