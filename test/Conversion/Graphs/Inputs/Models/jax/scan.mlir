"builtin.module"() <{sym_name = "jit_scan"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}], function_type = (tensor<64x32xf32>, tensor<32x64xf32>, tensor<3x128x32xf32>, tensor<3x32x128xf32>, tensor<3x32x16xf32>, tensor<3x32xf32>, tensor<3x32xf32>, tensor<3x32x32xf32>, tensor<3x32x32xf32>, tensor<3x32x128xf32>, tensor<3x32x16xf32>, tensor<32xf32>, tensor<2x8xi32>) -> tensor<2x8x64xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg33: tensor<64x32xf32>, %arg34: tensor<32x64xf32>, %arg35: tensor<3x128x32xf32>, %arg36: tensor<3x32x128xf32>, %arg37: tensor<3x32x16xf32>, %arg38: tensor<3x32xf32>, %arg39: tensor<3x32xf32>, %arg40: tensor<3x32x32xf32>, %arg41: tensor<3x32x32xf32>, %arg42: tensor<3x32x128xf32>, %arg43: tensor<3x32x16xf32>, %arg44: tensor<32xf32>, %arg45: tensor<2x8xi32>):
    %195 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %196 = "stablehlo.broadcast_in_dim"(%195) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<2x8xi32>
    %197 = "stablehlo.compare"(%arg45, %196) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<2x8xi32>, tensor<2x8xi32>) -> tensor<2x8xi1>
    %198 = "stablehlo.constant"() <{value = dense<64> : tensor<i32>}> : () -> tensor<i32>
    %199 = "stablehlo.broadcast_in_dim"(%198) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<2x8xi32>
    %200 = "stablehlo.add"(%arg45, %199) : (tensor<2x8xi32>, tensor<2x8xi32>) -> tensor<2x8xi32>
    %201 = "stablehlo.select"(%197, %200, %arg45) : (tensor<2x8xi1>, tensor<2x8xi32>, tensor<2x8xi32>) -> tensor<2x8xi32>
    %202 = "stablehlo.broadcast_in_dim"(%201) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x8xi32>) -> tensor<2x8x1xi32>
    %203 = "stablehlo.gather"(%arg33, %202) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<2x8x1xi32>) -> tensor<2x8x32xf32>
    %204 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %205:11 = "stablehlo.while"(%arg35, %arg36, %arg37, %arg38, %arg39, %arg40, %arg41, %arg42, %arg43, %204, %203) ({
    ^bb0(%arg59: tensor<3x128x32xf32>, %arg60: tensor<3x32x128xf32>, %arg61: tensor<3x32x16xf32>, %arg62: tensor<3x32xf32>, %arg63: tensor<3x32xf32>, %arg64: tensor<3x32x32xf32>, %arg65: tensor<3x32x32xf32>, %arg66: tensor<3x32x128xf32>, %arg67: tensor<3x32x16xf32>, %arg68: tensor<i32>, %arg69: tensor<2x8x32xf32>):
      %236 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
      %237 = "stablehlo.compare"(%arg68, %236) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%237) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg48: tensor<3x128x32xf32>, %arg49: tensor<3x32x128xf32>, %arg50: tensor<3x32x16xf32>, %arg51: tensor<3x32xf32>, %arg52: tensor<3x32xf32>, %arg53: tensor<3x32x32xf32>, %arg54: tensor<3x32x32xf32>, %arg55: tensor<3x32x128xf32>, %arg56: tensor<3x32x16xf32>, %arg57: tensor<i32>, %arg58: tensor<2x8x32xf32>):
      %224 = "func.call"(%arg48, %arg57) <{callee = @dynamic_index_in_dim}> : (tensor<3x128x32xf32>, tensor<i32>) -> tensor<128x32xf32>
      %225 = "func.call"(%arg49, %arg57) <{callee = @dynamic_index_in_dim_0}> : (tensor<3x32x128xf32>, tensor<i32>) -> tensor<32x128xf32>
      %226 = "func.call"(%arg50, %arg57) <{callee = @dynamic_index_in_dim_1}> : (tensor<3x32x16xf32>, tensor<i32>) -> tensor<32x16xf32>
      %227 = "func.call"(%arg51, %arg57) <{callee = @dynamic_index_in_dim_2}> : (tensor<3x32xf32>, tensor<i32>) -> tensor<32xf32>
      %228 = "func.call"(%arg52, %arg57) <{callee = @dynamic_index_in_dim_2}> : (tensor<3x32xf32>, tensor<i32>) -> tensor<32xf32>
      %229 = "func.call"(%arg53, %arg57) <{callee = @dynamic_index_in_dim_3}> : (tensor<3x32x32xf32>, tensor<i32>) -> tensor<32x32xf32>
      %230 = "func.call"(%arg54, %arg57) <{callee = @dynamic_index_in_dim_3}> : (tensor<3x32x32xf32>, tensor<i32>) -> tensor<32x32xf32>
      %231 = "func.call"(%arg55, %arg57) <{callee = @dynamic_index_in_dim_0}> : (tensor<3x32x128xf32>, tensor<i32>) -> tensor<32x128xf32>
      %232 = "func.call"(%arg56, %arg57) <{callee = @dynamic_index_in_dim_1}> : (tensor<3x32x16xf32>, tensor<i32>) -> tensor<32x16xf32>
      %233 = "func.call"(%arg58, %224, %225, %226, %227, %228, %229, %230, %231, %232) <{callee = @closed_call}> : (tensor<2x8x32xf32>, tensor<128x32xf32>, tensor<32x128xf32>, tensor<32x16xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x16xf32>) -> tensor<2x8x32xf32>
      %234 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %235 = "stablehlo.add"(%arg57, %234) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg48, %arg49, %arg50, %arg51, %arg52, %arg53, %arg54, %arg55, %arg56, %235, %233) : (tensor<3x128x32xf32>, tensor<3x32x128xf32>, tensor<3x32x16xf32>, tensor<3x32xf32>, tensor<3x32xf32>, tensor<3x32x32xf32>, tensor<3x32x32xf32>, tensor<3x32x128xf32>, tensor<3x32x16xf32>, tensor<i32>, tensor<2x8x32xf32>) -> ()
    }) : (tensor<3x128x32xf32>, tensor<3x32x128xf32>, tensor<3x32x16xf32>, tensor<3x32xf32>, tensor<3x32xf32>, tensor<3x32x32xf32>, tensor<3x32x32xf32>, tensor<3x32x128xf32>, tensor<3x32x16xf32>, tensor<i32>, tensor<2x8x32xf32>) -> (tensor<3x128x32xf32>, tensor<3x32x128xf32>, tensor<3x32x16xf32>, tensor<3x32xf32>, tensor<3x32xf32>, tensor<3x32x32xf32>, tensor<3x32x32xf32>, tensor<3x32x128xf32>, tensor<3x32x16xf32>, tensor<i32>, tensor<2x8x32xf32>)
    %206 = "stablehlo.multiply"(%205#10, %205#10) : (tensor<2x8x32xf32>, tensor<2x8x32xf32>) -> tensor<2x8x32xf32>
    %207 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %208 = "stablehlo.reduce"(%206, %207) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg46: tensor<f32>, %arg47: tensor<f32>):
      %223 = "stablehlo.add"(%arg46, %arg47) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%223) : (tensor<f32>) -> ()
    }) : (tensor<2x8x32xf32>, tensor<f32>) -> tensor<2x8xf32>
    %209 = "stablehlo.broadcast_in_dim"(%208) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x8xf32>) -> tensor<2x8x1xf32>
    %210 = "stablehlo.constant"() <{value = dense<3.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %211 = "stablehlo.broadcast_in_dim"(%210) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x1xf32>
    %212 = "stablehlo.divide"(%209, %211) : (tensor<2x8x1xf32>, tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
    %213 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %214 = "stablehlo.broadcast_in_dim"(%213) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x1xf32>
    %215 = "stablehlo.add"(%212, %214) : (tensor<2x8x1xf32>, tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
    %216 = "stablehlo.rsqrt"(%215) : (tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
    %217 = "stablehlo.broadcast_in_dim"(%216) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x8x1xf32>) -> tensor<2x8x32xf32>
    %218 = "stablehlo.multiply"(%205#10, %217) : (tensor<2x8x32xf32>, tensor<2x8x32xf32>) -> tensor<2x8x32xf32>
    %219 = "stablehlo.broadcast_in_dim"(%arg44) <{broadcast_dimensions = array<i64: 2>}> : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %220 = "stablehlo.broadcast_in_dim"(%219) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x32xf32>) -> tensor<2x8x32xf32>
    %221 = "stablehlo.multiply"(%218, %220) : (tensor<2x8x32xf32>, tensor<2x8x32xf32>) -> tensor<2x8x32xf32>
    %222 = "stablehlo.dot_general"(%221, %arg34) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x32xf32>, tensor<32x64xf32>) -> tensor<2x8x64xf32>
    "func.return"(%222) : (tensor<2x8x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<3x128x32xf32>, tensor<i32>) -> tensor<128x32xf32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg31: tensor<3x128x32xf32>, %arg32: tensor<i32>):
    %191 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %192 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %193 = "stablehlo.dynamic_slice"(%arg31, %arg32, %191, %192) <{slice_sizes = array<i64: 1, 128, 32>}> : (tensor<3x128x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x128x32xf32>
    %194 = "stablehlo.reshape"(%193) : (tensor<1x128x32xf32>) -> tensor<128x32xf32>
    "func.return"(%194) : (tensor<128x32xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<3x32x128xf32>, tensor<i32>) -> tensor<32x128xf32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim_0", sym_visibility = "private"}> ({
  ^bb0(%arg29: tensor<3x32x128xf32>, %arg30: tensor<i32>):
    %187 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %188 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %189 = "stablehlo.dynamic_slice"(%arg29, %arg30, %187, %188) <{slice_sizes = array<i64: 1, 32, 128>}> : (tensor<3x32x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x128xf32>
    %190 = "stablehlo.reshape"(%189) : (tensor<1x32x128xf32>) -> tensor<32x128xf32>
    "func.return"(%190) : (tensor<32x128xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<3x32x16xf32>, tensor<i32>) -> tensor<32x16xf32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim_1", sym_visibility = "private"}> ({
  ^bb0(%arg27: tensor<3x32x16xf32>, %arg28: tensor<i32>):
    %183 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %184 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %185 = "stablehlo.dynamic_slice"(%arg27, %arg28, %183, %184) <{slice_sizes = array<i64: 1, 32, 16>}> : (tensor<3x32x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x16xf32>
    %186 = "stablehlo.reshape"(%185) : (tensor<1x32x16xf32>) -> tensor<32x16xf32>
    "func.return"(%186) : (tensor<32x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<3x32xf32>, tensor<i32>) -> tensor<32xf32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim_2", sym_visibility = "private"}> ({
  ^bb0(%arg25: tensor<3x32xf32>, %arg26: tensor<i32>):
    %180 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %181 = "stablehlo.dynamic_slice"(%arg25, %arg26, %180) <{slice_sizes = array<i64: 1, 32>}> : (tensor<3x32xf32>, tensor<i32>, tensor<i32>) -> tensor<1x32xf32>
    %182 = "stablehlo.reshape"(%181) : (tensor<1x32xf32>) -> tensor<32xf32>
    "func.return"(%182) : (tensor<32xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<3x32x32xf32>, tensor<i32>) -> tensor<32x32xf32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim_3", sym_visibility = "private"}> ({
  ^bb0(%arg23: tensor<3x32x32xf32>, %arg24: tensor<i32>):
    %176 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %177 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %178 = "stablehlo.dynamic_slice"(%arg23, %arg24, %176, %177) <{slice_sizes = array<i64: 1, 32, 32>}> : (tensor<3x32x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x32xf32>
    %179 = "stablehlo.reshape"(%178) : (tensor<1x32x32xf32>) -> tensor<32x32xf32>
    "func.return"(%179) : (tensor<32x32xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2x8x32xf32>, tensor<128x32xf32>, tensor<32x128xf32>, tensor<32x16xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x16xf32>) -> tensor<2x8x32xf32>, res_attrs = [{}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<2x8x32xf32>, %arg6: tensor<128x32xf32>, %arg7: tensor<32x128xf32>, %arg8: tensor<32x16xf32>, %arg9: tensor<32xf32>, %arg10: tensor<32xf32>, %arg11: tensor<32x32xf32>, %arg12: tensor<32x32xf32>, %arg13: tensor<32x128xf32>, %arg14: tensor<32x16xf32>):
    %22 = "stablehlo.multiply"(%arg5, %arg5) : (tensor<2x8x32xf32>, tensor<2x8x32xf32>) -> tensor<2x8x32xf32>
    %23 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %24 = "stablehlo.reduce"(%22, %23) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg21: tensor<f32>, %arg22: tensor<f32>):
      %175 = "stablehlo.add"(%arg21, %arg22) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%175) : (tensor<f32>) -> ()
    }) : (tensor<2x8x32xf32>, tensor<f32>) -> tensor<2x8xf32>
    %25 = "stablehlo.broadcast_in_dim"(%24) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x8xf32>) -> tensor<2x8x1xf32>
    %26 = "stablehlo.constant"() <{value = dense<3.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %27 = "stablehlo.broadcast_in_dim"(%26) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x1xf32>
    %28 = "stablehlo.divide"(%25, %27) : (tensor<2x8x1xf32>, tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
    %29 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %30 = "stablehlo.broadcast_in_dim"(%29) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x1xf32>
    %31 = "stablehlo.add"(%28, %30) : (tensor<2x8x1xf32>, tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
    %32 = "stablehlo.rsqrt"(%31) : (tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
    %33 = "stablehlo.broadcast_in_dim"(%32) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x8x1xf32>) -> tensor<2x8x32xf32>
    %34 = "stablehlo.multiply"(%arg5, %33) : (tensor<2x8x32xf32>, tensor<2x8x32xf32>) -> tensor<2x8x32xf32>
    %35 = "stablehlo.broadcast_in_dim"(%arg9) <{broadcast_dimensions = array<i64: 2>}> : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %36 = "stablehlo.broadcast_in_dim"(%35) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x32xf32>) -> tensor<2x8x32xf32>
    %37 = "stablehlo.multiply"(%34, %36) : (tensor<2x8x32xf32>, tensor<2x8x32xf32>) -> tensor<2x8x32xf32>
    %38 = "stablehlo.dot_general"(%37, %arg12) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x32xf32>, tensor<32x32xf32>) -> tensor<2x8x32xf32>
    %39 = "stablehlo.reshape"(%38) : (tensor<2x8x32xf32>) -> tensor<2x8x4x8xf32>
    %40 = "stablehlo.dot_general"(%37, %arg8) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x32xf32>, tensor<32x16xf32>) -> tensor<2x8x16xf32>
    %41 = "stablehlo.reshape"(%40) : (tensor<2x8x16xf32>) -> tensor<2x8x2x8xf32>
    %42 = "stablehlo.dot_general"(%37, %arg14) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x32xf32>, tensor<32x16xf32>) -> tensor<2x8x16xf32>
    %43 = "stablehlo.reshape"(%42) : (tensor<2x8x16xf32>) -> tensor<2x8x2x8xf32>
    %44 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<8xi32>
    %45 = "stablehlo.broadcast_in_dim"(%44) <{broadcast_dimensions = array<i64: 0>}> : (tensor<8xi32>) -> tensor<8x1xi32>
    %46 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4xi32>
    %47 = "stablehlo.negate"(%46) : (tensor<4xi32>) -> tensor<4xi32>
    %48 = "stablehlo.convert"(%47) : (tensor<4xi32>) -> tensor<4xf32>
    %49 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %50 = "stablehlo.broadcast_in_dim"(%49) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %51 = "stablehlo.divide"(%48, %50) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %52 = "stablehlo.constant"() <{value = dense<1.000000e+04> : tensor<f32>}> : () -> tensor<f32>
    %53 = "stablehlo.broadcast_in_dim"(%52) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %54 = "stablehlo.power"(%53, %51) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %55 = "stablehlo.convert"(%45) : (tensor<8x1xi32>) -> tensor<8x1xf32>
    %56 = "stablehlo.broadcast_in_dim"(%54) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4xf32>) -> tensor<1x4xf32>
    %57 = "stablehlo.broadcast_in_dim"(%55) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<8x1xf32>) -> tensor<8x4xf32>
    %58 = "stablehlo.broadcast_in_dim"(%56) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x4xf32>) -> tensor<8x4xf32>
    %59 = "stablehlo.multiply"(%57, %58) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %60 = "stablehlo.sine"(%59) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %61 = "stablehlo.broadcast_in_dim"(%60) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<8x4xf32>) -> tensor<8x1x4xf32>
    %62 = "stablehlo.cosine"(%59) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %63 = "stablehlo.broadcast_in_dim"(%62) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<8x4xf32>) -> tensor<8x1x4xf32>
    %64 = "stablehlo.slice"(%39) <{limit_indices = array<i64: 2, 8, 4, 4>, start_indices = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<2x8x4x8xf32>) -> tensor<2x8x4x4xf32>
    %65 = "stablehlo.slice"(%39) <{limit_indices = array<i64: 2, 8, 4, 8>, start_indices = array<i64: 0, 0, 0, 4>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<2x8x4x8xf32>) -> tensor<2x8x4x4xf32>
    %66 = "stablehlo.broadcast_in_dim"(%63) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<8x1x4xf32>) -> tensor<1x8x1x4xf32>
    %67 = "stablehlo.broadcast_in_dim"(%66) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x8x1x4xf32>) -> tensor<2x8x4x4xf32>
    %68 = "stablehlo.multiply"(%64, %67) : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
    %69 = "stablehlo.broadcast_in_dim"(%61) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<8x1x4xf32>) -> tensor<1x8x1x4xf32>
    %70 = "stablehlo.broadcast_in_dim"(%69) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x8x1x4xf32>) -> tensor<2x8x4x4xf32>
    %71 = "stablehlo.multiply"(%65, %70) : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
    %72 = "stablehlo.subtract"(%68, %71) : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
    %73 = "stablehlo.broadcast_in_dim"(%63) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<8x1x4xf32>) -> tensor<1x8x1x4xf32>
    %74 = "stablehlo.broadcast_in_dim"(%73) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x8x1x4xf32>) -> tensor<2x8x4x4xf32>
    %75 = "stablehlo.multiply"(%65, %74) : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
    %76 = "stablehlo.broadcast_in_dim"(%61) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<8x1x4xf32>) -> tensor<1x8x1x4xf32>
    %77 = "stablehlo.broadcast_in_dim"(%76) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x8x1x4xf32>) -> tensor<2x8x4x4xf32>
    %78 = "stablehlo.multiply"(%64, %77) : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
    %79 = "stablehlo.add"(%75, %78) : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
    %80 = "stablehlo.concatenate"(%72, %79) <{dimension = 3 : i64}> : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x8x4x8xf32>
    %81 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<8xi32>
    %82 = "stablehlo.broadcast_in_dim"(%81) <{broadcast_dimensions = array<i64: 0>}> : (tensor<8xi32>) -> tensor<8x1xi32>
    %83 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4xi32>
    %84 = "stablehlo.negate"(%83) : (tensor<4xi32>) -> tensor<4xi32>
    %85 = "stablehlo.convert"(%84) : (tensor<4xi32>) -> tensor<4xf32>
    %86 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %87 = "stablehlo.broadcast_in_dim"(%86) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %88 = "stablehlo.divide"(%85, %87) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %89 = "stablehlo.constant"() <{value = dense<1.000000e+04> : tensor<f32>}> : () -> tensor<f32>
    %90 = "stablehlo.broadcast_in_dim"(%89) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %91 = "stablehlo.power"(%90, %88) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %92 = "stablehlo.convert"(%82) : (tensor<8x1xi32>) -> tensor<8x1xf32>
    %93 = "stablehlo.broadcast_in_dim"(%91) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4xf32>) -> tensor<1x4xf32>
    %94 = "stablehlo.broadcast_in_dim"(%92) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<8x1xf32>) -> tensor<8x4xf32>
    %95 = "stablehlo.broadcast_in_dim"(%93) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x4xf32>) -> tensor<8x4xf32>
    %96 = "stablehlo.multiply"(%94, %95) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %97 = "stablehlo.sine"(%96) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %98 = "stablehlo.broadcast_in_dim"(%97) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<8x4xf32>) -> tensor<8x1x4xf32>
    %99 = "stablehlo.cosine"(%96) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %100 = "stablehlo.broadcast_in_dim"(%99) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<8x4xf32>) -> tensor<8x1x4xf32>
    %101 = "stablehlo.slice"(%41) <{limit_indices = array<i64: 2, 8, 2, 4>, start_indices = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<2x8x2x8xf32>) -> tensor<2x8x2x4xf32>
    %102 = "stablehlo.slice"(%41) <{limit_indices = array<i64: 2, 8, 2, 8>, start_indices = array<i64: 0, 0, 0, 4>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<2x8x2x8xf32>) -> tensor<2x8x2x4xf32>
    %103 = "stablehlo.broadcast_in_dim"(%100) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<8x1x4xf32>) -> tensor<1x8x1x4xf32>
    %104 = "stablehlo.broadcast_in_dim"(%103) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x8x1x4xf32>) -> tensor<2x8x2x4xf32>
    %105 = "stablehlo.multiply"(%101, %104) : (tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> tensor<2x8x2x4xf32>
    %106 = "stablehlo.broadcast_in_dim"(%98) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<8x1x4xf32>) -> tensor<1x8x1x4xf32>
    %107 = "stablehlo.broadcast_in_dim"(%106) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x8x1x4xf32>) -> tensor<2x8x2x4xf32>
    %108 = "stablehlo.multiply"(%102, %107) : (tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> tensor<2x8x2x4xf32>
    %109 = "stablehlo.subtract"(%105, %108) : (tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> tensor<2x8x2x4xf32>
    %110 = "stablehlo.broadcast_in_dim"(%100) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<8x1x4xf32>) -> tensor<1x8x1x4xf32>
    %111 = "stablehlo.broadcast_in_dim"(%110) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x8x1x4xf32>) -> tensor<2x8x2x4xf32>
    %112 = "stablehlo.multiply"(%102, %111) : (tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> tensor<2x8x2x4xf32>
    %113 = "stablehlo.broadcast_in_dim"(%98) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<8x1x4xf32>) -> tensor<1x8x1x4xf32>
    %114 = "stablehlo.broadcast_in_dim"(%113) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x8x1x4xf32>) -> tensor<2x8x2x4xf32>
    %115 = "stablehlo.multiply"(%101, %114) : (tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> tensor<2x8x2x4xf32>
    %116 = "stablehlo.add"(%112, %115) : (tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> tensor<2x8x2x4xf32>
    %117 = "stablehlo.concatenate"(%109, %116) <{dimension = 3 : i64}> : (tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> tensor<2x8x2x8xf32>
    %118 = "stablehlo.broadcast_in_dim"(%117) <{broadcast_dimensions = array<i64: 0, 1, 2, 4>}> : (tensor<2x8x2x8xf32>) -> tensor<2x8x2x2x8xf32>
    %119 = "stablehlo.reshape"(%118) : (tensor<2x8x2x2x8xf32>) -> tensor<2x8x4x8xf32>
    %120 = "stablehlo.broadcast_in_dim"(%43) <{broadcast_dimensions = array<i64: 0, 1, 2, 4>}> : (tensor<2x8x2x8xf32>) -> tensor<2x8x2x2x8xf32>
    %121 = "stablehlo.reshape"(%120) : (tensor<2x8x2x2x8xf32>) -> tensor<2x8x4x8xf32>
    %122 = "stablehlo.dot_general"(%80, %119) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x4x8xf32>, tensor<2x8x4x8xf32>) -> tensor<2x4x8x8xf32>
    %123 = "stablehlo.constant"() <{value = dense<2.82842708> : tensor<f32>}> : () -> tensor<f32>
    %124 = "stablehlo.broadcast_in_dim"(%123) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x8x8xf32>
    %125 = "stablehlo.divide"(%122, %124) : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %126 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %127 = "stablehlo.broadcast_in_dim"(%126) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<8x8xi1>
    %128 = "func.call"(%127) <{callee = @tril}> : (tensor<8x8xi1>) -> tensor<8x8xi1>
    %129 = "stablehlo.constant"() <{value = dense<-1.000000e+30> : tensor<f32>}> : () -> tensor<f32>
    %130 = "func.call"(%128, %125, %129) <{callee = @_where}> : (tensor<8x8xi1>, tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
    %131 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %132 = "stablehlo.reduce"(%130, %131) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg19: tensor<f32>, %arg20: tensor<f32>):
      %174 = "stablehlo.maximum"(%arg19, %arg20) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%174) : (tensor<f32>) -> ()
    }) : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %133 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %134 = "stablehlo.broadcast_in_dim"(%133) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x8xf32>
    %135 = "stablehlo.maximum"(%134, %132) : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
    %136 = "stablehlo.broadcast_in_dim"(%135) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
    %137 = "stablehlo.broadcast_in_dim"(%136) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %138 = "stablehlo.subtract"(%130, %137) : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %139 = "stablehlo.exponential"(%138) : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %140 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %141 = "stablehlo.reduce"(%139, %140) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg17: tensor<f32>, %arg18: tensor<f32>):
      %173 = "stablehlo.add"(%arg17, %arg18) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%173) : (tensor<f32>) -> ()
    }) : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %142 = "stablehlo.broadcast_in_dim"(%141) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
    %143 = "stablehlo.broadcast_in_dim"(%142) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %144 = "stablehlo.divide"(%139, %143) : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %145 = "stablehlo.dot_general"(%121, %144) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x4x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %146 = "stablehlo.transpose"(%145) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x4x8x8xf32>) -> tensor<2x8x4x8xf32>
    %147 = "stablehlo.reshape"(%146) : (tensor<2x8x4x8xf32>) -> tensor<2x8x32xf32>
    %148 = "stablehlo.dot_general"(%147, %arg11) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x32xf32>, tensor<32x32xf32>) -> tensor<2x8x32xf32>
    %149 = "stablehlo.add"(%arg5, %148) : (tensor<2x8x32xf32>, tensor<2x8x32xf32>) -> tensor<2x8x32xf32>
    %150 = "stablehlo.multiply"(%149, %149) : (tensor<2x8x32xf32>, tensor<2x8x32xf32>) -> tensor<2x8x32xf32>
    %151 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %152 = "stablehlo.reduce"(%150, %151) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg15: tensor<f32>, %arg16: tensor<f32>):
      %172 = "stablehlo.add"(%arg15, %arg16) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%172) : (tensor<f32>) -> ()
    }) : (tensor<2x8x32xf32>, tensor<f32>) -> tensor<2x8xf32>
    %153 = "stablehlo.broadcast_in_dim"(%152) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x8xf32>) -> tensor<2x8x1xf32>
    %154 = "stablehlo.constant"() <{value = dense<3.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %155 = "stablehlo.broadcast_in_dim"(%154) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x1xf32>
    %156 = "stablehlo.divide"(%153, %155) : (tensor<2x8x1xf32>, tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
    %157 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %158 = "stablehlo.broadcast_in_dim"(%157) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x1xf32>
    %159 = "stablehlo.add"(%156, %158) : (tensor<2x8x1xf32>, tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
    %160 = "stablehlo.rsqrt"(%159) : (tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
    %161 = "stablehlo.broadcast_in_dim"(%160) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x8x1xf32>) -> tensor<2x8x32xf32>
    %162 = "stablehlo.multiply"(%149, %161) : (tensor<2x8x32xf32>, tensor<2x8x32xf32>) -> tensor<2x8x32xf32>
    %163 = "stablehlo.broadcast_in_dim"(%arg10) <{broadcast_dimensions = array<i64: 2>}> : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %164 = "stablehlo.broadcast_in_dim"(%163) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x32xf32>) -> tensor<2x8x32xf32>
    %165 = "stablehlo.multiply"(%162, %164) : (tensor<2x8x32xf32>, tensor<2x8x32xf32>) -> tensor<2x8x32xf32>
    %166 = "stablehlo.dot_general"(%165, %arg7) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x32xf32>, tensor<32x128xf32>) -> tensor<2x8x128xf32>
    %167 = "func.call"(%166) <{callee = @silu}> : (tensor<2x8x128xf32>) -> tensor<2x8x128xf32>
    %168 = "stablehlo.dot_general"(%165, %arg13) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x32xf32>, tensor<32x128xf32>) -> tensor<2x8x128xf32>
    %169 = "stablehlo.multiply"(%167, %168) : (tensor<2x8x128xf32>, tensor<2x8x128xf32>) -> tensor<2x8x128xf32>
    %170 = "stablehlo.dot_general"(%169, %arg6) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x128xf32>, tensor<128x32xf32>) -> tensor<2x8x32xf32>
    %171 = "stablehlo.add"(%149, %170) : (tensor<2x8x32xf32>, tensor<2x8x32xf32>) -> tensor<2x8x32xf32>
    "func.return"(%171) : (tensor<2x8x32xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<8x8xi1>) -> tensor<8x8xi1>, res_attrs = [{}], sym_name = "tril", sym_visibility = "private"}> ({
  ^bb0(%arg4: tensor<8x8xi1>):
    %13 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<8x8xi32>
    %14 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %15 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<8x8xi32>
    %16 = "stablehlo.add"(%13, %15) : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi32>
    %17 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<8x8xi32>
    %18 = "stablehlo.compare"(%16, %17) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
    %19 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<8x8xi1>
    %21 = "stablehlo.select"(%18, %arg4, %20) : (tensor<8x8xi1>, tensor<8x8xi1>, tensor<8x8xi1>) -> tensor<8x8xi1>
    "func.return"(%21) : (tensor<8x8xi1>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<8x8xi1>, tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg1: tensor<8x8xi1>, %arg2: tensor<2x4x8x8xf32>, %arg3: tensor<f32>):
    %9 = "stablehlo.convert"(%arg3) : (tensor<f32>) -> tensor<f32>
    %10 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 2, 3>}> : (tensor<8x8xi1>) -> tensor<2x4x8x8xi1>
    %11 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x8x8xf32>
    %12 = "stablehlo.select"(%10, %arg2, %11) : (tensor<2x4x8x8xi1>, tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    "func.return"(%12) : (tensor<2x4x8x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<2x8x128xf32>) -> tensor<2x8x128xf32>, res_attrs = [{}], sym_name = "silu", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<2x8x128xf32>):
    %0 = "stablehlo.negate"(%arg0) : (tensor<2x8x128xf32>) -> tensor<2x8x128xf32>
    %1 = "stablehlo.exponential"(%0) : (tensor<2x8x128xf32>) -> tensor<2x8x128xf32>
    %2 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x128xf32>
    %4 = "stablehlo.add"(%3, %1) : (tensor<2x8x128xf32>, tensor<2x8x128xf32>) -> tensor<2x8x128xf32>
    %5 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x128xf32>
    %7 = "stablehlo.divide"(%6, %4) : (tensor<2x8x128xf32>, tensor<2x8x128xf32>) -> tensor<2x8x128xf32>
    %8 = "stablehlo.multiply"(%arg0, %7) : (tensor<2x8x128xf32>, tensor<2x8x128xf32>) -> tensor<2x8x128xf32>
    "func.return"(%8) : (tensor<2x8x128xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
