"""Orders of pipelines that were made by hand, as reports of shard-schedule name them."""

# Name in `baselines`: what it is called, and the placement that it is of.
ORDERS = {
    "1f1b": ("1F1B", "linear"),
    "zb1p": ("ZB-H1", "linear"),
    "zbv": ("ZB-V", "v"),
    "v_half": ("V-Half", "v"),
    "v_min": ("V-Min", "v"),
    "chimera": ("Chimera", "bidirectional"),
    "hanayo": ("Hanayo", "wave"),
    "dualpipe": ("DualPipe", "bidirectional"),
    "dualpipe_retimed": ("DualPipe, re-timed", "bidirectional"),
    "dualpipev": ("DualPipeV", "v"),
    "dualpipev_retimed": ("DualPipeV, re-timed", "v"),
}
# Chunks of a direction that a device has.
CHUNKS = {"linear": 1, "bidirectional": 1, "v": 2, "wave": 4}
