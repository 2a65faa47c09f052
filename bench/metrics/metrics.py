"""Runs requests with the tools of the demo and a scripted model, while Prometheus reads the metrics, and asks Prometheus.

usage: python metrics.py REKNIT FOLDER [QUERY...]
"""

import atexit
import json
import math
import random
import re
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from programs import JsonHandler, completion, empty_folder, free_port, serve, start, start_reknit  # noqa: E402 (the path is set above)

ROOT = Path(__file__).parent.parent.parent
SECONDS = 45
# What does not happen in this scenario: agents, breakers, learned mappings, and failures that are sent again.
ABSENT = ("ai_agent_", "orchestration_gate_closed", "learned_mapping", "micro_resolution", "resend_applied", "facts_applied")


def step(name: str, agent: str, capability: str, needs: list[str], **parameters) -> dict:
    metadata = {"capability": capability, "parameters": parameters}
    return {"step_id": name, "agent_name": agent, "instruction": capability, "depends_on": needs, "metadata": metadata}


PLAN = {
    "plan_id": "p",
    "steps": [
        step("price", "stock-tool", "get_stock_quote", [], symbol="TSLA"),
        step("weather", "weather-tool", "get_weather", [], lat="37.5665", lon="126.978"),
        step("won", "currency-tool", "convert_currency", ["price"], **{"from": "USD", "to": "KRW", "amount": 0}),
        step("unknown", "stock-tool", "get_stock_quote", [], symbol="HANOK"),
    ],
}
SIMPLE = {"plan_id": "q", "steps": PLAN["steps"][:2]}
REQUESTS = ["Sell 100 Tesla shares: how much is that in won?", "simple: what does a Tesla share cost?", "nonsense"]
GIVES_UP = {
    "should_retry": False,
    "reason": "no idea",
    "analysis": "no idea",
    "suggested_changes": {},
    "corrected_parameters": {},
}
CORRECTS = {"should_retry": True, "reason": "one is enough", "suggested_changes": {"amount": 1}, "is_transient_error": False}
COMPUTES = {
    "should_retry": True,
    "analysis": "a product",
    "corrected_parameters": {"amount": "{{100 * price.current_price}}"},
}
chance = random.Random(1)


def answer(purpose: str, text: str) -> dict | str | None:
    """What the model says; `None` is a failure. It does not always say the same, so that everything is counted."""
    match purpose:
        case "plan_generation" if "nonsense" in text:
            return "I cannot do that."
        case "plan_generation":
            return SIMPLE if "simple: " in text else PLAN
        case "error_analysis":
            return chance.choice([CORRECTS, GIVES_UP, None] if "convert_currency" in text else [GIVES_UP, None])
        case "semantic_retry":
            return chance.choice([COMPUTES, GIVES_UP, None] if "convert_currency" in text else [GIVES_UP, None])
        case _:
            return "Done."


class Model(JsonHandler):
    def do_POST(self):
        body = self.body()
        texts = [json.dumps(message["content"]) for message in body["messages"]]
        purpose = re.search(r"purpose: (\w+)", "\n".join(texts))
        said = answer(purpose[1] if purpose else "", "\n".join(texts))
        if said is None:
            return self.answer(400, {"error": {"message": "scripted failure", "type": "invalid_request_error"}})
        content = said if isinstance(said, str) else json.dumps(said)
        self.answer(200, completion({"content": content}))


def start_demo(reknit: str, log: Path) -> str:
    """Starts the tools of the demo. Returns their configuration."""
    with open(log, "w") as out:
        process = subprocess.Popen([reknit, "demo", "--serve"], stdout=out, stderr=out, cwd=log.parent)
    atexit.register(process.terminate)
    for _ in range(200):
        if "[[tools]]" in log.read_text():
            return "\n".join(re.findall(r'\[\[tools\]\]\nname = ".*"\nurl = ".*"\n', log.read_text()))
        time.sleep(0.1)
    sys.exit(f"{reknit} does not start; see {log}")


def get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=30) as response:
        return response.read()


def ask(prometheus: str, query: str) -> list:
    """The values of a query; those without a number are left out."""
    found = json.loads(get(f"{prometheus}/api/v1/query?" + urllib.parse.urlencode({"query": query})))
    return [sample for sample in found["data"]["result"] if not math.isnan(float(sample["value"][1]))]


def queries() -> list[str]:
    dashboard = json.loads((ROOT / "deploy/grafana-dashboard.json").read_text())
    found = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
    alerts = re.findall(r"expr: (?:\|\n)?(.*?)\n +for:", (ROOT / "deploy/alerts.yaml").read_text(), re.S)
    # What an alert compares, without the comparison: there is nothing to alert about.
    found += [re.split(r" (?:>=?|==) |\n +and ", alert.strip())[0] for alert in alerts]
    return [query.replace("$__rate_interval", "1m") for query in found]


def main() -> int:
    reknit, folder, others = sys.argv[1], empty_folder(sys.argv[2]), sys.argv[3:]
    _, model_url = serve(Model)
    (folder / "reknit.toml").write_text(start_demo(reknit, folder / "tools.log"))
    arguments = ["--config", folder / "reknit.toml", "--journal", folder / "journal.db"]
    arguments += ["--model-url", f"{model_url}/v1", "--model", "scripted"]
    _, reknit_port = start_reknit(reknit, arguments, folder / "serve.log")
    prometheus_port = free_port()
    server, prometheus = f"http://127.0.0.1:{reknit_port}", f"http://127.0.0.1:{prometheus_port}"
    (folder / "prometheus.yml").write_text(
        json.dumps(
            {
                "global": {"scrape_interval": "1s"},
                "scrape_configs": [{"job_name": "reknit", "static_configs": [{"targets": [f"127.0.0.1:{reknit_port}"]}]}],
            }
        )
    )
    storage = [
        "--storage.tsdb.path",
        folder / "data",
        "--config.file",
        folder / "prometheus.yml",
        "--web.listen-address",
        f"127.0.0.1:{prometheus_port}",
    ]
    start(["prometheus", *storage], prometheus_port, folder / "prometheus.log")

    end, runs = time.monotonic() + SECONDS, 0
    while time.monotonic() < end:
        body = json.dumps({"request": REQUESTS[runs % len(REQUESTS)]}).encode()
        urllib.request.urlopen(
            urllib.request.Request(f"{server}/v1/runs", body, {"content-type": "application/json"}), timeout=60
        ).read()
        runs += 1
        time.sleep(0.3)
    time.sleep(3)

    text = get(f"{server}/metrics")
    (folder / "metrics.txt").write_bytes(text)
    checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True)
    # The names are those that existing queries use, with `_ms`.
    lines = (checked.stdout + checked.stderr).decode().splitlines()
    problems = [line for line in lines if not line.endswith("_ms metric names should not contain abbreviated units")]
    print(f"{runs} runs; promtool check metrics: {'; '.join(problems) or 'no problem but the unit `ms` in names'}")
    asked = [*dict.fromkeys(queries()), *others]
    empty = [query for query in asked if not ask(prometheus, query)]
    missing = [query for query in empty if not any(name in query for name in ABSENT)]
    print(
        f"{len(asked)} queries, {len(asked) - len(empty)} have data, {len(empty) - len(missing)} are about what does not happen here"
    )
    for query in missing:
        print(f"no data: {' '.join(query.split())}")
    return 1 if problems or missing else 0


if __name__ == "__main__":
    sys.exit(main())
