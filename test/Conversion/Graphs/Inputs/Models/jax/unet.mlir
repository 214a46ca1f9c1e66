"builtin.module"() <{sym_name = "jit_unet"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}, {}], function_type = (tensor<32x16x3x3xf32>, tensor<32x32x3x3xf32>, tensor<8x48x3x3xf32>, tensor<16x8x3x3xf32>, tensor<2x8x16x16xf32>) -> tensor<2x8x16x16xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg2: tensor<32x16x3x3xf32>, %arg3: tensor<32x32x3x3xf32>, %arg4: tensor<8x48x3x3xf32>, %arg5: tensor<16x8x3x3xf32>, %arg6: tensor<2x8x16x16xf32>):
    %6 = "stablehlo.convolution"(%arg6, %arg5) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<2x8x16x16xf32>, tensor<16x8x3x3xf32>) -> tensor<2x16x16x16xf32>
    %7 = "func.call"(%6) <{callee = @relu}> : (tensor<2x16x16x16xf32>) -> tensor<2x16x16x16xf32>
    %8 = "stablehlo.convolution"(%7, %arg2) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<[[0, 1], [0, 1]]> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 2, 2>}> : (tensor<2x16x16x16xf32>, tensor<32x16x3x3xf32>) -> tensor<2x32x8x8xf32>
    %9 = "func.call"(%8) <{callee = @relu_0}> : (tensor<2x32x8x8xf32>) -> tensor<2x32x8x8xf32>
    %10 = "stablehlo.convolution"(%9, %arg3) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<2x32x8x8xf32>, tensor<32x32x3x3xf32>) -> tensor<2x32x8x8xf32>
    %11 = "func.call"(%10) <{callee = @relu_0}> : (tensor<2x32x8x8xf32>) -> tensor<2x32x8x8xf32>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64: 0, 1, 2, 4>}> : (tensor<2x32x8x8xf32>) -> tensor<2x32x8x2x8xf32>
    %13 = "stablehlo.reshape"(%12) : (tensor<2x32x8x2x8xf32>) -> tensor<2x32x16x8xf32>
    %14 = "stablehlo.broadcast_in_dim"(%13) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x32x16x8xf32>) -> tensor<2x32x16x8x2xf32>
    %15 = "stablehlo.reshape"(%14) : (tensor<2x32x16x8x2xf32>) -> tensor<2x32x16x16xf32>
    %16 = "stablehlo.concatenate"(%7, %15) <{dimension = 1 : i64}> : (tensor<2x16x16x16xf32>, tensor<2x32x16x16xf32>) -> tensor<2x48x16x16xf32>
    %17 = "stablehlo.convolution"(%16, %arg4) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<2x48x16x16xf32>, tensor<8x48x3x3xf32>) -> tensor<2x8x16x16xf32>
    "func.return"(%17) : (tensor<2x8x16x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<2x16x16x16xf32>) -> tensor<2x16x16x16xf32>, res_attrs = [{}], sym_name = "relu", sym_visibility = "private"}> ({
  ^bb0(%arg1: tensor<2x16x16x16xf32>):
    %3 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x16x16x16xf32>
    %5 = "stablehlo.maximum"(%arg1, %4) : (tensor<2x16x16x16xf32>, tensor<2x16x16x16xf32>) -> tensor<2x16x16x16xf32>
    "func.return"(%5) : (tensor<2x16x16x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<2x32x8x8xf32>) -> tensor<2x32x8x8xf32>, res_attrs = [{}], sym_name = "relu_0", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<2x32x8x8xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x32x8x8xf32>
    %2 = "stablehlo.maximum"(%arg0, %1) : (tensor<2x32x8x8xf32>, tensor<2x32x8x8xf32>) -> tensor<2x32x8x8xf32>
    "func.return"(%2) : (tensor<2x32x8x8xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
