"""`read` against `json_repair` on the broken texts of the benchmark, in one process."""

import json
import pathlib
import time

import pytest

import reknit

CASES = pathlib.Path(__file__).parents[3] / "bench/salvage/cases/broken.jsonl"


def best(function, texts):
    """The shortest of five times for all texts."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        for text in texts:
            try:
                function(text)
            except ValueError:
                pass
        times.append(time.perf_counter() - start)
    return min(times)


@pytest.mark.skipif(not CASES.exists(), reason="the cases are not part of the package")
def test_broken_texts_are_read_at_least_15_times_as_fast_as_by_json_repair():
    json_repair = pytest.importorskip("json_repair")
    texts = [json.loads(line)["text"] for line in CASES.read_text().splitlines()]
    ours, theirs = best(reknit.read, texts), best(json_repair.loads, texts)
    print(f"{len(texts)} texts: reknit {ours * 1e3:.2f} ms, json_repair {theirs * 1e3:.2f} ms, {theirs / ours:.1f} times")
    assert theirs / ours >= 15
