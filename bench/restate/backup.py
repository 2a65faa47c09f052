"""A backup: everything is stopped and copied, the originals are removed, and the copies go on at other addresses."""

import collections
import concurrent.futures
import shutil
import time
from pathlib import Path

from cluster import STOP, Cluster, plan
from promises import Person, check_calls
from runs import ASKS_FIRST, EVERY_CLASS, settle, start

COPIED = ["restate", "blobs", "journal.db", "journal.db-wal", "journal.db-shm", "deeds.jsonl"]
SLOW = plan("look", "place", "look", "look")


def backup(reknit: str, server: str, folder: Path) -> list[str]:
    """Returns the promises that are broken."""
    cluster = Cluster(reknit, server, folder / "backup-from")
    person = Person(cluster)
    runs = {"ended": (EVERY_CLASS, 0), "waits": (ASKS_FIRST, 0), "in-progress": (SLOW, 2_000)}
    names = {kind: [f"{kind}-{at}" for at in range(20)] for kind in runs}
    for kind, (text, delay_ms) in runs.items():
        for name in names[kind]:
            start(cluster, name, text, name, delay_ms)
    for name in names["ended"]:
        settle(cluster, name, person.decide)
    time.sleep(1)
    begin = time.monotonic()
    # The API first, so that nothing begins; the server last, so that it gets the outcomes of the calls in progress.
    for node in [cluster.api, *cluster.workers, cluster.restate, cluster.balancer, cluster.service]:
        node.end(STOP)
    stopped = time.monotonic()
    to = folder / "backup-to"
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    for name in COPIED:
        source = cluster.folder / name
        if source.is_dir():
            shutil.copytree(source, to / name)
        elif source.exists():
            shutil.copy2(source, to / name)
    copied = time.monotonic()
    shutil.rmtree(cluster.folder)
    size = sum(path.stat().st_size for path in to.rglob("*") if path.is_file())
    restored = Cluster(reknit, server, to, restored=True)
    move_invocations(restored)
    person.cluster = restored
    print(
        f"backup: stopped in {stopped - begin:.1f} s, {size / 1e6:.0f} MB copied in {copied - stopped:.1f} s, "
        f"restored in {time.monotonic() - copied:.1f} s",
        flush=True,
    )
    broken = []
    calls = {"ended": ["place", "note", "pay"], "waits": ["place"], "in-progress": ["place"], "new": ["place", "note", "pay"]}
    start(restored, "new-0", EVERY_CLASS, "new-0", 0)
    names["new"] = ["new-0"]
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        for kind, of_kind in names.items():
            views = list(pool.map(lambda run: settle(restored, run, person.decide), of_kind))
            ended = collections.Counter(view["status"] for view in views)
            problems, repeats = check_calls(restored, of_kind, calls[kind], person)
            print(f"backup: {len(of_kind)} runs `{kind}`: {dict(ended)}; sent again under the same key: {dict(repeats)}", flush=True)
            broken += problems + ([f"runs `{kind}`: {dict(ended)}"] if ended["complete"] != len(of_kind) else [])
    restored.close()
    return broken


def move_invocations(cluster: Cluster):
    """The invocations in progress belong to the address of the workers at which they began. Everything has another address here."""
    address = f"http://127.0.0.1:{cluster.ports['balancer']}"
    for deployment in cluster.admin("GET", "/deployments")["deployments"]:
        if deployment["uri"].rstrip("/") != address:
            cluster.admin("PATCH", f"/deployments/{deployment['id']}", {"uri": address})
