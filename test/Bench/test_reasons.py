"""What is said of dims that pay."""

import unittest

from dims import reasons

STYLE = {"attn_norm": 2, "attention": 0, "dispatch": 2, "ffn_up": 1, "ffn_down": 0, "combine": 2}


def plan(dims, **moved):
    """A plan with collectives of some ops: kind, microseconds, bytes."""
    rows = [
        {"op": op, "collective": kind, "collective_us": time, "bytes": count}
        for op, (kind, time, count) in moved.items()
    ]
    return {"strategy": {"dims": {**STYLE, **dims}}, "breakdown": rows}


class Reasons(unittest.TestCase):
    def test_equal_dims_have_none_but_their_sum(self):
        same = plan({}, attn_norm=("all_reduce", 20, 3e6))
        self.assertEqual(
            list(reasons.sentences(same, same)),
            [
                "All collectives together: 20 µs, 3 MB; with the style's dims at these"
                " degrees 20 µs, 3 MB."
            ],
        )

    def test_norms_on_tokens_scatter(self):
        said = next(
            reasons.sentences(
                plan({"attn_norm": 0}, attn_norm=("reduce_scatter", 10, 3e6)),
                plan({}, attn_norm=("all_reduce", 20, 3e6)),
            )
        )
        self.assertIn("10 µs, 3 MB instead of 20 µs, 3 MB", said)

    def test_attention_of_sequences_stands_beside_cut_experts(self):
        said = next(reasons.sentences(plan({"attention": 2}), plan({})))
        self.assertIn("data-parallel inside the tp group", said)
        self.assertIn("with tensor-parallel experts (`ffn_up` and `ffn_down`)", said)

    def test_experts_reduce_on_their_narrow_side(self):
        narrow = {"ffn_up": 0, "ffn_down": 1, "dispatch": 1}
        said = list(
            reasons.sentences(
                plan(narrow, ffn_down=("all_reduce", 9, 1e6), dispatch=("all_to_all", 3, 1e6)),
                plan({}, dispatch=("all_to_all", 24, 8e6)),
            )
        )
        self.assertIn("`ffn_up` reduces on the narrow side of the experts: 9 µs, 1 MB.", said)
        self.assertIn(
            "Only a share of the features is sent (`dispatch`): 3 µs, 1 MB instead of 24 µs, 8 MB.", said
        )


if __name__ == "__main__":
    unittest.main()
