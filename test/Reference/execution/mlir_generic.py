"""A reader of MLIR's generic assembly form.

`mlir-opt --mlir-print-op-generic -mlir-print-local-scope` (and shard-opt with
the same options) prints every op as

    %r:2 = "dialect.op"(%a, %b) <{properties}> ({regions}) {attributes} : type

whose grammar is regular. `parse(text)` returns the top-level ops.

Attributes become Python values: numbers int or float, strings str, `unit`
True, arrays list, dictionaries dict, `array<i64: 1>` list, `dense<..>` a NumPy
array, symbols Symbol, types Type, and `#dialect.name<..>` a DialectAttr whose
body is read as `key = value` pairs and positional values.
"""

import re
import struct
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Symbol:
    name: str  # without the @; nested references joined by ::


@dataclass(frozen=True)
class Keyword:
    """A bare word in the body of a dialect attribute."""

    name: str


@dataclass(frozen=True)
class Type:
    text: str

    @property
    def shape(self):
        """Sizes of a tensor, None where dynamic; None for other types."""
        match = re.fullmatch(r"(?:tensor|memref|vector)<((?:(?:\d+|\?)x)*)(.*)>", self.text)
        if match is None:
            return None
        return tuple(None if d == "?" else int(d) for d in match[1].split("x")[:-1])

    @property
    def element(self):
        """The text of a tensor's element type; of itself for a scalar."""
        match = re.fullmatch(r"(?:tensor|memref|vector)<(?:(?:\d+|\?)x)*([^,>]*).*>", self.text)
        return match[1] if match else self.text


@dataclass
class DialectAttr:
    name: str  # "llm.rope"
    fields: dict = field(default_factory=dict)
    values: list = field(default_factory=list)  # those without a key

    def get(self, key, default=None):
        return self.fields.get(key, default)

    def __getitem__(self, key):
        return self.fields[key]


class Value:
    """An SSA value; compared by identity."""

    def __init__(self, name, type_):
        self.name, self.type = name, type_

    def __repr__(self):
        return f"{self.name} : {self.type.text if self.type else '?'}"


@dataclass
class Block:
    label: str
    arguments: list
    ops: list


@dataclass
class Op:
    name: str
    operands: list
    results: list
    attributes: dict  # properties and discardable attributes together
    regions: list  # each a list of blocks
    successors: list  # (label, values)
    line: int

    def __getitem__(self, key):
        return self.attributes[key]

    def get(self, key, default=None):
        return self.attributes.get(key, default)

    @property
    def body(self):
        """The ops of the only block of the first region."""
        (block,) = self.regions[0]
        return block.ops

    def walk(self):
        yield self
        for region in self.regions:
            for block in region:
                for op in block.ops:
                    yield from op.walk()


class ParseError(Exception):
    pass


TOKEN = re.compile(
    r"""
      (?P<space>(?:\s|//[^\n]*)+)
    | (?P<string>"(?:[^"\\]|\\.)*")
    | (?P<value>%[A-Za-z0-9_$.\-]+(?:\#\d+)?)
    | (?P<symbol>@(?:[A-Za-z_][A-Za-z0-9_$.]*|"(?:[^"\\]|\\.)*"))
    | (?P<block>\^[A-Za-z0-9_$.\-]+)
    | (?P<dialect>[\#!][A-Za-z_][A-Za-z0-9_$.\-]*)
    | (?P<arrow>->)
    | (?P<number>-?(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*(?:[eE][+-]?\d+)?)?))
    | (?P<word>[A-Za-z_][A-Za-z0-9_$.]*)
    | (?P<properties><\{|\}>)
    | (?P<punctuation>::|\{-\#|\#-\}|[(){}\[\]<>,:=*?+|-])
    """,
    re.VERBOSE,
)

FLOAT_BITS = {"f16": ("<H", "<e"), "f32": ("<I", "<f"), "f64": ("<Q", "<d")}
OPENING, CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}, set(")]}>")


