"""The index of a checkpoint of so many bytes for each of the parameters that a file counts.

usage: index_of.py <file with a count> <bytes a parameter> <weight_map>
"""

import json
import pathlib
import sys

count = int(pathlib.Path(sys.argv[1]).read_text())
metadata = {"total_size": int(count * float(sys.argv[2]))}
print(json.dumps({"metadata": metadata, "weight_map": json.loads(sys.argv[3])}))
