"""Loads, overloads, kills and restarts `reknit serve`, and counts what its clients and its tool service saw.

usage: python measure.py REKNIT FOLDER [--quick] [--soak MINUTES] [--seed N] [SCENARIO...]

The tool service (service.py), the servers and the clients (this process) are separate processes on loopback. Every scenario has a folder with a
journal, a log of each server and the deeds that the service recorded.
"""

import argparse
import asyncio
import random
import resource
import sys
import traceback

from concurrency import concurrent_runs, overload, watchers
from half_open import half_open
from restarts import graceful_restart, kills, two_servers
from soak import soak
from world import Bench

SCENARIOS = {
    "1": watchers,
    "2": concurrent_runs,
    "3": overload,
    "4": kills,
    "5": graceful_restart,
    "6": two_servers,
    "7": soak,
    "8": half_open,
}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("reknit")
    parser.add_argument("folder")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--soak", type=float, metavar="MINUTES")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("scenario", nargs="*")
    arguments = parser.parse_intermixed_args()
    if unknown := [number for number in arguments.scenario if number not in SCENARIOS]:
        parser.error(f"there is no scenario {unknown[0]}; they are {', '.join(SCENARIOS)}")
    if arguments.soak is None:
        arguments.soak = 0.3 if arguments.quick else 2
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 20_000) if hard > 0 else 20_000, hard))
    bench = Bench(arguments)
    print(f"seed {arguments.seed}")
    for number in arguments.scenario or SCENARIOS:
        try:
            asyncio.run(SCENARIOS[number](bench))
        except Exception as error:  # noqa: BLE001
            # The other scenarios can still be measured.
            traceback.print_exc()
            bench.table.add(f"{number} could not be measured to its end", repr(error)[:100], "", False)
    return 0 if bench.table.holds() else 1


if __name__ == "__main__":
    sys.exit(main())
