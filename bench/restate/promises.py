"""What must hold for the calls of runs whatever happens to the processes, and the person who is asked about calls in doubt."""

import collections

from cluster import Cluster


class Person:
    """Approves what a plan asks about. Asked about a call in doubt, looks at the service, as a person would."""

    def __init__(self, cluster: Cluster):
        self.cluster = cluster
        # What was said about calls in doubt, by run.
        self.said: dict[str, str] = {}

    def decide(self, run: str, question: dict) -> str:
        if question["about"].get("kind") not in (None, "send_again"):
            return "approve"
        done = any(deed["capability"] == "pay" and deed["order"] == run for deed in self.cluster.deeds())
        self.said[run] = "happened" if done else "did_not_happen"
        return self.said[run]


def check_calls(cluster: Cluster, runs: list[str], names: list[str], person: Person) -> tuple[list[str], collections.Counter]:
    """Broken promises about the calls of these runs that do not only read, and how often each was sent again: every call was made, under one key, and
    `pay`, which is unsafe, once."""
    problems, repeats = [], collections.Counter()
    made = collections.defaultdict(list)
    for deed in cluster.deeds():
        made[deed["capability"], deed["order"]].append(deed["key"])
    for run in runs:
        for name in names:
            keys = made[name, run]
            if len(set(keys)) != 1:
                problems.append(f"{name} of {run} was sent under {len(set(keys))} keys")
            if name == "pay" and len(keys) != 1:
                problems.append(f"{name} of {run} was made {len(keys)} times (a person said {person.said.get(run)})")
            repeats[name] += len(keys) - 1
    return problems, repeats
