"""Writes a stack of feed-forward blocks with residuals, in StableHLO, and a head."""

import sys

WIDE, THIN, DOT = "tensor<16x8192xf32>", "tensor<16x2048xf32>", (
    "<{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}>"
)


def main(layers):
    weights = [
        f"%u{i}: tensor<2048x8192xf32>, %g{i}: tensor<2048x8192xf32>, %d{i}: tensor<8192x2048xf32>" for i in range(layers)
    ]
    print(f"func.func @main(%x0: {THIN}, %h: tensor<2048x512xf32>, {', '.join(weights)}) -> tensor<16x512xf32> {{")
    for i in range(layers):
        pair = f"({WIDE}, {WIDE}) -> {WIDE}"
        up = f"({THIN}, tensor<2048x8192xf32>) -> {WIDE}"
        print(f'  %a{i} = "stablehlo.tanh"(%x{i}) : ({THIN}) -> {THIN}')
        print(f'  %b{i} = "stablehlo.dot_general"(%a{i}, %u{i}) {DOT} : {up}')
        print(f'  %c{i} = "stablehlo.dot_general"(%a{i}, %g{i}) {DOT} : {up}')
        print(f'  %e{i} = "stablehlo.logistic"(%c{i}) : ({WIDE}) -> {WIDE}')
        print(f'  %f{i} = "stablehlo.multiply"(%c{i}, %e{i}) : {pair}')
        print(f'  %i{i} = "stablehlo.multiply"(%b{i}, %f{i}) : {pair}')
        print(f'  %j{i} = "stablehlo.dot_general"(%i{i}, %d{i}) {DOT} : ({WIDE}, tensor<8192x2048xf32>) -> {THIN}')
        print(f'  %x{i + 1} = "stablehlo.add"(%x{i}, %j{i}) : ({THIN}, {THIN}) -> {THIN}')
    print(f'  %y = "stablehlo.dot_general"(%x{layers}, %h) {DOT} : ({THIN}, tensor<2048x512xf32>) -> tensor<16x512xf32>')
    print("  return %y : tensor<16x512xf32>\n}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
