"""What `bench/restate/run` measures. Every part prints its figures, and the program fails if a promise is broken."""

import argparse
import collections
import concurrent.futures
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

from backup import backup
from cluster import Cluster, plan
from overhead import overhead
from promises import Person, check_calls
from runs import ASKS_FIRST, EVERY_CLASS, fail, settle, start, start_session
from throughput import throughput
from upgrade import upgrade
from waiting import waiting

ORDER = '"{{inputs.order}}"'
PARALLEL = "\n".join(
    ["inputs: {order: {type: string}}", "steps:"]
    + [f"- {{id: p{at}, tool: shop/{name}, with: {{order: {ORDER}}}}}" for at, name in enumerate(["look", "place", "note", "look"])]
)
SCENARIOS = {"every-class": EVERY_CLASS, "parallel": PARALLEL, "approval": ASKS_FIRST}


def kills(cluster: Cluster, count: int, seed: int):
    """Random SIGKILLs while runs with every class of side effect go on."""
    chosen = random.Random(seed)
    person, killed = Person(cluster), collections.Counter()
    # What the outcomes are without kills.
    start(cluster, "undisturbed", EVERY_CLASS, "undisturbed", 0)
    start_session(cluster, "undisturbed-session")
    run_status, session_status = (settle(cluster, run, person.decide)["status"] for run in ["undisturbed", "undisturbed-session"])
    runs: list[str] = []
    sessions: list[str] = []
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        started = []
        for number in range(count):
            for _ in range(4):
                run = f"kill-{seed}-{len(runs)}"
                runs.append(run)
                started.append(pool.submit(start, cluster, run, EVERY_CLASS, run, chosen.choice([0, 20, 100, 400])))
            sessions.append(f"session-{seed}-{number}")
            started.append(pool.submit(start_session, cluster, sessions[-1]))
            time.sleep(chosen.uniform(0.05, 0.6))
            victim = chosen.choice(cluster.killable)
            killed[victim.name] += 1
            victim.kill()
            time.sleep(chosen.uniform(0.0, 0.3))
            victim.start().ready()
            # A kill of the server or the balancer interrupts every call in progress, and a call that is interrupted four times is given up.
            time.sleep(1)
        for one in started:
            one.result()
        views = list(pool.map(lambda run: settle(cluster, run, person.decide), runs))
        reports = list(pool.map(lambda run: settle(cluster, run, person.decide), sessions))
    seconds = time.monotonic() - begin
    statuses = collections.Counter(view["status"] for view in views)
    problems = [f"{run}: {view['status']}" for run, view in zip(runs, views) if view["status"] != run_status]
    problems += [f"{run}: {view['status']}" for run, view in zip(sessions, reports) if view["status"] != session_status]
    of_calls, repeats = check_calls(cluster, runs, ["place", "note", "pay"], person)
    problems += of_calls
    print(f"kills: {count} SIGKILLs (seed {seed}): {dict(killed)}")
    of_sessions = collections.Counter(view["status"] for view in reports)
    print(f"kills: {len(runs)} runs in {seconds:.0f} s: {dict(statuses)}; {len(sessions)} sessions: {dict(of_sessions)}")
    print(f"kills: sent again under the same key: {dict(repeats)}; questions to a person: {dict(collections.Counter(person.said.values()))}")
    if problems:
        fail("; ".join(problems[:5]) + f" ({len(problems)} in all)")
    print("kills: every run and session ends as without kills, one key per call, no unsafe call twice: ok", flush=True)


def records(reknit: str, cluster: Cluster, run: str) -> list[str]:
    """The events and the ending of a run without their times. The claims of calls are kept where the calls are made, and are no records. The
    embedded engine gives a run back while it waits for a person, and writes `resumed` when it takes it over again; on Restate nobody takes over."""
    command = [reknit, "runs", "export", run, "--journal", str(cluster.folder / "journal.db"), "--config", str(cluster.folder / "reknit.toml")]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    found = [without_times(json.loads(line)) for line in lines]
    is_compared = lambda line: "claims" not in line and line.get("event", {}).get("body", {}).get("kind") != "resumed"
    return [json.dumps(line, sort_keys=True) for line in found if is_compared(line)]


def without_times(value):
    if isinstance(value, dict):
        # The hash of a question, and the digest of a wait or a question, contain the time at which they end; that of a call does not.
        kept = [key for key in value if not key.endswith("_ms") and key not in ("url", "digest", "engine", "hash", "seed", "seq", "events")]
        if "due" in value:
            value = {**value, "due": [[effect, digest] if "/call/" in effect else [effect] for effect, digest in value["due"]]}
        return {key: without_times(value[key]) for key in kept}
    if isinstance(value, list):
        return [without_times(inner) for inner in value]
    return value


