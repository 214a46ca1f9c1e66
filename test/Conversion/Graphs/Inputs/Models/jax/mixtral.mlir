"builtin.module"() <{sym_name = "jit_llama"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}], function_type = (tensor<64x32xf32>, tensor<32x64xf32>, tensor<4x64x32xf32>, tensor<4x32x64xf32>, tensor<32x16xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x4xf32>, tensor<4x32x64xf32>, tensor<32x16xf32>, tensor<32xf32>, tensor<2x8xi32>) -> tensor<2x8x64xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg6: tensor<64x32xf32>, %arg7: tensor<32x64xf32>, %arg8: tensor<4x64x32xf32>, %arg9: tensor<4x32x64xf32>, %arg10: tensor<32x16xf32>, %arg11: tensor<32xf32>, %arg12: tensor<32xf32>, %arg13: tensor<32x32xf32>, %arg14: tensor<32x32xf32>, %arg15: tensor<32x4xf32>, %arg16: tensor<4x32x64xf32>, %arg17: tensor<32x16xf32>, %arg18: tensor<32xf32>, %arg19: tensor<2x8xi32>):
    %28 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %29 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<2x8xi32>
    %30 = "stablehlo.compare"(%arg19, %29) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<2x8xi32>, tensor<2x8xi32>) -> tensor<2x8xi1>
    %31 = "stablehlo.constant"() <{value = dense<64> : tensor<i32>}> : () -> tensor<i32>
    %32 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<2x8xi32>
    %33 = "stablehlo.add"(%arg19, %32) : (tensor<2x8xi32>, tensor<2x8xi32>) -> tensor<2x8xi32>
    %34 = "stablehlo.select"(%30, %33, %arg19) : (tensor<2x8xi1>, tensor<2x8xi32>, tensor<2x8xi32>) -> tensor<2x8xi32>
    %35 = "stablehlo.broadcast_in_dim"(%34) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x8xi32>) -> tensor<2x8x1xi32>
    %36 = "stablehlo.gather"(%arg6, %35) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<2x8x1xi32>) -> tensor<2x8x32xf32>
    %37 = "stablehlo.multiply"(%36, %36) : (tensor<2x8x32xf32>, tensor<2x8x32xf32>) -> tensor<2x8x32xf32>
    %38 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %39 = "stablehlo.reduce"(%37, %38) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg34: tensor<f32>, %arg35: tensor<f32>):
      %236 = "stablehlo.add"(%arg34, %arg35) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%236) : (tensor<f32>) -> ()
    }) : (tensor<2x8x32xf32>, tensor<f32>) -> tensor<2x8xf32>
    %40 = "stablehlo.broadcast_in_dim"(%39) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x8xf32>) -> tensor<2x8x1xf32>
    %41 = "stablehlo.constant"() <{value = dense<3.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %42 = "stablehlo.broadcast_in_dim"(%41) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x1xf32>
    %43 = "stablehlo.divide"(%40, %42) : (tensor<2x8x1xf32>, tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
    %44 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %45 = "stablehlo.broadcast_in_dim"(%44) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x1xf32>
    %46 = "stablehlo.add"(%43, %45) : (tensor<2x8x1xf32>, tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
    %47 = "stablehlo.rsqrt"(%46) : (tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
    %48 = "stablehlo.broadcast_in_dim"(%47) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x8x1xf32>) -> tensor<2x8x32xf32>
    %49 = "stablehlo.multiply"(%36, %48) : (tensor<2x8x32xf32>, tensor<2x8x32xf32>) -> tensor<2x8x32xf32>
    %50 = "stablehlo.broadcast_in_dim"(%arg11) <{broadcast_dimensions = array<i64: 2>}> : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %51 = "stablehlo.broadcast_in_dim"(%50) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x32xf32>) -> tensor<2x8x32xf32>
    %52 = "stablehlo.multiply"(%49, %51) : (tensor<2x8x32xf32>, tensor<2x8x32xf32>) -> tensor<2x8x32xf32>
    %53 = "stablehlo.dot_general"(%52, %arg14) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x32xf32>, tensor<32x32xf32>) -> tensor<2x8x32xf32>
    %54 = "stablehlo.reshape"(%53) : (tensor<2x8x32xf32>) -> tensor<2x8x4x8xf32>
    %55 = "stablehlo.dot_general"(%52, %arg10) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x32xf32>, tensor<32x16xf32>) -> tensor<2x8x16xf32>
    %56 = "stablehlo.reshape"(%55) : (tensor<2x8x16xf32>) -> tensor<2x8x2x8xf32>
    %57 = "stablehlo.dot_general"(%52, %arg17) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x32xf32>, tensor<32x16xf32>) -> tensor<2x8x16xf32>
    %58 = "stablehlo.reshape"(%57) : (tensor<2x8x16xf32>) -> tensor<2x8x2x8xf32>
    %59 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<8xi32>
    %60 = "stablehlo.broadcast_in_dim"(%59) <{broadcast_dimensions = array<i64: 0>}> : (tensor<8xi32>) -> tensor<8x1xi32>
    %61 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4xi32>
    %62 = "stablehlo.negate"(%61) : (tensor<4xi32>) -> tensor<4xi32>
    %63 = "stablehlo.convert"(%62) : (tensor<4xi32>) -> tensor<4xf32>
    %64 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %65 = "stablehlo.broadcast_in_dim"(%64) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %66 = "stablehlo.divide"(%63, %65) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %67 = "stablehlo.constant"() <{value = dense<1.000000e+04> : tensor<f32>}> : () -> tensor<f32>
    %68 = "stablehlo.broadcast_in_dim"(%67) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %69 = "stablehlo.power"(%68, %66) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %70 = "stablehlo.convert"(%60) : (tensor<8x1xi32>) -> tensor<8x1xf32>
    %71 = "stablehlo.broadcast_in_dim"(%69) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4xf32>) -> tensor<1x4xf32>
    %72 = "stablehlo.broadcast_in_dim"(%70) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<8x1xf32>) -> tensor<8x4xf32>
    %73 = "stablehlo.broadcast_in_dim"(%71) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x4xf32>) -> tensor<8x4xf32>
    %74 = "stablehlo.multiply"(%72, %73) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %75 = "stablehlo.sine"(%74) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %76 = "stablehlo.broadcast_in_dim"(%75) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<8x4xf32>) -> tensor<8x1x4xf32>
    %77 = "stablehlo.cosine"(%74) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %78 = "stablehlo.broadcast_in_dim"(%77) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<8x4xf32>) -> tensor<8x1x4xf32>
    %79 = "stablehlo.slice"(%54) <{limit_indices = array<i64: 2, 8, 4, 4>, start_indices = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<2x8x4x8xf32>) -> tensor<2x8x4x4xf32>
    %80 = "stablehlo.slice"(%54) <{limit_indices = array<i64: 2, 8, 4, 8>, start_indices = array<i64: 0, 0, 0, 4>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<2x8x4x8xf32>) -> tensor<2x8x4x4xf32>
    %81 = "stablehlo.broadcast_in_dim"(%78) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<8x1x4xf32>) -> tensor<1x8x1x4xf32>
    %82 = "stablehlo.broadcast_in_dim"(%81) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x8x1x4xf32>) -> tensor<2x8x4x4xf32>
    %83 = "stablehlo.multiply"(%79, %82) : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
    %84 = "stablehlo.broadcast_in_dim"(%76) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<8x1x4xf32>) -> tensor<1x8x1x4xf32>
    %85 = "stablehlo.broadcast_in_dim"(%84) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x8x1x4xf32>) -> tensor<2x8x4x4xf32>
    %86 = "stablehlo.multiply"(%80, %85) : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
    %87 = "stablehlo.subtract"(%83, %86) : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
    %88 = "stablehlo.broadcast_in_dim"(%78) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<8x1x4xf32>) -> tensor<1x8x1x4xf32>
    %89 = "stablehlo.broadcast_in_dim"(%88) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x8x1x4xf32>) -> tensor<2x8x4x4xf32>
    %90 = "stablehlo.multiply"(%80, %89) : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
    %91 = "stablehlo.broadcast_in_dim"(%76) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<8x1x4xf32>) -> tensor<1x8x1x4xf32>
    %92 = "stablehlo.broadcast_in_dim"(%91) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x8x1x4xf32>) -> tensor<2x8x4x4xf32>
    %93 = "stablehlo.multiply"(%79, %92) : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
    %94 = "stablehlo.add"(%90, %93) : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
    %95 = "stablehlo.concatenate"(%87, %94) <{dimension = 3 : i64}> : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x8x4x8xf32>
    %96 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<8xi32>
    %97 = "stablehlo.broadcast_in_dim"(%96) <{broadcast_dimensions = array<i64: 0>}> : (tensor<8xi32>) -> tensor<8x1xi32>
    %98 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4xi32>
    %99 = "stablehlo.negate"(%98) : (tensor<4xi32>) -> tensor<4xi32>
    %100 = "stablehlo.convert"(%99) : (tensor<4xi32>) -> tensor<4xf32>
    %101 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %102 = "stablehlo.broadcast_in_dim"(%101) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %103 = "stablehlo.divide"(%100, %102) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %104 = "stablehlo.constant"() <{value = dense<1.000000e+04> : tensor<f32>}> : () -> tensor<f32>
    %105 = "stablehlo.broadcast_in_dim"(%104) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %106 = "stablehlo.power"(%105, %103) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %107 = "stablehlo.convert"(%97) : (tensor<8x1xi32>) -> tensor<8x1xf32>
    %108 = "stablehlo.broadcast_in_dim"(%106) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4xf32>) -> tensor<1x4xf32>
    %109 = "stablehlo.broadcast_in_dim"(%107) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<8x1xf32>) -> tensor<8x4xf32>
    %110 = "stablehlo.broadcast_in_dim"(%108) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x4xf32>) -> tensor<8x4xf32>
    %111 = "stablehlo.multiply"(%109, %110) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %112 = "stablehlo.sine"(%111) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %113 = "stablehlo.broadcast_in_dim"(%112) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<8x4xf32>) -> tensor<8x1x4xf32>
    %114 = "stablehlo.cosine"(%111) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %115 = "stablehlo.broadcast_in_dim"(%114) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<8x4xf32>) -> tensor<8x1x4xf32>
    %116 = "stablehlo.slice"(%56) <{limit_indices = array<i64: 2, 8, 2, 4>, start_indices = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<2x8x2x8xf32>) -> tensor<2x8x2x4xf32>
    %117 = "stablehlo.slice"(%56) <{limit_indices = array<i64: 2, 8, 2, 8>, start_indices = array<i64: 0, 0, 0, 4>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<2x8x2x8xf32>) -> tensor<2x8x2x4xf32>
    %118 = "stablehlo.broadcast_in_dim"(%115) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<8x1x4xf32>) -> tensor<1x8x1x4xf32>
    %119 = "stablehlo.broadcast_in_dim"(%118) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x8x1x4xf32>) -> tensor<2x8x2x4xf32>
    %120 = "stablehlo.multiply"(%116, %119) : (tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> tensor<2x8x2x4xf32>
    %121 = "stablehlo.broadcast_in_dim"(%113) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<8x1x4xf32>) -> tensor<1x8x1x4xf32>
    %122 = "stablehlo.broadcast_in_dim"(%121) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x8x1x4xf32>) -> tensor<2x8x2x4xf32>
    %123 = "stablehlo.multiply"(%117, %122) : (tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> tensor<2x8x2x4xf32>
    %124 = "stablehlo.subtract"(%120, %123) : (tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> tensor<2x8x2x4xf32>
    %125 = "stablehlo.broadcast_in_dim"(%115) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<8x1x4xf32>) -> tensor<1x8x1x4xf32>
    %126 = "stablehlo.broadcast_in_dim"(%125) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x8x1x4xf32>) -> tensor<2x8x2x4xf32>
    %127 = "stablehlo.multiply"(%117, %126) : (tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> tensor<2x8x2x4xf32>
    %128 = "stablehlo.broadcast_in_dim"(%113) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<8x1x4xf32>) -> tensor<1x8x1x4xf32>
    %129 = "stablehlo.broadcast_in_dim"(%128) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x8x1x4xf32>) -> tensor<2x8x2x4xf32>
    %130 = "stablehlo.multiply"(%116, %129) : (tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> tensor<2x8x2x4xf32>
    %131 = "stablehlo.add"(%127, %130) : (tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> tensor<2x8x2x4xf32>
    %132 = "stablehlo.concatenate"(%124, %131) <{dimension = 3 : i64}> : (tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> tensor<2x8x2x8xf32>
    %133 = "stablehlo.broadcast_in_dim"(%132) <{broadcast_dimensions = array<i64: 0, 1, 2, 4>}> : (tensor<2x8x2x8xf32>) -> tensor<2x8x2x2x8xf32>
    %134 = "stablehlo.reshape"(%133) : (tensor<2x8x2x2x8xf32>) -> tensor<2x8x4x8xf32>
    %135 = "stablehlo.broadcast_in_dim"(%58) <{broadcast_dimensions = array<i64: 0, 1, 2, 4>}> : (tensor<2x8x2x8xf32>) -> tensor<2x8x2x2x8xf32>
    %136 = "stablehlo.reshape"(%135) : (tensor<2x8x2x2x8xf32>) -> tensor<2x8x4x8xf32>
    %137 = "stablehlo.dot_general"(%95, %134) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x4x8xf32>, tensor<2x8x4x8xf32>) -> tensor<2x4x8x8xf32>
    %138 = "stablehlo.constant"() <{value = dense<2.82842708> : tensor<f32>}> : () -> tensor<f32>
    %139 = "stablehlo.broadcast_in_dim"(%138) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x8x8xf32>
    %140 = "stablehlo.divide"(%137, %139) : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %141 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %142 = "stablehlo.broadcast_in_dim"(%141) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<8x8xi1>
    %143 = "func.call"(%142) <{callee = @tril}> : (tensor<8x8xi1>) -> tensor<8x8xi1>
    %144 = "stablehlo.constant"() <{value = dense<-1.000000e+30> : tensor<f32>}> : () -> tensor<f32>
    %145 = "func.call"(%143, %140, %144) <{callee = @_where}> : (tensor<8x8xi1>, tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
    %146 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %147 = "stablehlo.reduce"(%145, %146) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg32: tensor<f32>, %arg33: tensor<f32>):
      %235 = "stablehlo.maximum"(%arg32, %arg33) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%235) : (tensor<f32>) -> ()
    }) : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %148 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %149 = "stablehlo.broadcast_in_dim"(%148) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x8xf32>
    %150 = "stablehlo.maximum"(%149, %147) : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
    %151 = "stablehlo.broadcast_in_dim"(%150) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
    %152 = "stablehlo.broadcast_in_dim"(%151) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %153 = "stablehlo.subtract"(%145, %152) : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %154 = "stablehlo.exponential"(%153) : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %155 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %156 = "stablehlo.reduce"(%154, %155) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg30: tensor<f32>, %arg31: tensor<f32>):
      %234 = "stablehlo.add"(%arg30, %arg31) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%234) : (tensor<f32>) -> ()
    }) : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %157 = "stablehlo.broadcast_in_dim"(%156) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
    %158 = "stablehlo.broadcast_in_dim"(%157) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %159 = "stablehlo.divide"(%154, %158) : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %160 = "stablehlo.dot_general"(%136, %159) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x4x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %161 = "stablehlo.transpose"(%160) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x4x8x8xf32>) -> tensor<2x8x4x8xf32>
    %162 = "stablehlo.reshape"(%161) : (tensor<2x8x4x8xf32>) -> tensor<2x8x32xf32>
    %163 = "stablehlo.dot_general"(%162, %arg13) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x32xf32>, tensor<32x32xf32>) -> tensor<2x8x32xf32>
    %164 = "stablehlo.add"(%36, %163) : (tensor<2x8x32xf32>, tensor<2x8x32xf32>) -> tensor<2x8x32xf32>
    %165 = "stablehlo.multiply"(%164, %164) : (tensor<2x8x32xf32>, tensor<2x8x32xf32>) -> tensor<2x8x32xf32>
    %166 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %167 = "stablehlo.reduce"(%165, %166) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg28: tensor<f32>, %arg29: tensor<f32>):
      %233 = "stablehlo.add"(%arg28, %arg29) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%233) : (tensor<f32>) -> ()
    }) : (tensor<2x8x32xf32>, tensor<f32>) -> tensor<2x8xf32>
    %168 = "stablehlo.broadcast_in_dim"(%167) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x8xf32>) -> tensor<2x8x1xf32>
    %169 = "stablehlo.constant"() <{value = dense<3.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %170 = "stablehlo.broadcast_in_dim"(%169) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x1xf32>
    %171 = "stablehlo.divide"(%168, %170) : (tensor<2x8x1xf32>, tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
    %172 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %173 = "stablehlo.broadcast_in_dim"(%172) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x1xf32>
    %174 = "stablehlo.add"(%171, %173) : (tensor<2x8x1xf32>, tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
    %175 = "stablehlo.rsqrt"(%174) : (tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
    %176 = "stablehlo.broadcast_in_dim"(%175) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x8x1xf32>) -> tensor<2x8x32xf32>
    %177 = "stablehlo.multiply"(%164, %176) : (tensor<2x8x32xf32>, tensor<2x8x32xf32>) -> tensor<2x8x32xf32>
    %178 = "stablehlo.broadcast_in_dim"(%arg12) <{broadcast_dimensions = array<i64: 2>}> : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %179 = "stablehlo.broadcast_in_dim"(%178) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x32xf32>) -> tensor<2x8x32xf32>
    %180 = "stablehlo.multiply"(%177, %179) : (tensor<2x8x32xf32>, tensor<2x8x32xf32>) -> tensor<2x8x32xf32>
    %181 = "stablehlo.dot_general"(%180, %arg15) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x32xf32>, tensor<32x4xf32>) -> tensor<2x8x4xf32>
    %182 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %183 = "stablehlo.reduce"(%181, %182) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg26: tensor<f32>, %arg27: tensor<f32>):
      %232 = "stablehlo.maximum"(%arg26, %arg27) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%232) : (tensor<f32>) -> ()
    }) : (tensor<2x8x4xf32>, tensor<f32>) -> tensor<2x8xf32>
    %184 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %185 = "stablehlo.broadcast_in_dim"(%184) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8xf32>
    %186 = "stablehlo.maximum"(%185, %183) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    %187 = "stablehlo.broadcast_in_dim"(%186) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x8xf32>) -> tensor<2x8x1xf32>
    %188 = "stablehlo.broadcast_in_dim"(%187) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x8x1xf32>) -> tensor<2x8x4xf32>
    %189 = "stablehlo.subtract"(%181, %188) : (tensor<2x8x4xf32>, tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
    %190 = "stablehlo.exponential"(%189) : (tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
    %191 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %192 = "stablehlo.reduce"(%190, %191) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg24: tensor<f32>, %arg25: tensor<f32>):
      %231 = "stablehlo.add"(%arg24, %arg25) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%231) : (tensor<f32>) -> ()
    }) : (tensor<2x8x4xf32>, tensor<f32>) -> tensor<2x8xf32>
    %193 = "stablehlo.broadcast_in_dim"(%192) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x8xf32>) -> tensor<2x8x1xf32>
    %194 = "stablehlo.broadcast_in_dim"(%193) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x8x1xf32>) -> tensor<2x8x4xf32>
    %195 = "stablehlo.divide"(%190, %194) : (tensor<2x8x4xf32>, tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
    %196:2 = "chlo.top_k"(%195) <{k = 2 : i64}> : (tensor<2x8x4xf32>) -> (tensor<2x8x2xf32>, tensor<2x8x2xi32>)
    %197 = "func.call"(%196#1) <{callee = @_one_hot}> : (tensor<2x8x2xi32>) -> tensor<2x8x2x4xf32>
    %198 = "stablehlo.broadcast_in_dim"(%196#0) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x8x2xf32>) -> tensor<2x8x2x1xf32>
    %199 = "stablehlo.broadcast_in_dim"(%198) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x8x2x1xf32>) -> tensor<2x8x2x4xf32>
    %200 = "stablehlo.multiply"(%197, %199) : (tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> tensor<2x8x2x4xf32>
    %201 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %202 = "stablehlo.reduce"(%200, %201) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg22: tensor<f32>, %arg23: tensor<f32>):
      %230 = "stablehlo.add"(%arg22, %arg23) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%230) : (tensor<f32>) -> ()
    }) : (tensor<2x8x2x4xf32>, tensor<f32>) -> tensor<2x8x4xf32>
    %203 = "stablehlo.dot_general"(%arg9, %180) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x32x64xf32>, tensor<2x8x32xf32>) -> tensor<4x64x2x8xf32>
    %204 = "stablehlo.transpose"(%203) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<4x64x2x8xf32>) -> tensor<4x2x8x64xf32>
    %205 = "stablehlo.dot_general"(%arg16, %180) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x32x64xf32>, tensor<2x8x32xf32>) -> tensor<4x64x2x8xf32>
    %206 = "stablehlo.transpose"(%205) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<4x64x2x8xf32>) -> tensor<4x2x8x64xf32>
    %207 = "func.call"(%204) <{callee = @silu}> : (tensor<4x2x8x64xf32>) -> tensor<4x2x8x64xf32>
    %208 = "stablehlo.multiply"(%207, %206) : (tensor<4x2x8x64xf32>, tensor<4x2x8x64xf32>) -> tensor<4x2x8x64xf32>
    %209 = "stablehlo.dot_general"(%208, %arg8) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x2x8x64xf32>, tensor<4x64x32xf32>) -> tensor<4x2x8x32xf32>
    %210 = "stablehlo.dot_general"(%202, %209) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [1, 2], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x4xf32>, tensor<4x2x8x32xf32>) -> tensor<2x8x32xf32>
    %211 = "stablehlo.add"(%164, %210) : (tensor<2x8x32xf32>, tensor<2x8x32xf32>) -> tensor<2x8x32xf32>
    %212 = "stablehlo.multiply"(%211, %211) : (tensor<2x8x32xf32>, tensor<2x8x32xf32>) -> tensor<2x8x32xf32>
    %213 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %214 = "stablehlo.reduce"(%212, %213) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg20: tensor<f32>, %arg21: tensor<f32>):
      %229 = "stablehlo.add"(%arg20, %arg21) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%229) : (tensor<f32>) -> ()
    }) : (tensor<2x8x32xf32>, tensor<f32>) -> tensor<2x8xf32>
    %215 = "stablehlo.broadcast_in_dim"(%214) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x8xf32>) -> tensor<2x8x1xf32>
    %216 = "stablehlo.constant"() <{value = dense<3.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %217 = "stablehlo.broadcast_in_dim"(%216) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x1xf32>
    %218 = "stablehlo.divide"(%215, %217) : (tensor<2x8x1xf32>, tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
    %219 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %220 = "stablehlo.broadcast_in_dim"(%219) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x1xf32>
    %221 = "stablehlo.add"(%218, %220) : (tensor<2x8x1xf32>, tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
    %222 = "stablehlo.rsqrt"(%221) : (tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
    %223 = "stablehlo.broadcast_in_dim"(%222) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x8x1xf32>) -> tensor<2x8x32xf32>
    %224 = "stablehlo.multiply"(%211, %223) : (tensor<2x8x32xf32>, tensor<2x8x32xf32>) -> tensor<2x8x32xf32>
    %225 = "stablehlo.broadcast_in_dim"(%arg18) <{broadcast_dimensions = array<i64: 2>}> : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %226 = "stablehlo.broadcast_in_dim"(%225) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x32xf32>) -> tensor<2x8x32xf32>
    %227 = "stablehlo.multiply"(%224, %226) : (tensor<2x8x32xf32>, tensor<2x8x32xf32>) -> tensor<2x8x32xf32>
    %228 = "stablehlo.dot_general"(%227, %arg7) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x32xf32>, tensor<32x64xf32>) -> tensor<2x8x64xf32>
    "func.return"(%228) : (tensor<2x8x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<8x8xi1>) -> tensor<8x8xi1>, res_attrs = [{}], sym_name = "tril", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<8x8xi1>):
    %19 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<8x8xi32>
    %20 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %21 = "stablehlo.broadcast_in_dim"(%20) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<8x8xi32>
    %22 = "stablehlo.add"(%19, %21) : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi32>
    %23 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<8x8xi32>
    %24 = "stablehlo.compare"(%22, %23) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
    %25 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    %26 = "stablehlo.broadcast_in_dim"(%25) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<8x8xi1>
    %27 = "stablehlo.select"(%24, %arg5, %26) : (tensor<8x8xi1>, tensor<8x8xi1>, tensor<8x8xi1>) -> tensor<8x8xi1>
    "func.return"(%27) : (tensor<8x8xi1>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<8x8xi1>, tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg2: tensor<8x8xi1>, %arg3: tensor<2x4x8x8xf32>, %arg4: tensor<f32>):
    %15 = "stablehlo.convert"(%arg4) : (tensor<f32>) -> tensor<f32>
    %16 = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64: 2, 3>}> : (tensor<8x8xi1>) -> tensor<2x4x8x8xi1>
    %17 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x8x8xf32>
    %18 = "stablehlo.select"(%16, %arg3, %17) : (tensor<2x4x8x8xi1>, tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    "func.return"(%18) : (tensor<2x4x8x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<2x8x2xi32>) -> tensor<2x8x2x4xf32>, res_attrs = [{}], sym_name = "_one_hot", sym_visibility = "private"}> ({
  ^bb0(%arg1: tensor<2x8x2xi32>):
    %9 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x8x2xi32>) -> tensor<2x8x2x1xi32>
    %10 = "stablehlo.iota"() <{iota_dimension = 3 : i64}> : () -> tensor<1x1x1x4xi32>
    %11 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x8x2x1xi32>) -> tensor<2x8x2x4xi32>
    %12 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x4xi32>) -> tensor<2x8x2x4xi32>
    %13 = "stablehlo.compare"(%11, %12) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<2x8x2x4xi32>, tensor<2x8x2x4xi32>) -> tensor<2x8x2x4xi1>
    %14 = "stablehlo.convert"(%13) : (tensor<2x8x2x4xi1>) -> tensor<2x8x2x4xf32>
    "func.return"(%14) : (tensor<2x8x2x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4x2x8x64xf32>) -> tensor<4x2x8x64xf32>, res_attrs = [{}], sym_name = "silu", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<4x2x8x64xf32>):
    %0 = "stablehlo.negate"(%arg0) : (tensor<4x2x8x64xf32>) -> tensor<4x2x8x64xf32>
    %1 = "stablehlo.exponential"(%0) : (tensor<4x2x8x64xf32>) -> tensor<4x2x8x64xf32>
    %2 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x2x8x64xf32>
    %4 = "stablehlo.add"(%3, %1) : (tensor<4x2x8x64xf32>, tensor<4x2x8x64xf32>) -> tensor<4x2x8x64xf32>
    %5 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x2x8x64xf32>
    %7 = "stablehlo.divide"(%6, %4) : (tensor<4x2x8x64xf32>, tensor<4x2x8x64xf32>) -> tensor<4x2x8x64xf32>
    %8 = "stablehlo.multiply"(%arg0, %7) : (tensor<4x2x8x64xf32>, tensor<4x2x8x64xf32>) -> tensor<4x2x8x64xf32>
    "func.return"(%8) : (tensor<4x2x8x64xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
