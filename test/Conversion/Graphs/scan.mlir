// A scan over layers, as JAX writes it: the body is planned once and counts for each trip, and what
// the loop carries has one layout. Invariant weights are sharded once, before the loop.

// RUN: %python -c "import json; m = json.load(open('%shardopt_root/machines/h100_sxm.json')); m['compute']['bf16_flops_per_s'] /= 1e5; m['memory']['bandwidth_bytes_per_s'] /= 1e5; json.dump(m, open('%t.json', 'w'))"
// RUN: shard-opt %s --allow-unregistered-dialect --shard-auto-annotate='mesh=model=2 machine=%t.json report=%t.report.json' | FileCheck %s
// RUN: %python -c "import json; r = json.load(open('%t.report.json')); print(sorted((n['op'], n['times'], [f['size'] for f in n['factors']]) for n in r['nodes'] if n.get('kernel') and n['factors'])); print(abs(sum(n.get('us', 0) + sum(e['us'] for e in n.get('reshards', [])) for n in r['nodes']) - r['us']) < 1e-3)" | FileCheck %s --check-prefix=TIMES

// CHECK: func.func @main({{.*}}%[[UP:.*]]: tensor<6x64x256xf32> {sdy.sharding = #sdy.sharding<@shardopt_mesh, [{}, {}, {"model"}]>}, %[[DOWN:.*]]: tensor<6x256x64xf32> {sdy.sharding = #sdy.sharding<@shardopt_mesh, [{}, {"model"}, {}]>}
// CHECK: "stablehlo.while"
// CHECK: "stablehlo.dynamic_slice"{{.*}}[{}, {}, {"model"}]>]>}
// CHECK: "stablehlo.dot_general"{{.*}}[{}, {"model"}]>]>}
// CHECK: "stablehlo.dot_general"{{.*}}[{}, {}]>]>}
// CHECK-NOT: sharding_per_value{{.*}}: (tensor<16x64xf32>, tensor<6x64x256xf32>, tensor<6x256x64xf32>, tensor<i32>)

// TIMES: [('stablehlo.dot_general', 6, [16, 64, 256]), ('stablehlo.dot_general', 6, [16, 256, 64])]
// TIMES: True
func.func @main(%x: tensor<16x64xf32> {shardopt.replicated}, %up: tensor<6x64x256xf32>, %down: tensor<6x256x64xf32>) -> tensor<16x64xf32> {
  %start = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %r:4 = "stablehlo.while"(%x, %up, %down, %start) ({
  ^bb0(%a: tensor<16x64xf32>, %u: tensor<6x64x256xf32>, %d: tensor<6x256x64xf32>, %i: tensor<i32>):
    %end = "stablehlo.constant"() <{value = dense<6> : tensor<i32>}> : () -> tensor<i32>
    %more = "stablehlo.compare"(%i, %end) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<16x64xf32>, %u: tensor<6x64x256xf32>, %d: tensor<6x256x64xf32>, %i: tensor<i32>):
    %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %u1 = "stablehlo.dynamic_slice"(%u, %i, %zero, %zero) <{slice_sizes = array<i64: 1, 64, 256>}> : (tensor<6x64x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x256xf32>
    %u2 = "stablehlo.reshape"(%u1) : (tensor<1x64x256xf32>) -> tensor<64x256xf32>
    %d1 = "stablehlo.dynamic_slice"(%d, %i, %zero, %zero) <{slice_sizes = array<i64: 1, 256, 64>}> : (tensor<6x256x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x256x64xf32>
    %d2 = "stablehlo.reshape"(%d1) : (tensor<1x256x64xf32>) -> tensor<256x64xf32>
    %h = "stablehlo.dot_general"(%a, %u2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<16x64xf32>, tensor<64x256xf32>) -> tensor<16x256xf32>
    %t = "stablehlo.tanh"(%h) : (tensor<16x256xf32>) -> tensor<16x256xf32>
    %b = "stablehlo.dot_general"(%t, %d2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<16x256xf32>, tensor<256x64xf32>) -> tensor<16x64xf32>
    %next = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%b, %u, %d, %next) : (tensor<16x64xf32>, tensor<6x64x256xf32>, tensor<6x256x64xf32>, tensor<i32>) -> ()
  }) : (tensor<16x64xf32>, tensor<6x64x256xf32>, tensor<6x256x64xf32>, tensor<i32>) -> (tensor<16x64xf32>, tensor<6x64x256xf32>, tensor<6x256x64xf32>, tensor<i32>)
  return %r#0 : tensor<16x64xf32>
}
