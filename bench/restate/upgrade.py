"""A rolling upgrade under load: workers of an old build are replaced one by one by those of a new one, then the API process, while runs go on."""

import collections
import concurrent.futures
import random
import threading
import time
from pathlib import Path

from cluster import STOP, Cluster, plan
from promises import Person, check_calls
from runs import ASKS_FIRST, EVERY_CLASS, settle, start, start_session

# How long old and new processes work side by side.
TOGETHER = 5
LONG = plan(*["look"] * 7, "place")
# What the runs of each kind call, besides reads.
CALLS = {"every-class": ["place", "note", "pay"], "long": ["place"], "asks": ["place"], "asked-before": ["place"], "session": []}
PLANS = {"every-class": EVERY_CLASS, "long": LONG, "asks": ASKS_FIRST, "asked-before": ASKS_FIRST}


class Load:
    """Starts runs of all kinds, about ten a second, until it is told to end."""

    def __init__(self, cluster: Cluster, seed: int):
        self.cluster, self.chosen, self.is_over = cluster, random.Random(seed), threading.Event()
        self.runs: dict[str, list[str]] = collections.defaultdict(list)
        self.thread = threading.Thread(target=self.go_on)

    def start_one(self, kind: str):
        run = f"{kind}-{len(self.runs[kind])}"
        if kind == "session":
            start_session(self.cluster, run)
        else:
            start(self.cluster, run, PLANS[kind], run, self.chosen.choice([0, 20, 100, 400]))
        self.runs[kind].append(run)

    def go_on(self):
        while not self.is_over.wait(0.1):
            self.start_one(self.chosen.choice(["every-class", "every-class", "long", "asks", "session"]))

    def __enter__(self) -> "Load":
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()


def upgrade(old: str, new: str, server: str, folder: Path, seed: int) -> list[str]:
    """Returns the promises that are broken."""
    cluster = Cluster(old, server, folder / "upgrade")
    person = Person(cluster)
    expected = {kind: outcome_undisturbed(cluster, kind, person) for kind in CALLS}
    begin = time.monotonic()
    with Load(cluster, seed) as load:
        for _ in range(20):
            load.start_one("asked-before")
        time.sleep(TOGETHER)
        begun_by_old = {kind: len(runs) for kind, runs in load.runs.items()}
        for at, worker in enumerate(cluster.workers):
            seconds = worker.end(STOP)
            cluster.workers[at] = cluster.worker(new, worker.name.removeprefix("worker-")).start().ready()
            print(f"upgrade: {worker.name} of the old build stopped in {seconds:.1f} s, one of the new build took its place", flush=True)
            time.sleep(TOGETHER)
        seconds = cluster.api.end(STOP)
        cluster.api = cluster.api_process(new).start().ready()
        print(f"upgrade: the API process stopped in {seconds:.1f} s, one of the new build took its place", flush=True)
        time.sleep(TOGETHER)
    broken = []
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        for kind, runs in load.runs.items():
            views = list(pool.map(lambda run: settle(cluster, run, person.decide), runs))
            ended = collections.Counter(view["status"] for view in views)
            problems, repeats = check_calls(cluster, runs, CALLS[kind], person)
            again = f"; sent again under the same key: {dict(repeats)}" if sum(repeats.values()) else ""
            print(f"upgrade: {len(runs)} runs `{kind}`, {begun_by_old[kind]} begun before: {dict(ended)}{again}", flush=True)
            broken += [f"{run}: {view['status']}" for run, view in zip(runs, views) if view["status"] != expected[kind]] + problems
    of_ours = "target_service_name like 'Reknit%' and status not in ('completed', 'scheduled')"
    left = cluster.query(f"select target, status, last_failure from sys_invocation where {of_ours}")
    print(f"upgrade: {time.monotonic() - begin:.0f} s; questions about calls in doubt: {dict(collections.Counter(person.said.values()))}; invocations left: {len(left)}")
    broken += [f"an invocation is left: {row}" for row in left]
    cluster.close()
    return broken


def outcome_undisturbed(cluster: Cluster, kind: str, person: Person) -> str:
    run = f"undisturbed-{kind}"
    if kind == "session":
        start_session(cluster, run)
    else:
        start(cluster, run, PLANS[kind], run, 0)
    return settle(cluster, run, person.decide)["status"]
