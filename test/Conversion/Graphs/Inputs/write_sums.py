"""Writes a sum of tensors in StableHLO, without a GEMM: as a chain that adds one value again
and again, or as a balanced tree of additions."""

import sys

TYPE = "tensor<64x64xf32>"


def add(result, one, other):
    print(f'  %{result} = "stablehlo.add"(%{one}, %{other}) : ({TYPE}, {TYPE}) -> {TYPE}')


def main(kind, additions):
    terms = [f"a{i}" for i in range(2 if kind == "chain" else additions + 1)]
    print(f"func.func @main({', '.join(f'%{term}: {TYPE}' for term in terms)}) -> {TYPE} {{")
    for i in range(additions):
        one, other = (terms[-1], terms[0]) if kind == "chain" else (terms.pop(0), terms.pop(0))
        add(f"s{i}", one, other)
        terms.append(f"s{i}")
    print(f"  return %{terms[-1]} : {TYPE}\n}}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
