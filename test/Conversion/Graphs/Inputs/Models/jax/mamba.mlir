"builtin.module"() <{sym_name = "jit_mamba"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}, {}, {}, {}, {}, {}], function_type = (tensor<64x4xf32>, tensor<64x4xf32>, tensor<64x4xf32>, tensor<4x64xf32>, tensor<32x128xf32>, tensor<32xf32>, tensor<64x32xf32>, tensor<64x64xf32>, tensor<2x8x32xf32>) -> tensor<2x8x32xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg4: tensor<64x4xf32>, %arg5: tensor<64x4xf32>, %arg6: tensor<64x4xf32>, %arg7: tensor<4x64xf32>, %arg8: tensor<32x128xf32>, %arg9: tensor<32xf32>, %arg10: tensor<64x32xf32>, %arg11: tensor<64x64xf32>, %arg12: tensor<2x8x32xf32>):
    %25 = "stablehlo.multiply"(%arg12, %arg12) : (tensor<2x8x32xf32>, tensor<2x8x32xf32>) -> tensor<2x8x32xf32>
    %26 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %27 = "stablehlo.reduce"(%25, %26) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg13: tensor<f32>, %arg14: tensor<f32>):
      %155 = "stablehlo.add"(%arg13, %arg14) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%155) : (tensor<f32>) -> ()
    }) : (tensor<2x8x32xf32>, tensor<f32>) -> tensor<2x8xf32>
    %28 = "stablehlo.broadcast_in_dim"(%27) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x8xf32>) -> tensor<2x8x1xf32>
    %29 = "stablehlo.constant"() <{value = dense<3.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %30 = "stablehlo.broadcast_in_dim"(%29) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x1xf32>
    %31 = "stablehlo.divide"(%28, %30) : (tensor<2x8x1xf32>, tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
    %32 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %33 = "stablehlo.broadcast_in_dim"(%32) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x1xf32>
    %34 = "stablehlo.add"(%31, %33) : (tensor<2x8x1xf32>, tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
    %35 = "stablehlo.rsqrt"(%34) : (tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
    %36 = "stablehlo.broadcast_in_dim"(%35) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x8x1xf32>) -> tensor<2x8x32xf32>
    %37 = "stablehlo.multiply"(%arg12, %36) : (tensor<2x8x32xf32>, tensor<2x8x32xf32>) -> tensor<2x8x32xf32>
    %38 = "stablehlo.broadcast_in_dim"(%arg9) <{broadcast_dimensions = array<i64: 2>}> : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %39 = "stablehlo.broadcast_in_dim"(%38) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x32xf32>) -> tensor<2x8x32xf32>
    %40 = "stablehlo.multiply"(%37, %39) : (tensor<2x8x32xf32>, tensor<2x8x32xf32>) -> tensor<2x8x32xf32>
    %41 = "stablehlo.dot_general"(%40, %arg8) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x32xf32>, tensor<32x128xf32>) -> tensor<2x8x128xf32>
    %42 = "stablehlo.slice"(%41) <{limit_indices = array<i64: 2, 8, 64>, start_indices = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>}> : (tensor<2x8x128xf32>) -> tensor<2x8x64xf32>
    %43 = "stablehlo.slice"(%41) <{limit_indices = array<i64: 2, 8, 128>, start_indices = array<i64: 0, 0, 64>, strides = array<i64: 1, 1, 1>}> : (tensor<2x8x128xf32>) -> tensor<2x8x64xf32>
    %44 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %45 = "func.call"(%42, %44) <{callee = @_pad}> : (tensor<2x8x64xf32>, tensor<i32>) -> tensor<2x11x64xf32>
    %46 = "stablehlo.slice"(%45) <{limit_indices = array<i64: 2, 8, 64>, start_indices = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>}> : (tensor<2x11x64xf32>) -> tensor<2x8x64xf32>
    %47 = "stablehlo.slice"(%arg7) <{limit_indices = array<i64: 1, 64>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<4x64xf32>) -> tensor<1x64xf32>
    %48 = "stablehlo.reshape"(%47) : (tensor<1x64xf32>) -> tensor<64xf32>
    %49 = "stablehlo.broadcast_in_dim"(%48) <{broadcast_dimensions = array<i64: 2>}> : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %50 = "stablehlo.broadcast_in_dim"(%49) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x64xf32>) -> tensor<2x8x64xf32>
    %51 = "stablehlo.multiply"(%46, %50) : (tensor<2x8x64xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %52 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %53 = "stablehlo.broadcast_in_dim"(%52) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x64xf32>
    %54 = "stablehlo.add"(%53, %51) : (tensor<2x8x64xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %55 = "stablehlo.slice"(%45) <{limit_indices = array<i64: 2, 9, 64>, start_indices = array<i64: 0, 1, 0>, strides = array<i64: 1, 1, 1>}> : (tensor<2x11x64xf32>) -> tensor<2x8x64xf32>
    %56 = "stablehlo.slice"(%arg7) <{limit_indices = array<i64: 2, 64>, start_indices = array<i64: 1, 0>, strides = array<i64: 1, 1>}> : (tensor<4x64xf32>) -> tensor<1x64xf32>
    %57 = "stablehlo.reshape"(%56) : (tensor<1x64xf32>) -> tensor<64xf32>
    %58 = "stablehlo.broadcast_in_dim"(%57) <{broadcast_dimensions = array<i64: 2>}> : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %59 = "stablehlo.broadcast_in_dim"(%58) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x64xf32>) -> tensor<2x8x64xf32>
    %60 = "stablehlo.multiply"(%55, %59) : (tensor<2x8x64xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %61 = "stablehlo.add"(%54, %60) : (tensor<2x8x64xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %62 = "stablehlo.slice"(%45) <{limit_indices = array<i64: 2, 10, 64>, start_indices = array<i64: 0, 2, 0>, strides = array<i64: 1, 1, 1>}> : (tensor<2x11x64xf32>) -> tensor<2x8x64xf32>
    %63 = "stablehlo.slice"(%arg7) <{limit_indices = array<i64: 3, 64>, start_indices = array<i64: 2, 0>, strides = array<i64: 1, 1>}> : (tensor<4x64xf32>) -> tensor<1x64xf32>
    %64 = "stablehlo.reshape"(%63) : (tensor<1x64xf32>) -> tensor<64xf32>
    %65 = "stablehlo.broadcast_in_dim"(%64) <{broadcast_dimensions = array<i64: 2>}> : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %66 = "stablehlo.broadcast_in_dim"(%65) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x64xf32>) -> tensor<2x8x64xf32>
    %67 = "stablehlo.multiply"(%62, %66) : (tensor<2x8x64xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %68 = "stablehlo.add"(%61, %67) : (tensor<2x8x64xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %69 = "stablehlo.slice"(%45) <{limit_indices = array<i64: 2, 11, 64>, start_indices = array<i64: 0, 3, 0>, strides = array<i64: 1, 1, 1>}> : (tensor<2x11x64xf32>) -> tensor<2x8x64xf32>
    %70 = "stablehlo.slice"(%arg7) <{limit_indices = array<i64: 4, 64>, start_indices = array<i64: 3, 0>, strides = array<i64: 1, 1>}> : (tensor<4x64xf32>) -> tensor<1x64xf32>
    %71 = "stablehlo.reshape"(%70) : (tensor<1x64xf32>) -> tensor<64xf32>
    %72 = "stablehlo.broadcast_in_dim"(%71) <{broadcast_dimensions = array<i64: 2>}> : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %73 = "stablehlo.broadcast_in_dim"(%72) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x64xf32>) -> tensor<2x8x64xf32>
    %74 = "stablehlo.multiply"(%69, %73) : (tensor<2x8x64xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %75 = "stablehlo.add"(%68, %74) : (tensor<2x8x64xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %76 = "func.call"(%75) <{callee = @silu}> : (tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %77 = "stablehlo.dot_general"(%76, %arg11) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x64xf32>, tensor<64x64xf32>) -> tensor<2x8x64xf32>
    %78 = "func.call"(%77) <{callee = @softplus}> : (tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %79 = "stablehlo.broadcast_in_dim"(%78) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x8x64xf32>) -> tensor<2x8x64x1xf32>
    %80 = "stablehlo.exponential"(%arg4) : (tensor<64x4xf32>) -> tensor<64x4xf32>
    %81 = "stablehlo.negate"(%80) : (tensor<64x4xf32>) -> tensor<64x4xf32>
    %82 = "stablehlo.broadcast_in_dim"(%81) <{broadcast_dimensions = array<i64: 2, 3>}> : (tensor<64x4xf32>) -> tensor<1x1x64x4xf32>
    %83 = "stablehlo.broadcast_in_dim"(%79) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x8x64x1xf32>) -> tensor<2x8x64x4xf32>
    %84 = "stablehlo.broadcast_in_dim"(%82) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x64x4xf32>) -> tensor<2x8x64x4xf32>
    %85 = "stablehlo.multiply"(%83, %84) : (tensor<2x8x64x4xf32>, tensor<2x8x64x4xf32>) -> tensor<2x8x64x4xf32>
    %86 = "stablehlo.exponential"(%85) : (tensor<2x8x64x4xf32>) -> tensor<2x8x64x4xf32>
    %87 = "stablehlo.multiply"(%78, %76) : (tensor<2x8x64xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %88 = "stablehlo.broadcast_in_dim"(%87) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x8x64xf32>) -> tensor<2x8x64x1xf32>
    %89 = "stablehlo.dot_general"(%76, %arg5) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x64xf32>, tensor<64x4xf32>) -> tensor<2x8x4xf32>
    %90 = "stablehlo.broadcast_in_dim"(%89) <{broadcast_dimensions = array<i64: 0, 1, 3>}> : (tensor<2x8x4xf32>) -> tensor<2x8x1x4xf32>
    %91 = "stablehlo.broadcast_in_dim"(%88) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x8x64x1xf32>) -> tensor<2x8x64x4xf32>
    %92 = "stablehlo.broadcast_in_dim"(%90) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x8x1x4xf32>) -> tensor<2x8x64x4xf32>
    %93 = "stablehlo.multiply"(%91, %92) : (tensor<2x8x64x4xf32>, tensor<2x8x64x4xf32>) -> tensor<2x8x64x4xf32>
    %94 = "stablehlo.slice"(%86) <{limit_indices = array<i64: 2, 7, 64, 4>, start_indices = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 2, 1, 1>}> : (tensor<2x8x64x4xf32>) -> tensor<2x4x64x4xf32>
    %95 = "stablehlo.slice"(%93) <{limit_indices = array<i64: 2, 7, 64, 4>, start_indices = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 2, 1, 1>}> : (tensor<2x8x64x4xf32>) -> tensor<2x4x64x4xf32>
    %96 = "stablehlo.slice"(%86) <{limit_indices = array<i64: 2, 8, 64, 4>, start_indices = array<i64: 0, 1, 0, 0>, strides = array<i64: 1, 2, 1, 1>}> : (tensor<2x8x64x4xf32>) -> tensor<2x4x64x4xf32>
    %97 = "stablehlo.slice"(%93) <{limit_indices = array<i64: 2, 8, 64, 4>, start_indices = array<i64: 0, 1, 0, 0>, strides = array<i64: 1, 2, 1, 1>}> : (tensor<2x8x64x4xf32>) -> tensor<2x4x64x4xf32>
    %98 = "stablehlo.multiply"(%94, %96) : (tensor<2x4x64x4xf32>, tensor<2x4x64x4xf32>) -> tensor<2x4x64x4xf32>
    %99 = "stablehlo.multiply"(%96, %95) : (tensor<2x4x64x4xf32>, tensor<2x4x64x4xf32>) -> tensor<2x4x64x4xf32>
    %100 = "stablehlo.add"(%99, %97) : (tensor<2x4x64x4xf32>, tensor<2x4x64x4xf32>) -> tensor<2x4x64x4xf32>
    %101 = "stablehlo.slice"(%98) <{limit_indices = array<i64: 2, 3, 64, 4>, start_indices = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 2, 1, 1>}> : (tensor<2x4x64x4xf32>) -> tensor<2x2x64x4xf32>
    %102 = "stablehlo.slice"(%100) <{limit_indices = array<i64: 2, 3, 64, 4>, start_indices = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 2, 1, 1>}> : (tensor<2x4x64x4xf32>) -> tensor<2x2x64x4xf32>
    %103 = "stablehlo.slice"(%98) <{limit_indices = array<i64: 2, 4, 64, 4>, start_indices = array<i64: 0, 1, 0, 0>, strides = array<i64: 1, 2, 1, 1>}> : (tensor<2x4x64x4xf32>) -> tensor<2x2x64x4xf32>
    %104 = "stablehlo.slice"(%100) <{limit_indices = array<i64: 2, 4, 64, 4>, start_indices = array<i64: 0, 1, 0, 0>, strides = array<i64: 1, 2, 1, 1>}> : (tensor<2x4x64x4xf32>) -> tensor<2x2x64x4xf32>
    %105 = "stablehlo.multiply"(%101, %103) : (tensor<2x2x64x4xf32>, tensor<2x2x64x4xf32>) -> tensor<2x2x64x4xf32>
    %106 = "stablehlo.multiply"(%103, %102) : (tensor<2x2x64x4xf32>, tensor<2x2x64x4xf32>) -> tensor<2x2x64x4xf32>
    %107 = "stablehlo.add"(%106, %104) : (tensor<2x2x64x4xf32>, tensor<2x2x64x4xf32>) -> tensor<2x2x64x4xf32>
    %108 = "stablehlo.slice"(%107) <{limit_indices = array<i64: 2, 1, 64, 4>, start_indices = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 2, 1, 1>}> : (tensor<2x2x64x4xf32>) -> tensor<2x1x64x4xf32>
    %109 = "stablehlo.slice"(%105) <{limit_indices = array<i64: 2, 2, 64, 4>, start_indices = array<i64: 0, 1, 0, 0>, strides = array<i64: 1, 2, 1, 1>}> : (tensor<2x2x64x4xf32>) -> tensor<2x1x64x4xf32>
    %110 = "stablehlo.slice"(%107) <{limit_indices = array<i64: 2, 2, 64, 4>, start_indices = array<i64: 0, 1, 0, 0>, strides = array<i64: 1, 2, 1, 1>}> : (tensor<2x2x64x4xf32>) -> tensor<2x1x64x4xf32>
    %111 = "stablehlo.multiply"(%109, %108) : (tensor<2x1x64x4xf32>, tensor<2x1x64x4xf32>) -> tensor<2x1x64x4xf32>
    %112 = "stablehlo.add"(%111, %110) : (tensor<2x1x64x4xf32>, tensor<2x1x64x4xf32>) -> tensor<2x1x64x4xf32>
    %113 = "stablehlo.slice"(%112) <{limit_indices = array<i64: 2, 0, 64, 4>, start_indices = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<2x1x64x4xf32>) -> tensor<2x0x64x4xf32>
    %114 = "stablehlo.slice"(%105) <{limit_indices = array<i64: 2, 2, 64, 4>, start_indices = array<i64: 0, 2, 0, 0>, strides = array<i64: 1, 2, 1, 1>}> : (tensor<2x2x64x4xf32>) -> tensor<2x0x64x4xf32>
    %115 = "stablehlo.slice"(%107) <{limit_indices = array<i64: 2, 2, 64, 4>, start_indices = array<i64: 0, 2, 0, 0>, strides = array<i64: 1, 2, 1, 1>}> : (tensor<2x2x64x4xf32>) -> tensor<2x0x64x4xf32>
    %116 = "stablehlo.multiply"(%114, %113) : (tensor<2x0x64x4xf32>, tensor<2x0x64x4xf32>) -> tensor<2x0x64x4xf32>
    %117 = "stablehlo.add"(%116, %115) : (tensor<2x0x64x4xf32>, tensor<2x0x64x4xf32>) -> tensor<2x0x64x4xf32>
    %118 = "stablehlo.slice"(%107) <{limit_indices = array<i64: 2, 1, 64, 4>, start_indices = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<2x2x64x4xf32>) -> tensor<2x1x64x4xf32>
    %119 = "stablehlo.concatenate"(%118, %117) <{dimension = 1 : i64}> : (tensor<2x1x64x4xf32>, tensor<2x0x64x4xf32>) -> tensor<2x1x64x4xf32>
    %120 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %121 = "stablehlo.pad"(%119, %120) <{edge_padding_high = array<i64: 0, 1, 0, 0>, edge_padding_low = array<i64: 0, 0, 0, 0>, interior_padding = array<i64: 0, 1, 0, 0>}> : (tensor<2x1x64x4xf32>, tensor<f32>) -> tensor<2x2x64x4xf32>
    %122 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %123 = "stablehlo.pad"(%112, %122) <{edge_padding_high = array<i64: 0, 0, 0, 0>, edge_padding_low = array<i64: 0, 1, 0, 0>, interior_padding = array<i64: 0, 1, 0, 0>}> : (tensor<2x1x64x4xf32>, tensor<f32>) -> tensor<2x2x64x4xf32>
    %124 = "stablehlo.add"(%121, %123) : (tensor<2x2x64x4xf32>, tensor<2x2x64x4xf32>) -> tensor<2x2x64x4xf32>
    %125 = "stablehlo.slice"(%124) <{limit_indices = array<i64: 2, 1, 64, 4>, start_indices = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<2x2x64x4xf32>) -> tensor<2x1x64x4xf32>
    %126 = "stablehlo.slice"(%98) <{limit_indices = array<i64: 2, 4, 64, 4>, start_indices = array<i64: 0, 2, 0, 0>, strides = array<i64: 1, 2, 1, 1>}> : (tensor<2x4x64x4xf32>) -> tensor<2x1x64x4xf32>
    %127 = "stablehlo.slice"(%100) <{limit_indices = array<i64: 2, 4, 64, 4>, start_indices = array<i64: 0, 2, 0, 0>, strides = array<i64: 1, 2, 1, 1>}> : (tensor<2x4x64x4xf32>) -> tensor<2x1x64x4xf32>
    %128 = "stablehlo.multiply"(%126, %125) : (tensor<2x1x64x4xf32>, tensor<2x1x64x4xf32>) -> tensor<2x1x64x4xf32>
    %129 = "stablehlo.add"(%128, %127) : (tensor<2x1x64x4xf32>, tensor<2x1x64x4xf32>) -> tensor<2x1x64x4xf32>
    %130 = "stablehlo.slice"(%100) <{limit_indices = array<i64: 2, 1, 64, 4>, start_indices = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<2x4x64x4xf32>) -> tensor<2x1x64x4xf32>
    %131 = "stablehlo.concatenate"(%130, %129) <{dimension = 1 : i64}> : (tensor<2x1x64x4xf32>, tensor<2x1x64x4xf32>) -> tensor<2x2x64x4xf32>
    %132 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %133 = "stablehlo.pad"(%131, %132) <{edge_padding_high = array<i64: 0, 1, 0, 0>, edge_padding_low = array<i64: 0, 0, 0, 0>, interior_padding = array<i64: 0, 1, 0, 0>}> : (tensor<2x2x64x4xf32>, tensor<f32>) -> tensor<2x4x64x4xf32>
    %134 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %135 = "stablehlo.pad"(%124, %134) <{edge_padding_high = array<i64: 0, 0, 0, 0>, edge_padding_low = array<i64: 0, 1, 0, 0>, interior_padding = array<i64: 0, 1, 0, 0>}> : (tensor<2x2x64x4xf32>, tensor<f32>) -> tensor<2x4x64x4xf32>
    %136 = "stablehlo.add"(%133, %135) : (tensor<2x4x64x4xf32>, tensor<2x4x64x4xf32>) -> tensor<2x4x64x4xf32>
    %137 = "stablehlo.slice"(%136) <{limit_indices = array<i64: 2, 3, 64, 4>, start_indices = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<2x4x64x4xf32>) -> tensor<2x3x64x4xf32>
    %138 = "stablehlo.slice"(%86) <{limit_indices = array<i64: 2, 8, 64, 4>, start_indices = array<i64: 0, 2, 0, 0>, strides = array<i64: 1, 2, 1, 1>}> : (tensor<2x8x64x4xf32>) -> tensor<2x3x64x4xf32>
    %139 = "stablehlo.slice"(%93) <{limit_indices = array<i64: 2, 8, 64, 4>, start_indices = array<i64: 0, 2, 0, 0>, strides = array<i64: 1, 2, 1, 1>}> : (tensor<2x8x64x4xf32>) -> tensor<2x3x64x4xf32>
    %140 = "stablehlo.multiply"(%138, %137) : (tensor<2x3x64x4xf32>, tensor<2x3x64x4xf32>) -> tensor<2x3x64x4xf32>
    %141 = "stablehlo.add"(%140, %139) : (tensor<2x3x64x4xf32>, tensor<2x3x64x4xf32>) -> tensor<2x3x64x4xf32>
    %142 = "stablehlo.slice"(%93) <{limit_indices = array<i64: 2, 1, 64, 4>, start_indices = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<2x8x64x4xf32>) -> tensor<2x1x64x4xf32>
    %143 = "stablehlo.concatenate"(%142, %141) <{dimension = 1 : i64}> : (tensor<2x1x64x4xf32>, tensor<2x3x64x4xf32>) -> tensor<2x4x64x4xf32>
    %144 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %145 = "stablehlo.pad"(%143, %144) <{edge_padding_high = array<i64: 0, 1, 0, 0>, edge_padding_low = array<i64: 0, 0, 0, 0>, interior_padding = array<i64: 0, 1, 0, 0>}> : (tensor<2x4x64x4xf32>, tensor<f32>) -> tensor<2x8x64x4xf32>
    %146 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %147 = "stablehlo.pad"(%136, %146) <{edge_padding_high = array<i64: 0, 0, 0, 0>, edge_padding_low = array<i64: 0, 1, 0, 0>, interior_padding = array<i64: 0, 1, 0, 0>}> : (tensor<2x4x64x4xf32>, tensor<f32>) -> tensor<2x8x64x4xf32>
    %148 = "stablehlo.add"(%145, %147) : (tensor<2x8x64x4xf32>, tensor<2x8x64x4xf32>) -> tensor<2x8x64x4xf32>
    %149 = "stablehlo.dot_general"(%76, %arg6) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x64xf32>, tensor<64x4xf32>) -> tensor<2x8x4xf32>
    %150 = "stablehlo.dot_general"(%148, %149) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x64x4xf32>, tensor<2x8x4xf32>) -> tensor<2x8x64xf32>
    %151 = "func.call"(%43) <{callee = @silu}> : (tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %152 = "stablehlo.multiply"(%150, %151) : (tensor<2x8x64xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %153 = "stablehlo.dot_general"(%152, %arg10) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x64xf32>, tensor<64x32xf32>) -> tensor<2x8x32xf32>
    %154 = "stablehlo.add"(%arg12, %153) : (tensor<2x8x32xf32>, tensor<2x8x32xf32>) -> tensor<2x8x32xf32>
    "func.return"(%154) : (tensor<2x8x32xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<2x8x64xf32>, tensor<i32>) -> tensor<2x11x64xf32>, res_attrs = [{}], sym_name = "_pad", sym_visibility = "private"}> ({
  ^bb0(%arg2: tensor<2x8x64xf32>, %arg3: tensor<i32>):
    %23 = "stablehlo.convert"(%arg3) : (tensor<i32>) -> tensor<f32>
    %24 = "stablehlo.pad"(%arg2, %23) <{edge_padding_high = array<i64: 0, 0, 0>, edge_padding_low = array<i64: 0, 3, 0>, interior_padding = array<i64: 0, 0, 0>}> : (tensor<2x8x64xf32>, tensor<f32>) -> tensor<2x11x64xf32>
    "func.return"(%24) : (tensor<2x11x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<2x8x64xf32>) -> tensor<2x8x64xf32>, res_attrs = [{}], sym_name = "silu", sym_visibility = "private"}> ({
  ^bb0(%arg1: tensor<2x8x64xf32>):
    %14 = "stablehlo.negate"(%arg1) : (tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %15 = "stablehlo.exponential"(%14) : (tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %16 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x64xf32>
    %18 = "stablehlo.add"(%17, %15) : (tensor<2x8x64xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %19 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x64xf32>
    %21 = "stablehlo.divide"(%20, %18) : (tensor<2x8x64xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %22 = "stablehlo.multiply"(%arg1, %21) : (tensor<2x8x64xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    "func.return"(%22) : (tensor<2x8x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<2x8x64xf32>) -> tensor<2x8x64xf32>, res_attrs = [{}], sym_name = "softplus", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<2x8x64xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x64xf32>
    %2 = "stablehlo.maximum"(%arg0, %1) : (tensor<2x8x64xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %3 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x64xf32>
    %4 = "stablehlo.subtract"(%arg0, %3) : (tensor<2x8x64xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %5 = "stablehlo.compare"(%4, %4) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<2x8x64xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xi1>
    %6 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x64xf32>
    %7 = "stablehlo.add"(%arg0, %6) : (tensor<2x8x64xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %8 = "stablehlo.abs"(%4) : (tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %9 = "stablehlo.negate"(%8) : (tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %10 = "stablehlo.exponential"(%9) : (tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %11 = "stablehlo.log_plus_one"(%10) : (tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %12 = "stablehlo.add"(%2, %11) : (tensor<2x8x64xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %13 = "stablehlo.select"(%5, %7, %12) : (tensor<2x8x64xi1>, tensor<2x8x64xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    "func.return"(%13) : (tensor<2x8x64xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
