// RUN: shard-opt %s | shard-opt | FileCheck %s
// RUN: shard-opt %s --mlir-print-op-generic | shard-opt | FileCheck %s
// RUN: shard-opt %s --emit-bytecode | shard-opt | FileCheck %s

// CHECK-LABEL: @dim
// CHECK-SAME:    a = #llm.dim<0>, b = #llm.dim<1>, c = #llm.dim<none>
func.func private @dim() attributes {a = #llm.dim<0>, b = #llm.dim<1>, c = #llm.dim<none>}

// CHECK-LABEL: @strategy
// CHECK-SAME:    all = #llm.strategy<tp = 8, ep = 16, pp = 4, batch = 8192>
// CHECK-SAME:    cut = #llm.strategy<tp = 1, ep = 1, pp = 3, batch = 8, stages = [8, 8, 7]>
// CHECK-SAME:    none = #llm.strategy<>
// CHECK-SAME:    pin = #llm.strategy<pp = 2>
func.func private @strategy() attributes {
  all = #llm.strategy<tp = 8, ep = 16, pp = 4, batch = 8192>,
  none = #llm.strategy<>,
  cut = #llm.strategy<tp = 1, ep = 1, stages = [8, 8, 7], pp = 3, batch = 8>,
  pin = #llm.strategy<pp = 2>}

// CHECK-LABEL: @workload
// CHECK-SAME:    a = #llm.workload<phase = decode, context = 16384>
// CHECK-SAME:    b = #llm.workload<phase = prefill, context = 1>
func.func private @workload() attributes {
  a = #llm.workload<phase = decode, context = 16384>,
  b = #llm.workload<phase = prefill, context = 1>}

// What is said of requests is in the order of the table; -0.0 and 1.0e-7 are reals.
// CHECK-LABEL: @requests
// CHECK-SAME:    a = #llm.workload<phase = decode, context = 4608, isl = 4096, osl = 512, concurrency = 64, tpot_ms = 30, ttft_ms = 1000>
// CHECK-SAME:    b = #llm.workload<phase = prefill, context = 100, isl = 100, osl = 1, rate = 0.25, draft_tokens = 3, accepted_tokens = 1.5, prefix_cache_hit_rate = 0, expert_imbalance = 0.3>
// CHECK-SAME:    c = #llm.workload<phase = decode, context = 1, tpot_ms = 1.0e-07>
func.func private @requests() attributes {
  a = #llm.workload<phase = decode, context = 4608, tpot_ms = 30.0, ttft_ms = 1000, osl = 512, isl = 4096, concurrency = 64>,
  b = #llm.workload<phase = prefill, context = 100, isl = 100, osl = 1, rate = 0.25, draft_tokens = 3, accepted_tokens = 1.5, prefix_cache_hit_rate = -0.0, expert_imbalance = 0.3>,
  c = #llm.workload<phase = decode, context = 1, tpot_ms = 1.0e-7>}

// CHECK-LABEL: @service
// CHECK-SAME:    a = #llm.service<engine = "vllm", concurrency = 362, decode_workers = 2, decode = <tp = 2, ep = 1, pp = 1, batch = 180>, prefill_workers = 4, prefill = <tp = 1, ep = 1, pp = 1, batch = 1>, decode_machine = "h200_sxm", prefill_machine = "h100\22_sxm">
// CHECK-SAME:    b = #llm.service<engine = "sglang", concurrency = 1, decode_workers = 1, decode = <tp = 8, ep = 1, pp = 1, batch = 1>>
func.func private @service() attributes {
  a = #llm.service<engine = "vllm", concurrency = 362, decode_workers = 2, decode = <tp = 2, ep = 1, pp = 1, batch = 180>, prefill_workers = 4, prefill = <tp = 1, ep = 1, pp = 1, batch = 1>, decode_machine = "h200_sxm", prefill_machine = "h100\22_sxm">,
  b = #llm.service<engine = "sglang", concurrency = 1, decode_workers = 1, decode = <tp = 8, ep = 1, pp = 1, batch = 1>>}

// Fields with their default value are not printed.
// CHECK-LABEL: @rope
// CHECK-SAME:    a = #llm.rope<dim = 64, theta = 10000.0>
// CHECK-SAME:    b = #llm.rope<dim = 64, theta = 10000.0, style = interleaved, scaling = linear, factor = 2.0>
// CHECK-SAME:    c = #llm.rope<dim = 128, theta = 5.0e5, scaling = llama3, factor = 8.0, low_freq_factor = 2.0, high_freq_factor = 8.0, original_context = 8192>
// CHECK-SAME:    d = #llm.rope<dim = 64, theta = 150000.0, scaling = yarn, factor = 32.0, beta_fast = 16.0, beta_slow = 2.0, original_context = 4096, truncate = false, magnitude = 1.3465735902799727>
// CHECK-SAME:    e = #llm.rope<dim = 4, theta = 10000.0, scaling = longrope, divisors = {{\[}}1.000000e+00, 2.500000e+00]>
func.func private @rope() attributes {
  a = #llm.rope<dim = 64, theta = 1.0e4, style = half, scaling = none, factor = 1.0>,
  b = #llm.rope<dim = 64, theta = 1.0e4, style = interleaved, scaling = linear, factor = 2.0>,
  c = #llm.rope<dim = 128, theta = 5.0e5, scaling = llama3, factor = 8.0, low_freq_factor = 2.0, high_freq_factor = 8.0, original_context = 8192>,
  d = #llm.rope<dim = 64, theta = 1.5e5, scaling = yarn, factor = 32.0, beta_fast = 16.0, beta_slow = 2.0, original_context = 4096, truncate = false, magnitude = 1.3465735902799727>,
  e = #llm.rope<dim = 4, theta = 1.0e4, scaling = longrope, divisors = [1.0, 2.5]>}

// CHECK-LABEL: @activation
// CHECK-SAME:    a = #llm.activation<kind = silu, gated = true>
// CHECK-SAME:    b = #llm.activation<kind = gelu>
// CHECK-SAME:    c = #llm.activation<kind = gelu_tanh>
// CHECK-SAME:    d = #llm.activation<kind = relu>
// CHECK-SAME:    e = #llm.activation<kind = silu, gated = true, alpha = 1.702, limit = 7.0, shift = 1.0>
func.func private @activation() attributes {
  a = #llm.activation<kind = silu, gated = true>,
  b = #llm.activation<kind = gelu, gated = false>,
  c = #llm.activation<kind = gelu_tanh>,
  d = #llm.activation<kind = relu>,
  e = #llm.activation<kind = silu, gated = true, alpha = 1.702, limit = 7.0, shift = 1.0>}

// CHECK-LABEL: @enums
// CHECK-SAME:    a = #llm.scoring<softmax>, b = #llm.scoring<sigmoid>
// CHECK-SAME:    c = #llm<attention_kind gqa>, d = #llm<attention_kind mla>
func.func private @enums() attributes {
  a = #llm.scoring<softmax>, b = #llm.scoring<sigmoid>,
  c = #llm<attention_kind gqa>, d = #llm<attention_kind mla>}

// CHECK: module attributes {llm.machine = "h100_sxm", llm.model = "tiny"
// CHECK-SAME: llm.strategy = #llm.strategy<tp = 8>
// CHECK-SAME: llm.workload = #llm.workload<phase = decode, context = 8192>
module attributes {llm.machine = "h100_sxm", llm.model = "tiny", llm.strategy = #llm.strategy<tp = 8>,
                   llm.workload = #llm.workload<phase = decode, context = 8192>} {
  // CHECK: @roles
  // CHECK-SAME: "tokens"}{{.*}}"positions"}{{.*}}"cache"}{{.*}}"cache"}{{.*}}"token_ids"}{{.*}}"logits"}
  func.func private @roles(tensor<?xi32> {llm.role = "tokens"}, tensor<?xi32> {llm.role = "positions"},
                           tensor<?x?x2x8xbf16> {llm.role = "cache"})
      -> (tensor<?x?x2x8xbf16> {llm.role = "cache"}, tensor<?xi32> {llm.role = "token_ids"},
          tensor<?x101xbf16> {llm.role = "logits"})

  // CHECK: @weights
  // CHECK-SAME: {llm.layers = #llm.layers<3-4>, llm.param = "w", llm.role = "param", llm.source = {parts = [{pattern = "layers.{layer}.w"}]}}
  func.func private @weights(tensor<2x8xf32> {llm.role = "param", llm.param = "w", llm.layers = #llm.layers<3-4>,
                                              llm.source = {parts = [{pattern = "layers.{layer}.w"}]}})
}
