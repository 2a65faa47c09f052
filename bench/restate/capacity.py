"""How many machines, partitions and stores a load needs, from what `bench/restate/run --only throughput` measured.

usage: python3 capacity.py [--runs-per-second N] [--steps N] [--figures FILE]

Without `--figures`, those in figures.json beside this file, from which the table in docs/scale.md is. What is assumed and not measured is in
the constants below, and is printed.
"""

import argparse
import json
import math
from pathlib import Path

# Processors are not planned to be busier than this.
BUSY = 0.6
CORES_PER_MACHINE = 16
# Each record of the server is written by so many nodes, and each partition is applied by as many. The figures are from one node, so the processor time of
# the server is counted for each: this is the upper bound, because followers call no workers.
REPLICAS = 3
# What the disk of a machine writes without a pause, and what its network takes.
DISK_BYTES_PER_SECOND = 500e6
DAY = 86_400
# The name of the threads of the server that apply a partition each.
PARTITION_THREAD = "rt:pp"


def rounded(number: float) -> int:
    return max(1, math.ceil(number))


class Model:
    def __init__(self, figures: dict, runs: float, steps: float):
        self.figures, self.runs, self.steps = figures, runs, steps

    def each_run(self, of: dict[str, float]) -> float:
        """What one run needs, all its steps included."""
        return of["run"] + self.steps * of["step"]

    def cores(self, part: str) -> float:
        replicas = REPLICAS if part == "server" else 1
        return self.runs * self.each_run(self.figures["cpu_ms"][part]) / 1000 * replicas / BUSY

    def machines(self, part: str) -> int:
        return rounded(self.cores(part) / CORES_PER_MACHINE)

    def written(self, part: str) -> float:
        replicas = REPLICAS if part == "server" else 1
        return self.runs * self.each_run(self.figures["written_bytes"][part]) * replicas

    def of_thread(self, process: str, thread: str) -> float:
        """How many such threads are needed: one thread does one thing after the other."""
        return self.runs * self.steps * self.figures[f"{process}_thread_ms"].get(thread, 0.0) / 1000 / BUSY

    def kept(self, name: str) -> float:
        """Bytes that stay of each run."""
        return self.each_run(self.figures["kept_bytes"][name])

    def limits(self) -> list[tuple[float, str]]:
        """Up to how many runs per second one of each is enough, the smallest first."""
        processors = {part: f"the processors of one machine with {CORES_PER_MACHINE} cores as {part}" for part in ["server", "workers", "api", "balancer"]}
        found = [(self.runs * CORES_PER_MACHINE / self.cores(part), text) for part, text in processors.items()]
        found += [(self.runs / needed, one) for needed, _, one in self.single_threads() if needed]
        found += [(self.runs * DISK_BYTES_PER_SECOND / self.written(part), f"one disk of {part}") for part in ["server", "workers", "api"] if self.written(part)]
        return sorted(found)

    def single_threads(self) -> list[tuple[float, str, str]]:
        """What is one thread each: how many are needed, of what, and what one is."""
        return [
            (self.of_thread("server", PARTITION_THREAD), "partitions, each applied by one thread of a server", "one partition"),
            (self.of_thread("api", "journal-writer"), "API processes, each with a journal that one thread writes", "the journal of one API process"),
        ]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs-per-second", type=float, default=10_000)
    parser.add_argument("--steps", type=float, default=5)
    parser.add_argument("--figures", type=Path, default=Path(__file__).parent / "figures.json")
    given = parser.parse_args()
    model = Model(json.loads(given.figures.read_text()), given.runs_per_second, given.steps)
    print(f"{model.runs:,.0f} runs per second of {model.steps:g} steps: {model.runs * model.steps:,.0f} steps per second")
    print(f"assumed: processors at most {BUSY:.0%} busy, {CORES_PER_MACHINE} cores per machine, {REPLICAS} copies of what the server keeps, {DISK_BYTES_PER_SECOND / 1e6:.0f} MB/s per disk")
    print()
    print(f"| {'part':10} | {'ms per run':>10} | {'cores':>8} | {'machines':>8} | {'written, MB/s':>13} | {'disks':>5} |")
    print("|---|--:|--:|--:|--:|--:|")
    for part in ["server", "workers", "api", "balancer"]:
        written = model.written(part) if part in model.figures["written_bytes"] else 0.0
        disks = rounded(written / DISK_BYTES_PER_SECOND) if written else 0
        ms = model.each_run(model.figures["cpu_ms"][part])
        print(f"| {part:10} | {ms:10.1f} | {model.cores(part):8,.0f} | {model.machines(part):8,} | {written / 1e6:13,.0f} | {disks:5} |")
    print()
    for needed, things, _ in model.single_threads():
        print(f"{rounded(needed):,} {things}")
    for name in model.figures["kept_bytes"]:
        print(f"kept in {name}: {model.kept(name) / 1000:.1f} kB per run, {model.runs * model.kept(name) * DAY / 1e12:,.1f} TB per day")
    print()
    print("what is enough for how many runs per second, first what saturates first:")
    for limit, text in model.limits():
        print(f"{limit:10,.0f}  {text}")


if __name__ == "__main__":
    main()
