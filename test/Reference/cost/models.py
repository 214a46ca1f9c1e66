"""Sizes of models, from Hugging Face configs."""

from dataclasses import dataclass

WEIGHT_BYTES = {"bf16": 2, "fp8": 1, "mxfp4": 17 / 32}
ACTIVATION_BYTES = {"f32": 4, "bf16": 2, "f16": 2, "fp8": 1}

ARCHITECTURES = (
    "LlamaForCausalLM",
    "Qwen2ForCausalLM",
    "Qwen3ForCausalLM",
    "MixtralForCausalLM",
    "Qwen3MoeForCausalLM",
    "DeepseekV3ForCausalLM",
    "GptOssForCausalLM",
    "GptMoeForCausalLM",
    "Starcoder2ForCausalLM",
)


@dataclass(frozen=True)
class Layer:
    """What may differ from layer to layer."""

    kind: str  # "dense" or "moe"
    window: int = None  # tokens that attention sees, None for all


class Model:
    """Sizes of a model, read from a Hugging Face config.json (a dict).

    weight_type: None (as the config says), "bf16", "fp8" or "mxfp4".
    """

    def __init__(self, config, weight_type=None, kv_type="bf16", activation_type="bf16"):
        architecture = config["architectures"][0]
        if architecture not in ARCHITECTURES:
            raise ValueError(f"unknown architecture '{architecture}'")
        get = config.get
        self.h = config["hidden_size"]
        self.vocab = config["vocab_size"]
        self.nq = config["num_attention_heads"]
        self.nkv = get("num_key_value_heads") or self.nq
        self.dh = get("head_dim") or self.h // self.nq
        starcoder = architecture == "Starcoder2ForCausalLM"
        self.tied = bool(get("tie_word_embeddings", starcoder))
        self.gated = architecture != "GptMoeForCausalLM" and not starcoder
        # Of squares, and of features where a norm subtracts their mean.
        self.norm_sums = 2 if starcoder else 1
        self.qk_norm = architecture.startswith("Qwen3")

        self.mla = architecture == "DeepseekV3ForCausalLM"
        if self.mla:
            self.Rq = get("q_lora_rank") or 0
            self.Rk = config["kv_lora_rank"]
            self.dn = config["qk_nope_head_dim"]
            self.dr = config["qk_rope_head_dim"]
            self.dv = config["v_head_dim"]
            self.Rc = self.Rk + self.dr

        self.E = get("num_local_experts") or get("num_experts") or get("n_routed_experts") or 0
        self.k = get("num_experts_per_tok") or 0
        self.ff_dense = config["intermediate_size"]
        self.ff_moe = get("moe_intermediate_size") or config["intermediate_size"]
        self.ff_shared = 0
        if self.E and get("n_shared_experts"):
            self.ff_shared = get("n_shared_experts") * self.ff_moe
        elif self.E:
            self.ff_shared = get("shared_expert_intermediate_size") or 0

        self.layers = [
            Layer(self._kind(config, i), self._window(config, i))
            for i in range(config["num_hidden_layers"])
        ]
        present = {layer.kind for layer in self.layers}
        self.kinds = [kind for kind in ("dense", "moe") if kind in present]

        self._read_types(config, weight_type)
        self.kvb = ACTIVATION_BYTES[kv_type]
        self.ab = ACTIVATION_BYTES[activation_type]

    def _kind(self, config, i):
        dense = (
            not self.E
            or i < (config.get("first_k_dense_replace") or 0)
            or i in (config.get("mlp_only_layers") or [])
            or (i + 1) % (config.get("decoder_sparse_step") or 1) != 0
        )
        return "dense" if dense else "moe"

    @staticmethod
    def _window(config, i):
        window = config.get("sliding_window")
        if window is None or config.get("use_sliding_window") is False:
            return None
        types = config.get("layer_types")
        return window if types is None or types[i] == "sliding_attention" else None

    def _read_types(self, config, weight_type):
        """The weight type of the classes that quantisation may touch."""
        classes = ("self_attn", "mlp", "experts", "shared_experts")
        quantization = config.get("quantization_config") or {}
        method = quantization.get("quant_method")
        exceptions = quantization.get("modules_to_not_convert") or []
        if weight_type is not None:
            method, exceptions = (None if weight_type == "bf16" else weight_type), []
        if method is None:
            quantized = set()
        elif method == "fp8":
            quantized = set(classes)
        elif method == "mxfp4":
            quantized = {"experts"}
        else:
            raise ValueError(f"unknown quantization method '{method}'")
        quantized -= {entry.split(".")[-1] for entry in exceptions}
        self.types = {c: method if c in quantized else "bf16" for c in classes}

    def body_ops(self, kind):
        """Names of a layer's ops, without the prefix of the stack."""
        if not self.mla:
            attention = ["qkv_proj", "attention", "out_proj"]
        elif self.Rq:
            attention = ["q_down", "q_up", "kv_down", "attention", "out_proj"]
        else:
            attention = ["q_proj", "kv_down", "attention", "out_proj"]
        if kind == "dense":
            ffn = ["ffn_up", "ffn_down"]
        else:
            ffn = ["router", "dispatch", "ffn_up", "ffn_down", "combine"]
            if self.ff_shared:
                ffn += ["shared_up", "shared_down"]
        return ["attn_norm"] + attention + ["ffn_norm"] + ffn

    def prefix(self, kind):
        return kind + "." if len(self.kinds) > 1 else ""

    def op_names(self):
        """Names of all ops, in the order of a strategy's dims."""
        body = [self.prefix(kind) + op for kind in self.kinds for op in self.body_ops(kind)]
        return ["embed"] + body + ["lm_head"]

    def both_dims_ops(self):
        """Names of the ops that may have dim 3: projections of no routed experts."""
        names = []
        for kind in self.kinds:
            own = ["ffn_up", "ffn_down"] if kind == "dense" else ["shared_up", "shared_down"]
            names += [self.prefix(kind) + op for op in own if op in self.body_ops(kind)]
        return names

    def parameters(self):
        """Number of parameters held by the ops (norms and biases left out)."""
        h = self.h
        if self.mla:
            queries = self.nq * (self.dn + self.dr)
            attention = h * self.Rq + self.Rq * queries if self.Rq else h * queries
            attention += h * self.Rc + self.nq * self.Rk * (self.dn + self.dv)
            attention += self.nq * self.dv * h
        else:
            attention = h * (self.nq + 2 * self.nkv) * self.dh + self.nq * self.dh * h
        matrices = 3 if self.gated else 2
        ffn = {
            "dense": matrices * h * self.ff_dense,
            "moe": matrices * h * (self.E * self.ff_moe + self.ff_shared) + h * self.E,
        }
        layers = sum(attention + ffn[layer.kind] for layer in self.layers)
        return layers + (1 if self.tied else 2) * self.vocab * h
