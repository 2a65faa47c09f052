"""`read` beside `json_repair` on broken texts, in one process.

usage: python speed.py CASES
"""

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

import json_repair
import reknit

BAR = 15


def best(function, texts: list[str]) -> float:
    """The shortest of five times for all texts, in seconds."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        for text in texts:
            try:
                function(text)
            except ValueError:
                # Both refuse some texts.
                pass
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> int:
    texts = [json.loads(line)["text"] for line in Path(sys.argv[1]).read_text().splitlines()]
    ours, theirs = best(reknit.read, texts), best(json_repair.loads, texts)
    ratio = theirs / ours
    peer = f"json_repair {version('json_repair')}"
    print(f"Python, {len(texts)} texts: reknit {ours * 1e3:.2f} ms, {peer} {theirs * 1e3:.2f} ms: {ratio:.1f} x, at least {BAR} x")
    return 0 if ratio >= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