def same(reknit: str, server: str, folder: Path):
    """The same scenarios on both engines have equal records."""
    found = []
    for restate in [False, True]:
        cluster = Cluster(reknit, server, folder / f"same-{'restate' if restate else 'embedded'}", restate)
        of_engine = {}
        for name, text in SCENARIOS.items():
            start(cluster, name, text, f"order-{name}")
            view = settle(cluster, name, lambda run, question: "approve")
            events = records(reknit, cluster, name)
            # The order in which parallel calls end is not decided by us.
            in_any_order = sorted(line.rpartition('"due"')[0] for line in events)
            of_engine[name] = (view["status"], in_any_order if name == "parallel" else events)
        cluster.close()
        found.append(of_engine)
    embedded, on_restate = found
    for name in SCENARIOS:
        (here, events_here), (there, events_there) = embedded[name], on_restate[name]
        print(f"same: {name}: {here} with {len(events_here)} lines, on Restate {there} with {len(events_there)}")
        if here != there or events_here != events_there:
            for one, other in zip(events_here, events_there):
                if one != other:
                    at = next(at for at, (a, b) in enumerate(zip(one, other)) if a != b)
                    print(f"  embedded: {one[max(0, at - 100) : at + 300]}\n  restate:  {other[max(0, at - 100) : at + 300]}")
                    break
            fail(f"the records of `{name}` differ")
    print("same: equal records: ok", flush=True)


def files(cluster: Cluster):
    """The recorded tests of this project on both engines: see crates/restate/tests/scenarios.rs. They bring their own workers."""
    address = lambda port: f"http://127.0.0.1:{cluster.ports[port]}"
    environment = {**os.environ, "RESTATE_ADMIN": address("admin"), "RESTATE_INGRESS": address("ingress")}
    command = ["cargo", "test", "--locked", "--workspace", "--test", "scenarios", "--", "--ignored", "--nocapture"]
    if subprocess.run(command, cwd=Path(__file__).parent, env=environment).returncode:
        fail("the recorded tests differ")


def steps(cluster: Cluster, count: int):
    """A run of many steps: what is stored, and how large its messages are."""
    text = plan(*["look"] * count)
    begin = time.monotonic()
    start(cluster, "many-steps", text, "many")
    view = settle(cluster, "many-steps", lambda run, question: "approve", count)
    seconds = time.monotonic() - begin
    state = cluster.query("select key, length(value) as bytes from state where service_name = 'ReknitRun' and service_key = 'many-steps'")
    largest = max(row["bytes"] for row in state)
    blobs = [path.stat().st_size for path in (cluster.folder / "blobs").rglob("*") if path.is_file()]
    print(f"steps: {count} steps in {seconds:.1f} s ({1000 * seconds / count:.1f} ms each): {view['status']}")
    print(f"steps: state of {sum(row['bytes'] for row in state) / 1e3:.0f} kB, largest entry {largest / 1e3:.0f} kB; {len(blobs)} blobs, {sum(blobs) / 1e6:.1f} MB, largest {max(blobs) / 1e6:.2f} MB")
    if view["status"] != "complete" or largest > 512_000:
        fail("a run of many steps does not stay small")


def cancel(cluster: Cluster):
    """Runs that are cancelled while their calls wait: each worker makes one call at a time. What was not sent is never sent."""
    for at in range(2):
        start(cluster, f"slow-{at}", plan("place"), f"slow-{at}", 3000)
    time.sleep(0.5)
    runs = [f"cancelled-{at}" for at in range(6)]
    for run in runs:
        start(cluster, run, plan("pay"), run, 0)
    time.sleep(0.5)
    for run in runs:
        try:
            cluster.call("POST", f"/v1/runs/{run}/cancel")
        except RuntimeError as error:
            if " 409 " not in str(error):
                raise
    statuses = {run: settle(cluster, run, lambda run, question: "deny")["status"] for run in runs}
    settle(cluster, "slow-0", None), settle(cluster, "slow-1", None)
    time.sleep(3)
    made = {deed["order"] for deed in cluster.deeds() if deed["capability"] == "pay"}
    print(f"cancel: {dict(collections.Counter(statuses.values()))}; calls made: {len(made)}")
    late = [run for run in made if statuses[run] == "cancelled"]
    if late or "cancelled" not in statuses.values():
        fail(f"calls of cancelled runs were made: {late}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("reknit")
    parser.add_argument("server")
    parser.add_argument("handwritten")
    parser.add_argument("folder", type=Path)
    parser.add_argument("kills", type=int, nargs="?", default=20)
    parser.add_argument("seed", type=int, nargs="?", default=1)
    parser.add_argument("--only", choices=["backup", "cancel", "files", "kills", "overhead", "same", "steps", "throughput", "upgrade", "waiting"])
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--waiting", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--old")
    given = parser.parse_args()
    wanted = [given.only] if given.only else ["same", "kills", "cancel", "steps", "overhead", "throughput", "waiting", "backup"]
    wanted += ["upgrade"] if given.old and not given.only else []
    reknit, server, folder = given.reknit, given.server, given.folder
    broken: list[str] = []
    for name in wanted:
        match name:
            case "same":
                same(reknit, server, folder)
            case "backup":
                broken += backup(reknit, server, folder)
            case "overhead":
                broken += overhead(reknit, server, given.handwritten, folder, given.rounds, given.runs)
            case "throughput":
                throughput(reknit, server, folder, given.rounds, given.runs)
            case "waiting":
                broken += waiting(reknit, server, folder, given.waiting)
            case "upgrade":
                broken += upgrade(given.old or fail("`upgrade` needs OLD, the program of the old build"), reknit, server, folder, given.seed)
            case _:
                cluster = Cluster(reknit, server, folder / name, calls_per_tool=1 if name == "cancel" else 2000)
                match name:
                    case "cancel":
                        cancel(cluster)
                    case "files":
                        files(cluster)
                    case "kills":
                        kills(cluster, given.kills, given.seed)
                    case "steps":
                        steps(cluster, given.steps)
                cluster.close()
    for promise in broken[:20]:
        print(f"MISSED: {promise}")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
