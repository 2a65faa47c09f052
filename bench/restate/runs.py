"""Runs of a cluster: started, answered and awaited through the API."""

import sys
import time
from urllib.parse import quote

from cluster import PATIENCE, Cluster, plan

EVERY_CLASS = plan("look", "place", "note", "pay")
ASKS_FIRST = plan("look", "place").replace("tool: shop/place", "approve: true, tool: shop/place")


def fail(message: str):
    print(f"MISSED: {message}", flush=True)
    sys.exit(1)


def start(cluster: Cluster, run: str, text: str, order: str, delay_ms: int | None = None, mode: str = "start"):
    inputs = {"order": order} if delay_ms is None else {"order": order, "delay_ms": delay_ms}
    return cluster.call("POST", "/v1/runs", {"plan": text, "inputs": inputs, "run_id": run, "mode": mode})


def start_session(cluster: Cluster, run: str):
    """An agent that answers with a report; the model is scripted."""
    agent = "You are a clerk. Answer in one sentence."
    return cluster.call("POST", "/v1/runs", {"agent": agent, "request": f"What about {run}?", "run_id": run, "mode": "start"})


def settle(cluster: Cluster, run: str, decide, patience: float = PATIENCE) -> dict:
    """Waits until a run has ended, and answers its questions."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        view = cluster.call("GET", f"/v1/runs/{run}")
        if view["status"] not in ("running", "waiting", "stopped"):
            return view
        for question in view["questions"]:
            decision = decide(run, question)
            try:
                path = f"/v1/runs/{run}/decisions/{quote(question['question'], safe='')}"
                cluster.call("POST", path, {"hash": question["hash"], "decision": decision})
            except RuntimeError as error:
                if " 409 " not in str(error) and " 404 " not in str(error):
                    raise
        time.sleep(0.1)
    fail(f"run {run} has not ended after {patience} s: {view}")
