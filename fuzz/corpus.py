#!/usr/bin/env python3
"""Keeps the saved inputs of a fuzz target in one file, corpus/TARGET.jsonl: a name and a text on each line.

usage: fuzz/corpus.py unpack TARGET FOLDER   write each input to a file, as libFuzzer reads them
       fuzz/corpus.py add TARGET FILE...     save inputs under the names of their files

Bytes that are not UTF-8 are saved as `latin1`: one character for each byte.
"""
import json
import sys
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"


def encode(name, data):
    try:
        return {"name": name, "text": data.decode()}
    except UnicodeDecodeError:
        return {"name": name, "latin1": data.decode("latin-1")}


def decode(row):
    return row["text"].encode() if "text" in row else row["latin1"].encode("latin-1")


def read(target):
    path = CORPUS / f"{target}.jsonl"
    if not path.exists():
        sys.exit(f"there is no target `{target}`; the targets are: {', '.join(sorted(path.stem for path in CORPUS.glob('*.jsonl')))}")
    return {row["name"]: row for row in map(json.loads, path.read_text().split("\n")[:-1])}


def unpack(target, folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, row in read(target).items():
        (folder / name).write_bytes(decode(row))


def add(target, *files):
    rows = read(target)
    for path in map(Path, files):
        rows[path.name] = encode(path.name, path.read_bytes())
    lines = (json.dumps(rows[name], ensure_ascii=False) for name in sorted(rows))
    (CORPUS / f"{target}.jsonl").write_text("".join(line + "\n" for line in lines))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["unpack", target, folder]:
            unpack(target, folder)
        case ["add", target, _, *_]:
            add(target, *sys.argv[3:])
        case _:
            sys.exit(__doc__)