class Parser:
    def __init__(self, text):
        self.text = text
        self.tokens = []  # (kind, text, offset)
        position = 0
        while position < len(text):
            match = TOKEN.match(text, position)
            if match is None:
                raise ParseError(f"line {self.line_at(position)}: {text[position:position + 20]!r}")
            kind = match.lastgroup
            if kind == "properties":  # two tokens that only meet around properties
                for i, character in enumerate(match[0]):
                    self.tokens.append(("punctuation", character, position + i))
            elif kind != "space":
                self.tokens.append((kind, match[0], position))
            position = match.end()
        self.tokens.append(("end", "", len(text)))
        self.next = 0
        self.scopes = [{}]

    # -- Tokens -------------------------------------------------------------

    def line_at(self, offset):
        return self.text.count("\n", 0, offset) + 1

    def fail(self, wanted):
        _, text, offset = self.tokens[self.next]
        raise ParseError(f"line {self.line_at(offset)}: expected {wanted}, found '{text}'")

    def peek(self, ahead=0):
        return self.tokens[min(self.next + ahead, len(self.tokens) - 1)][1]

    def kind(self, ahead=0):
        return self.tokens[min(self.next + ahead, len(self.tokens) - 1)][0]

    def take(self):
        self.next += 1
        return self.tokens[self.next - 1][1]

    def accept(self, text):
        if self.peek() == text and self.kind() != "string":
            self.next += 1
            return True
        return False

    def expect(self, text):
        if not self.accept(text):
            self.fail(f"'{text}'")

    def listed(self, close, item):
        """Comma-separated items up to a closing token, which is consumed."""
        items = []
        while not self.accept(close):
            items.append(item())
            if not self.accept(","):
                self.expect(close)
                break
        return items

    # -- Values, blocks, ops ------------------------------------------------

    def lookup(self, name):
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        self.fail(f"a definition of {name}")

    def define(self, name, type_=None):
        value = Value(name, type_)
        self.scopes[-1][name] = value
        return value

    def operand(self):
        if self.kind() != "value":
            self.fail("a value")
        return self.lookup(self.take())

    def op(self):
        start = self.tokens[self.next][2]
        names = []
        while self.kind() == "value":
            name = self.take()
            count = int(self.take()) if self.accept(":") else None
            names += [name] if count is None else [f"{name}#{i}" for i in range(count)]
            if not self.accept(","):
                self.expect("=")
                break
        if self.kind() != "string":
            self.fail("an op in generic form")
        name = self.string()
        self.expect("(")
        operands = self.listed(")", self.operand)
        successors = self.listed("]", self.successor) if self.accept("[") else []
        attributes = {}
        if self.accept("<"):
            attributes.update(self.dictionary())
            self.expect(">")
        regions = []
        if self.peek() == "(":
            self.expect("(")
            regions = self.listed(")", self.region)
        if self.peek() == "{":
            attributes.update(self.dictionary())
        self.expect(":")
        _, result_types = self.function_type()
        self.location()
        if len(result_types) != len(names) and names:
            self.fail(f"{len(names)} result types")
        results = [self.define(n, t) for n, t in zip(names, result_types)]
        if not names:
            results = [Value("", t) for t in result_types]
        line = self.line_at(start)
        return Op(name, operands, results, attributes, regions, successors, line)

    def successor(self):
        label, values = self.take(), []
        if self.accept("("):
            while self.peek() != ":" and self.peek() != ")":
                values.append(self.operand())
                self.accept(",")
            if self.accept(":"):
                self.listed(")", self.type)
            else:
                self.expect(")")
        return label, values

    def region(self):
        self.expect("{")
        self.scopes.append({})
        blocks = []
        if self.peek() not in ("}",) and self.kind() != "block":
            blocks.append(Block("", [], self.ops()))
        while self.kind() == "block":
            label = self.take()
            arguments = self.listed(")", self.block_argument) if self.accept("(") else []
            self.expect(":")
            blocks.append(Block(label, arguments, self.ops()))
        self.expect("}")
        self.scopes.pop()
        return blocks

    def block_argument(self):
        name = self.take()
        self.expect(":")
        value = self.define(name, self.type())
        self.location()
        return value

    def ops(self):
        ops = []
        while self.kind() in ("value", "string"):
            ops.append(self.op())
        return ops

    def location(self):
        if self.peek() == "loc" and self.peek(1) == "(":
            self.take()
            self.balanced()

    # -- Types --------------------------------------------------------------

    def balanced(self):
        """The source text of a bracketed group, brackets included."""
        start = self.tokens[self.next][2]
        stack = []
        while True:
            kind, text, offset = self.tokens[self.next]
            if kind == "end":
                self.fail("a closing bracket")
            self.next += 1
            if kind == "punctuation" and text in OPENING:
                stack.append(OPENING[text])
            elif kind == "punctuation" and text in CLOSING:
                if text != stack.pop():
                    raise ParseError(f"line {self.line_at(offset)}: unbalanced '{text}'")
            if not stack:
                return self.text[start : offset + len(text)]

    def type(self):
        if self.peek() == "(":
            start = self.tokens[self.next][2]
            self.function_type()
            return Type(self.text[start : self.tokens[self.next][2]].strip())
        if self.kind() not in ("word", "dialect"):
            self.fail("a type")
        text = self.take()
        if self.peek() == "<":
            text += self.balanced()
        return Type(text)

    def function_type(self):
        self.expect("(")
        inputs = self.listed(")", self.type)
        if not self.accept("->"):
            self.fail("'->'")
        if self.accept("("):
            return inputs, self.listed(")", self.type)
        return inputs, [self.type()]

    # -- Attributes ---------------------------------------------------------

    def string(self):
        raw = self.take()[1:-1]

        def unescape(match):
            code = match[1]
            return {"n": "\n", "t": "\t"}.get(code) or (
                chr(int(code, 16)) if len(code) == 2 else code
            )

        return re.sub(r"\\([0-9A-Fa-f]{2}|.)", unescape, raw)

    def dictionary(self):
        self.expect("{")

        def entry():
            key = self.string() if self.kind() == "string" else self.take()
            return key, self.attribute() if self.accept("=") else True

        return dict(self.listed("}", entry))

    def attribute(self):
        spelling = self.peek()
        value = self.untyped_attribute()
        if isinstance(value, (int, float, str)) and not isinstance(value, bool):
            if self.accept(":"):
                type_ = self.type().text
                if isinstance(value, int) and type_ in FLOAT_BITS:  # inf, nan: their bits
                    integer, real = FLOAT_BITS[type_]
                    return struct.unpack(real, struct.pack(integer, int(spelling, 16)))[0]
        return value

    def number(self):
        text = self.take()
        if re.fullmatch(r"-?\d+", text):
            return int(text)
        if "0x" in text:
            return int(text, 16)
        return float(text)

    def untyped_attribute(self):
        kind, text = self.kind(), self.peek()
        if kind == "string":
            return self.string()
        if kind == "number":
            return self.number()
        if kind == "symbol":
            return self.symbol()
        if text == "-" and self.peek(1) in ("inf", "nan"):
            self.take()
            return -float(self.take())
        if text == "[":
            self.take()
            return self.listed("]", self.attribute)
        if text == "{":
            return self.dictionary()
        if kind == "dialect" and text[0] == "#":
            return self.dialect_attribute()
        if text in ("true", "false"):
            return self.take() == "true"
        if text == "unit":
            self.take()
            return True
        if text == "array":
            return self.dense_array()
        if text == "dense":
            return self.dense()
        if text in ("affine_map", "affine_set", "loc", "sparse", "dense_resource", "strided"):
            self.take()
            value = text + self.balanced()
            if self.accept(":"):
                self.type()
            return value
        return self.type()

    def symbol(self):
        parts = [self.take()[1:].strip('"')]
        while self.accept("::"):
            parts.append(self.take()[1:].strip('"'))
        return Symbol("::".join(parts))

    def dense_array(self):
        self.expect("array")
        self.expect("<")
        self.type()
        if self.accept(">"):
            return []
        self.expect(":")
        return self.listed(">", self.untyped_attribute)

    def dense(self):
        self.expect("dense")
        self.expect("<")
        values = [] if self.peek() == ">" else self.untyped_attribute()
        self.expect(">")
        self.expect(":")
        type_ = self.type()
        array = np.array(values)
        return np.broadcast_to(array, type_.shape) if array.ndim == 0 else array

    def dialect_attribute(self):
        name = self.take()[1:]
        attribute = DialectAttr(name)
        if self.accept("<"):
            self.body(">", attribute)
        return attribute

    def body(self, close, attribute):
        """`key = value` pairs and values, in any bracketing."""
        while not self.accept(close):
            if self.kind() in ("word", "string") and self.peek(1) == "=":
                key = self.string() if self.kind() == "string" else self.take()
                self.take()
                attribute.fields[key] = self.body_value()
            else:
                attribute.values.append(self.body_value())
            self.accept(",")

    def body_value(self):
        if self.peek() == "[":
            self.take()
            return self.listed("]", self.body_value)
        if self.peek() in ("(", "<"):
            group = DialectAttr("")
            self.body(OPENING[self.take()], group)
            return group
        if self.peek() == "{":
            return self.dictionary()
        if self.kind() == "word" and self.peek() not in ("true", "false", "array", "dense"):
            # A keyword, an element type, or a type with a body.
            if self.peek(1) == "<":
                return self.type()
            return Keyword(self.take())
        if self.accept("?"):
            return None
        if self.accept("-"):
            return -float(self.take())
        return self.attribute()


def parse(text):
    """The top-level ops of a program in generic form."""
    parser = Parser(text)
    ops = parser.ops()
    if parser.kind() != "end":
        parser.fail("an op in generic form")
    return ops
