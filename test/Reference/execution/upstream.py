"""The ops of MLIR's own dialects that lowered programs use, in NumPy."""

import math

import numpy as np

from execution.semantics import semantics

DYNAMIC = -(2**63)  # marks a size, offset or stride that is an operand


@semantics("arith.constant")
def constant(op):
    value = op["value"]
    return [value.astype(float) if getattr(value, "dtype", None) == np.float64 else value]


def elementwise(name, function):
    semantics(name, "lhs rhs")(lambda op, lhs, rhs: [function(lhs, rhs)])


def truncated(a, b):
    return math.trunc(a / b) if np.ndim(a) == 0 else np.trunc(a / b).astype(int)


for name, function in {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "divsi": truncated,
    "divui": lambda a, b: a // b,
    "floordivsi": lambda a, b: a // b,
    "ceildivsi": lambda a, b: -(-a // b),
    "ceildivui": lambda a, b: -(-a // b),
    "remsi": lambda a, b: a - b * truncated(a, b),
    "remui": lambda a, b: a % b,
    "minsi": min,
    "minui": min,
    "maxsi": max,
    "maxui": max,
    "addf": lambda a, b: a + b,
    "mulf": lambda a, b: a * b,
}.items():
    elementwise(f"arith.{name}", function)

COMPARISONS = {
    0: lambda a, b: a == b,
    1: lambda a, b: a != b,
    2: lambda a, b: a < b,
    3: lambda a, b: a <= b,
    4: lambda a, b: a > b,
    5: lambda a, b: a >= b,
}


@semantics("arith.cmpi", "lhs rhs")
def cmpi(op, lhs, rhs):
    # Sizes and offsets are never negative: unsigned predicates are the signed.
    predicate = op["predicate"]
    return [COMPARISONS[predicate if predicate < 6 else predicate - 4](lhs, rhs)]


@semantics("arith.select", "condition true_value false_value")
def select(op, condition, true_value, false_value):
    return [true_value if condition else false_value]


@semantics("arith.index_cast", "value")
@semantics("tensor.cast", "value")
@semantics("arith.extf", "value")
@semantics("arith.truncf", "value")
def cast(op, value):
    return [value]


@semantics("tensor.dim", "source index")
def dim(op, source, index):
    return [source.shape[index]]


def mixed(static, dynamic):
    """Numbers of which some are attributes and the others operands."""
    dynamic = iter(dynamic)
    return [next(dynamic) if value == DYNAMIC else value for value in static]


def window(offsets, sizes, strides):
    return tuple(slice(o, o + s * t, t) for o, s, t in zip(offsets, sizes, strides))


@semantics("tensor.empty", "sizes*")
def empty(op, sizes):
    shape = [DYNAMIC if size is None else size for size in op.results[0].type.shape]
    return [np.zeros(mixed(shape, sizes))]


@semantics("tensor.extract_slice", "source offsets* sizes* strides*")
def extract_slice(op, source, offsets, sizes, strides):
    offsets = mixed(op["static_offsets"], offsets)
    sizes = mixed(op["static_sizes"], sizes)
    strides = mixed(op["static_strides"], strides)
    for offset, size, stride, extent in zip(offsets, sizes, strides, source.shape):
        assert size == 0 or offset + (size - 1) * stride < extent, "slice outside its source"
    part = source[window(offsets, sizes, strides)]
    rank = len(op.results[0].type.shape)
    if part.ndim > rank:  # unit dims are dropped
        kept = iter(op.results[0].type.shape)
        shape, want = [], next(kept, None)
        for size in part.shape:
            if want is None or want == size or size != 1:
                shape.append(size)
                want = next(kept, -1)
        part = part.reshape(shape)
    return [part]


@semantics("tensor.insert_slice", "source destination offsets* sizes* strides*")
def insert_slice(op, source, destination, offsets, sizes, strides):
    offsets = mixed(op["static_offsets"], offsets)
    sizes = mixed(op["static_sizes"], sizes)
    strides = mixed(op["static_strides"], strides)
    result = destination.copy()
    result[window(offsets, sizes, strides)] = source.reshape(sizes)
    return [result]


@semantics("tensor.pad", "source low* high*", context="padding")
def pad(op, source, low, high, padding):
    widths = list(zip(mixed(op["static_low"], low), mixed(op["static_high"], high)))
    assert all(before >= 0 and after >= 0 for before, after in widths), widths
    return [np.pad(source, widths, constant_values=padding)]


@semantics("tensor.concat", "inputs*")
def concat(op, inputs):
    return [np.concatenate(inputs, axis=op["dim"])]


@semantics("tensor.extract", "source indices*")
def extract(op, source, indices):
    return [source[tuple(indices)].item()]


@semantics("tensor.from_elements", "elements*")
def from_elements(op, elements):
    return [np.array(elements).reshape(op.results[0].type.shape)]


@semantics("tensor.expand_shape", "source sizes*")
def expand_shape(op, source, sizes):
    return [source.reshape(mixed(op["static_output_shape"], sizes))]


@semantics("tensor.collapse_shape", "source")
def collapse_shape(op, source):
    shape = [math.prod(source.shape[i] for i in group) for group in op["reassociation"]]
    return [source.reshape(shape)]


@semantics("tensor.splat", "value sizes*")
def splat(op, value, sizes):
    shape = [DYNAMIC if size is None else size for size in op.results[0].type.shape]
    return [np.full(mixed(shape, sizes), value)]
