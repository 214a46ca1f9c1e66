"""One case an op, piece or option.

Sizes are odd where they may be. Arguments are random unless a case gives them.
"""

from . import attention, experts, heads, projections, states


def all_cases():
    groups = (
        projections.embeddings, projections.norms, projections.projections,
        attention.gqa_attentions, attention.mla_attentions, attention.cut_heads, attention.repeats,
        states.delta_nets, states.mamba2s,
        experts.routers, experts.scaled_rows, experts.top_ks, experts.dispatches, experts.feed_forwards,
        experts.exchanges, experts.homes, heads.features, heads.heads,
    )  # fmt: skip
    return [case for group in groups for case in group()]
