"""The peer `json_repair` from PyPI. `src/peer.rs` documents the protocol on the pipes.

usage: python json_repair_peer.py MODE INPUT
  MODE  `repair`    repair_json(text, return_objects=True)
        `schema`    repair_json(text, return_objects=True, schema=schema)
        `prepared`  the same, but each schema is processed only once. The library does not offer that, so its class is
                    wrapped here.
"""

import json
import platform
import sys
from importlib.metadata import version
from time import perf_counter

import json_repair.json_repair as library

mode, source = sys.argv[1:]
with open(source, encoding="utf-8") as lines:
    inputs = [json.loads(line) for line in lines]

# One object per distinct schema: the wrapper below identifies a schema by its object.
schemas = {}
for item in inputs:
    if "schema" in item:
        item["schema"] = schemas.setdefault(json.dumps(item["schema"]), item["schema"])

if mode == "prepared":
    make, made = library.SchemaRepairer, {}

    def prepared(schema, log, **options):
        if id(schema) not in made:
            made[id(schema)] = make(schema, log, **options)
        return made[id(schema)]

    library.SchemaRepairer = prepared

calls = [(item["text"], None if mode == "repair" else item["schema"]) for item in inputs]


def run_round():
    answers = 0
    start = perf_counter()
    for text, schema in calls:
        try:
            library.repair_json(text, return_objects=True, schema=schema)
            answers += 1
        except Exception:  # The time of a text that cannot be repaired counts too.
            pass
    return perf_counter() - start, answers


answers = run_round()[1]
print(f"{version('json_repair')}, python {platform.python_version()}\t{answers}", flush=True)
for line in sys.stdin:
    start = perf_counter()
    best = run_round()[0]
    while (perf_counter() - start) * 1000 < float(line):
        best = min(best, run_round()[0])
    print(best, flush=True)
