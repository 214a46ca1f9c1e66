"""How far logits may be from those that Transformers computes."""

# Of the largest logit. Transformers computes in f32; its logits of models with gated
# delta nets are up to 4e-5 from what it computes in f64.
OF_DELTA_NETS = 5e-5


def tolerance_of(model, otherwise):
    """Of the largest logit of the model in a folder."""
    has_delta_nets = "linear_num_key_heads" in (model / "config.json").read_text()
    return OF_DELTA_NETS if has_delta_nets else otherwise
