#!/usr/bin/env python3
"""Reads the held-out kinds of damage with `reknit repair --jsonl`, and prints how many are right.

usage: play.py REKNIT FOLDER

FOLDER gets for each set its cases, and a list of the cases that are wrong, picked or not read.
"""

import collections
import hashlib
import json
import math
import pathlib
import shutil
import subprocess
import sys

import make_kinds

# The cases of each set were frozen with their hash before they were first played.
SETS = {
    "make_kinds": "7cd26482035fce84028b68617f1ad77884cc2e9a692a0337c252f8bf710472f6",
    "more_kinds": "d8e4fe6a540b9ea94dc110ea15ddf52dd07edb81a4ba26d2f6c7461e5f883ff0",
}
COLUMNS = ["right", "refused", "left", "wrong"]
AMBIGUOUS = ["refused", "incomplete", "left", "picked"]


def equal(got, expected):
    """Whether two values are the same. The generator computes some fractions with errors in their last digits."""
    if isinstance(got, dict) and isinstance(expected, dict):
        return got.keys() == expected.keys() and all(equal(got[key], expected[key]) for key in got)
    if isinstance(got, list) and isinstance(expected, list):
        return len(got) == len(expected) and all(map(equal, got, expected))
    if isinstance(got, float) and isinstance(expected, float):
        return math.isclose(got, expected, rel_tol=1e-12)
    return make_kinds.jeq(got, expected)


def is_same_text(text, value):
    try:
        return make_kinds.jeq(json.loads(text), value)
    except ValueError:
        return False


def verdict(case, answer):
    """What became of a case. `incomplete` is a value that is marked as cut or elided: no door makes a call of it."""
    if "error" in answer:
        return "refused"
    value = answer["value"]
    is_left = is_same_text(case["text"], value) and not make_kinds.fits(value, case["schema"])
    if "ambiguous" in case:
        return "incomplete" if answer.get("completeness") else "left" if is_left else "picked"
    if equal(value, case["expect"]["value"]):
        return "right"
    return "left" if is_left else "wrong"


def play(reknit, cases):
    lines = [
        json.dumps({"id": str(number), "text": case["text"], "schema": case["schema"]}) for number, case in enumerate(cases)
    ]
    done = subprocess.run([reknit, "repair", "--jsonl"], input="\n".join(lines), capture_output=True, text=True, check=False)
    answers = [json.loads(line) for line in done.stdout.split("\n") if line]
    if len(answers) != len(cases):
        sys.exit(f"{len(answers)} answers to {len(cases)} cases: {done.stderr[:500]}")
    return sorted(answers, key=lambda answer: int(answer["id"]))


def row(name, clear, ambiguous):
    cells = [name, clear.total(), *(clear[column] for column in COLUMNS)]
    cells += [ambiguous.total(), *(ambiguous[column] for column in AMBIGUOUS)]
    return "| " + " | ".join(map(str, cells)) + " |"


def generate(name, folder):
    """The cases of a set. Its generator writes them beside itself."""
    here = pathlib.Path(__file__).parent
    folder.mkdir(parents=True, exist_ok=True)
    for generator in SETS:
        shutil.copy(here / f"{generator}.py", folder)
    subprocess.run([sys.executable, folder / f"{name}.py"], check=True, capture_output=True)
    text = (folder / "heldout.jsonl").read_bytes()
    if hashlib.sha256(text).hexdigest() != SETS[name]:
        sys.exit(f"the generated cases are not the frozen ones: {name}.py must not be changed")
    return [json.loads(line) for line in text.decode().split("\n") if line]


def play_set(reknit, name, folder):
    cases = generate(name, folder)
    groups, noted = {}, []
    for case, answer in zip(cases, play(reknit, cases)):
        found = verdict(case, answer)
        counts = groups.setdefault(case["group"], (collections.Counter(), collections.Counter()))
        counts["ambiguous" in case][found] += 1
        if found in ("wrong", "picked") or "ambiguous" not in case and found != "right":
            noted.append({"verdict": found, **case, "answer": answer})
    print(f"## {name}\n")
    print("| group | one reading | right | refused | left | wrong | ambiguous | refused | incomplete | left | picked |")
    print("|---|" + "--:|" * 10)
    for group, (clear, ambiguous) in groups.items():
        print(row(group, clear, ambiguous))
    sums = [sum((counts[at] for counts in groups.values()), collections.Counter()) for at in (0, 1)]
    print(row("**all**", *sums), "\n")
    (folder / "noted.jsonl").write_text("".join(json.dumps(case, ensure_ascii=False) + "\n" for case in noted))
    worst = collections.Counter((case["verdict"], case["kind"]) for case in noted if case["verdict"] in ("wrong", "picked"))
    for (found, kind), count in worst.items():
        print(f"{found}: {count} of {kind}")
    print()


def main():
    reknit, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    for name in SETS:
        play_set(reknit, name, folder / name)


if __name__ == "__main__":
    main()
