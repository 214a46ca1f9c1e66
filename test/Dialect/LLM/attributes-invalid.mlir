// RUN: shard-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{expected a sharding dim: 0, 1, none or 3 to 7}}
func.func private @dim_two() attributes {a = #llm.dim<2>}

// -----

// expected-error @+1 {{expected a sharding dim: 0, 1, none or 3 to 7}}
func.func private @dim_word() attributes {a = #llm.dim<one>}

// -----

// expected-error @+1 {{'tp' must be positive, found 0}}
func.func private @tp() attributes {a = #llm.strategy<tp = 0>}

// -----

// expected-error @+1 {{'ep' must be positive, found -1}}
func.func private @ep() attributes {a = #llm.strategy<ep = -1>}

// -----

// expected-error @+1 {{'pp' must be positive, found 0}}
func.func private @pp() attributes {a = #llm.strategy<pp = 0>}

// -----

// expected-error @+1 {{'batch' must be positive, found 0}}
func.func private @batch() attributes {a = #llm.strategy<batch = 0>}

// -----

// expected-error @+1 {{'tp' must be at most 1048576, found 9223372036854775807}}
func.func private @tp_huge() attributes {a = #llm.strategy<tp = 9223372036854775807>}

// -----

// expected-error @+1 {{'batch' must be at most 2147483648, found 2147483649}}
func.func private @batch_huge() attributes {a = #llm.strategy<batch = 2147483649>}

// -----

// expected-error @+1 {{'context' must be positive, found 0}}
func.func private @context() attributes {a = #llm.workload<phase = decode, context = 0>}

// -----

// expected-error @+2 {{expected a phase: decode or prefill}}
// expected-error @+1 {{failed to parse LLM_WorkloadAttr parameter 'phase'}}
func.func private @phase() attributes {a = #llm.workload<phase = training, context = 1>}

// -----

// (C1)
// expected-error @+1 {{'isl' is 0, expected a whole number from 1 to}}
func.func private @isl() attributes {a = #llm.workload<phase = decode, context = 1, isl = 0, osl = 1>}

// -----

// (C1)
// expected-error @+1 {{'concurrency' is 1.5, expected a whole number from 1 to}}
func.func private @whole() attributes {a = #llm.workload<phase = decode, context = 1, isl = 1, osl = 1, concurrency = 1.5>}

// -----

// (C2)
// expected-error @+1 {{'isl' and 'osl' go together, and 'osl' is missing}}
func.func private @osl() attributes {a = #llm.workload<phase = decode, context = 1, isl = 4>}

// -----

// (C3)
// expected-error @+1 {{'rate' is given without 'isl' and 'osl', the lengths of requests}}
func.func private @lengths() attributes {a = #llm.workload<phase = decode, context = 1, rate = 2>}

// -----

// (C4)
// expected-error @+1 {{'concurrency' is 1 and 'rate' 2, expected one of them}}
func.func private @both() attributes {a = #llm.workload<phase = decode, context = 1, isl = 1, osl = 1, concurrency = 1, rate = 2>}

// -----

// (C5)
// expected-error @+1 {{'accepted_tokens' is 3, expected at most 'draft_tokens', 2}}
func.func private @drafts() attributes {a = #llm.workload<phase = decode, context = 1, isl = 1, osl = 1, draft_tokens = 2, accepted_tokens = 3>}

// -----

// (C5)
// expected-error @+1 {{'accepted_tokens' is 3 and 'draft_tokens' is missing, expected both}}
func.func private @accepted() attributes {a = #llm.workload<phase = decode, context = 1, isl = 1, osl = 1, accepted_tokens = 3>}

// -----

// (C1)
// expected-error @+1 {{'prefix_cache_hit_rate' is -0.5, expected a number from 0 to 0.999}}
func.func private @negative() attributes {a = #llm.workload<phase = decode, context = 1, isl = 1, osl = 1, prefix_hit = -0.5>}

// -----

// (C1)
// expected-error @+1 {{'isl' is -4, expected a whole number from 1 to}}
func.func private @below() attributes {a = #llm.workload<phase = decode, context = 1, isl = -4, osl = 1>}

// -----

// (C6)
// expected-error @+1 {{'context' is 6, expected at most 5, the tokens of a prompt and its answer}}
func.func private @longer() attributes {a = #llm.workload<phase = decode, context = 6, isl = 4, osl = 1>}

// -----

// (C6)
// expected-error @+1 {{'context' is 5, expected at most 4, the tokens of a prompt}}
func.func private @prompt() attributes {a = #llm.workload<phase = prefill, context = 5, isl = 4, osl = 1>}

// -----

// expected-error @+1 {{'tpot_ms' is 'true', expected a number above 0, and at most}}
func.func private @boolean() attributes {a = #llm.workload<phase = decode, context = 1, tpot_ms = true>}

// -----

// expected-error @+1 {{'tpot_ms' has a second sign, expected a number above 0, and at most}}
func.func private @signs() attributes {a = #llm.workload<phase = decode, context = 1, tpot_ms = - -4>}

// -----

// expected-error @+1 {{unknown number of requests 'islands'; known: isl}}
func.func private @unknown() attributes {a = #llm.workload<phase = decode, context = 1, islands = 4>}

// -----

// expected-error @+1 {{'isl' is given twice}}
func.func private @twice() attributes {a = #llm.workload<phase = decode, context = 1, isl = 4, isl = 4>}

// -----

// (C1) of a service
// expected-error @+1 {{'decode_workers' must be positive, found 0}}
func.func private @decoders() attributes {a = #llm.service<engine = "vllm", concurrency = 1, decode_workers = 0, decode = <tp = 1, ep = 1, pp = 1, batch = 1>>}

// -----

// (C2) of a service
// expected-error @+1 {{'prefill_workers' is 2 and 'prefill' is missing, expected a positive number and a strategy, or neither}}
func.func private @readers() attributes {a = #llm.service<engine = "vllm", concurrency = 1, decode_workers = 1, decode = <tp = 1, ep = 1, pp = 1, batch = 1>, prefill_workers = 2>}

// -----

// (C4) of a service
// expected-error @+1 {{'prefill_machine' is "h100_sxm", and there are no 'prefill_workers'}}
func.func private @machine() attributes {a = #llm.service<engine = "vllm", concurrency = 1, decode_workers = 1, decode = <tp = 1, ep = 1, pp = 1, batch = 1>, decode_machine = "h200_sxm", prefill_machine = "h100_sxm">}

// -----

// (C4) of a service
// expected-error @+1 {{'decode_machine' and 'prefill_machine' go together, and 'decode_machine' is missing}}
func.func private @machines() attributes {a = #llm.service<engine = "vllm", concurrency = 1, decode_workers = 1, decode = <tp = 1, ep = 1, pp = 1, batch = 1>, prefill_machine = "h100_sxm">}

// -----

// (C4) of a service
// expected-error @+1 {{'prefill_machine' is empty, expected a machine or its file}}
func.func private @nameless_reader() attributes {a = #llm.service<engine = "vllm", concurrency = 1, decode_workers = 1, decode = <tp = 1, ep = 1, pp = 1, batch = 1>, prefill_workers = 1, prefill = <tp = 1, ep = 1, pp = 1, batch = 1>, decode_machine = "h200_sxm", prefill_machine = "">}

// -----

// (C4) of a service
// expected-error @+1 {{'decode_machine' is empty, expected a machine or its file}}
func.func private @nameless_decoder() attributes {a = #llm.service<engine = "vllm", concurrency = 1, decode_workers = 1, decode = <tp = 1, ep = 1, pp = 1, batch = 1>, prefill_workers = 1, prefill = <tp = 1, ep = 1, pp = 1, batch = 1>, decode_machine = "", prefill_machine = "h100_sxm">}

// -----

// expected-error @+1 {{'decoders' is given twice}}
func.func private @former_and_current() attributes {a = #llm.service<engine = "vllm", concurrency = 1, decode_workers = 1, decoders = 1>}

// -----

// expected-error @+1 {{unknown member 'writers'; known: engine}}
func.func private @unknown_member() attributes {a = #llm.service<writers = 1>}

// -----

// expected-error @+1 {{'decode' is missing}}
func.func private @missing() attributes {a = #llm.service<engine = "vllm", concurrency = 1, decode_workers = 1>}

// -----

// (C5) of a service
// expected-error @+1 {{unknown engine 'vlm'; known: vllm}}
func.func private @engine() attributes {a = #llm.service<engine = "vlm", concurrency = 1, decode_workers = 1, decode = <tp = 1, ep = 1, pp = 1, batch = 1>>}

// -----

// (C3) of a service
// expected-error @+1 {{'decode' must be a complete strategy, 'pp' is missing}}
func.func private @complete() attributes {a = #llm.service<engine = "vllm", concurrency = 1, decode_workers = 1, decode = <tp = 1, ep = 1, batch = 1>>}

// -----

// expected-error @+1 {{'llm.service' must be an '#llm.service', found 3 : i64}}
module attributes {llm.service = 3 : i64} {}

// -----

// expected-error @+1 {{'dim' must be even and positive, found 63}}
func.func private @odd_rope() attributes {a = #llm.rope<dim = 63, theta = 1.0e4>}

// -----

// expected-error @+1 {{'theta' must be a positive finite number, found 0}}
func.func private @theta() attributes {a = #llm.rope<dim = 64, theta = 0.0>}

// -----

// expected-error @+1 {{'factor' must be a positive finite number, found -2}}
func.func private @factor() attributes {a = #llm.rope<dim = 64, theta = 1.0e4, scaling = linear, factor = -2.0>}

// -----

// expected-error @+1 {{'low_freq_factor' must be a positive finite number, found 0}}
func.func private @low_freq() attributes {a = #llm.rope<dim = 64, theta = 1.0e4, low_freq_factor = 0.0>}

// -----

// expected-error @+1 {{'high_freq_factor' must be a positive finite number, found 0}}
func.func private @high_freq() attributes {a = #llm.rope<dim = 64, theta = 1.0e4, high_freq_factor = 0.0>}

// -----

// expected-error @+1 {{'beta_fast' must be a positive finite number, found 0}}
func.func private @beta_fast() attributes {a = #llm.rope<dim = 64, theta = 1.0e4, beta_fast = 0.0>}

// -----

// expected-error @+1 {{'beta_slow' must be a positive finite number, found 0}}
func.func private @beta_slow() attributes {a = #llm.rope<dim = 64, theta = 1.0e4, beta_slow = 0.0>}

// -----

// expected-error @+1 {{'magnitude' must be a positive finite number, found 0}}
func.func private @magnitude() attributes {a = #llm.rope<dim = 64, theta = 1.0e4, magnitude = 0.0>}

// -----

// expected-error @+1 {{'original_context' must be positive for scaling 'yarn', found 0}}
func.func private @yarn_context() attributes {a = #llm.rope<dim = 64, theta = 1.0e4, scaling = yarn>}

// -----

// expected-error @+1 {{'original_context' must be positive for scaling 'llama3', found 0}}
func.func private @llama3_context() attributes {a = #llm.rope<dim = 64, theta = 1.0e4, scaling = llama3>}

// -----

// expected-error @+1 {{'limit' must be a finite number and not negative, found -7}}
func.func private @limit() attributes {a = #llm.activation<kind = silu, gated = true, limit = -7.0>}

// -----

// expected-error @+1 {{'alpha' belongs to silu and soft_cap, found it on gelu}}
func.func private @alpha() attributes {a = #llm.activation<kind = gelu, alpha = 1.702>}

// -----

// expected-error @+1 {{soft_cap is not gated}}
func.func private @gated_cap() attributes {a = #llm.activation<kind = soft_cap, gated = true, limit = 30.0>}

// -----

// expected-error @+1 {{'limit' and 'shift' belong to a gated activation}}
func.func private @shift() attributes {a = #llm.activation<kind = silu, shift = 1.0>}

// -----

// expected-error @+1 {{'limit' and 'shift' belong to a gated activation}}
func.func private @plain_limit() attributes {a = #llm.activation<kind = silu, limit = 7.0>}

// -----

// expected-error @+2 {{expected ::shardopt::llm::Scoring to be one of: softmax, sigmoid}}
// expected-error @+1 {{failed to parse LLM_ScoringAttr parameter 'value'}}
func.func private @scoring() attributes {a = #llm.scoring<linear>}

// -----

// expected-error @+1 {{'llm.machine' must be a string, found 8}}
module attributes {llm.machine = 8 : i64} {}

// -----

// expected-error @+1 {{'divisors' belong to scaling 'longrope', found none with 'longrope'}}
func.func private @no_divisors() attributes {a = #llm.rope<dim = 4, theta = 1.0e4, scaling = longrope>}

// -----

// expected-error @+1 {{'divisors' belong to scaling 'longrope', found them with 'none'}}
func.func private @plain_divisors() attributes {a = #llm.rope<dim = 4, theta = 1.0e4, divisors = [1.0, 2.5]>}

// -----

// expected-error @+1 {{'divisors' must have 2 entries, one a rotary pair, found 3}}
func.func private @three_divisors() attributes {a = #llm.rope<dim = 4, theta = 1.0e4, scaling = longrope, divisors = [1.0, 2.5, 3.0]>}

// -----

// expected-error @+1 {{'divisors' must be positive finite numbers, found 0}}
func.func private @zero_divisor() attributes {a = #llm.rope<dim = 4, theta = 1.0e4, scaling = longrope, divisors = [1.0, 0.0]>}

// -----

// expected-error @+1 {{'llm.planned_only' must be a string, found unit}}
module attributes {llm.planned_only} {}

// -----

// expected-error @+1 {{'llm.model' must be a string, found unit}}
module attributes {llm.model} {}

// -----

// expected-error @+1 {{'llm.workload' must be an '#llm.workload', found "decode"}}
module attributes {llm.workload = "decode"} {}

// -----

// expected-error @+1 {{'llm.strategy' must be an '#llm.strategy', found #llm.dim<0>}}
module attributes {llm.strategy = #llm.dim<0>} {}

// -----

// expected-error @+1 {{'llm.machine' belongs on a 'builtin.module', found on 'func.func'}}
func.func private @machine_on_function() attributes {llm.machine = "h100_sxm"}

// -----

// expected-error @+1 {{'llm.strategy' belongs on a 'builtin.module', found on argument 0}}
func.func private @strategy_on_argument(tensor<?xi32> {llm.strategy = #llm.strategy<>})

// -----

// expected-error @+1 {{'llm.role' belongs on arguments and results of functions, found on 'builtin.module'}}
module attributes {llm.role = "tokens"} {}

// -----

// Known names come closest first.
// expected-error @+1 {{unknown attribute 'llm.strateg', known: llm.strategy, llm.service, llm.role,}}
module attributes {llm.strateg = #llm.strategy<>} {}

// -----

// expected-error @+1 {{unknown attribute 'llm.rule', known: llm.}}
func.func private @unknown_on_argument(tensor<?xi32> {llm.rule = "tokens"})

// -----

func.func @unknown_on_op(%a: tensor<?x8xbf16>) {
  // expected-error @+1 {{unknown attribute 'llm.note', known: llm.}}
  %b = llm.add %a, %a {llm.note = 1 : i64} : tensor<?x8xbf16>
  return
}

// -----

// expected-error @+1 {{unknown role 'token' of argument 1, known: tokens, token_ids,}}
func.func private @role(tensor<?xi32>, tensor<?xi32> {llm.role = "token"})

// -----

// expected-error @+1 {{unknown role 'ids' of result 0, known: }}
func.func private @result_role() -> (tensor<?xi32> {llm.role = "ids"})

// -----

// expected-error @+1 {{'llm.role' of argument 0 must be a string, found 1 : i64}}
func.func private @role_type(tensor<?xi32> {llm.role = 1 : i64})

// -----

// expected-error @+1 {{'llm.param' of argument 0 must be a string, found 1 : i64}}
func.func private @param_type(tensor<8xf32> {llm.param = 1 : i64})

// -----

// expected-error @+1 {{'llm.source' of argument 0 must be a dictionary, found "w"}}
func.func private @source_type(tensor<8xf32> {llm.source = "w"})

// -----

// expected-error @+1 {{'llm.layers' of argument 0 must be numbers of layers, #llm.layers<0-3>, found array<i64: 0, 1>}}
func.func private @layers_type(tensor<2x8xf32> {llm.layers = array<i64: 0, 1>})

// -----

// expected-error @+1 {{'llm.layers' of argument 0 must be one number for each layer of the stack, 2, found #llm.layers<0-2>}}
func.func private @layers_count(tensor<2x8xf32> {llm.layers = #llm.layers<0-2>})

// -----

// expected-error @+1 {{expected at most 1048576 layers, one an iteration}}
func.func private @layers_range(tensor<2x8xf32> {llm.layers = #llm.layers<0-9223372036854775807>})

// -----

// expected-error @+1 {{'llm.param' belongs on arguments of functions, found on result 0}}
func.func private @param_result() -> (tensor<8xf32> {llm.param = "w"})

// -----

// expected-error @+1 {{'llm.source' belongs on arguments of functions, found on 'builtin.module'}}
module attributes {llm.source = {}} {}

// -----

// expected-error @+1 {{unknown degree 'tpp'; known: tp, pp, tp2, dp, ep, cp, eplb, batch, stages, exchange}}
module attributes {llm.strategy = #llm.strategy<tp = 8, tpp = 2>} {}

// -----

// expected-error @+1 {{'exchange' is 'all', expected all_to_all or gather}}
module attributes {llm.strategy = #llm.strategy<tp = 8, exchange = all>} {}

// -----

// expected-error @+1 {{'stages' has 0 layers in stage 1, expected 1 to 1048576}}
module attributes {llm.strategy = #llm.strategy<pp = 2, stages = [3, 0]>} {}

// -----

// expected-error @+1 {{'stages' has the layers of 1 stage, expected as many as pp, 2}}
module attributes {llm.strategy = #llm.strategy<pp = 2, stages = [3]>} {}

// -----

// expected-error @+1 {{'stages' is empty, expected a list of the layers of each stage}}
module attributes {llm.strategy = #llm.strategy<pp = 2, stages = []>} {}

// -----

// expected-error @+1 {{'stages' is given twice}}
module attributes {llm.strategy = #llm.strategy<stages = [3, 1], stages = [3, 1]>} {}

// -----

// expected-error @+1 {{'tp' is given twice}}
module attributes {llm.strategy = #llm.strategy<tp = 8, tp = 2>} {}

// -----

// expected-error @+1 {{'top_k' must be positive, found 0}}
func.func private @indexer_of_none() attributes {a = #llm.indexer<heads = 2, dim = 4, top_k = 0, epsilon = 1.0e-6>}

// -----

// expected-error @+1 {{'epsilon' must be a positive finite number, found 0}}
func.func private @indexer_without_epsilon() attributes {a = #llm.indexer<heads = 2, dim = 4, top_k = 3, epsilon = 0.0>}
