// RUN: shard-opt %s --convert-llm-to-linalg --verify-diagnostics

func.func @f() -> tensor<4xf32> {
  // expected-error @below {{'llm.param' op is a weight without a value: run --llm-params-to-arguments first}}
  %w = llm.param @norm.weight : tensor<4xf32>
  return %w : tensor<4xf32>
}
