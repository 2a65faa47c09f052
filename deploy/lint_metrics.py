"""Checks that alerts and dashboard use only metrics that docs/telemetry.md describes, and that the queries of the dashboard can be parsed.

usage: python lint_metrics.py PROMTOOL [METRICS_URL]

With METRICS_URL, the address of `/metrics` of a server, it also prints which of the metrics the server does not have yet.
"""

import json
import re
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

HERE = Path(__file__).parent
METRIC = re.compile(r"\b((?:orchestration|ai|tool|plan_generation)_[a-z_]+)(?=[\[{)\s]|$)")


def main() -> int:
    documented = set()
    for line in (HERE.parent / "docs/telemetry.md").read_text().splitlines():
        cells = line.split("|")
        if len(cells) > 3 and (series := re.match(r" `([a-z_]+)`", cells[2])):
            documented.add(series[1])
            if series[1].endswith("_bucket"):
                documented |= {series[1].removesuffix("_bucket") + suffix for suffix in ("_sum", "_count")}
    dashboard = json.loads((HERE / "grafana-dashboard.json").read_text())
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
    used = set(
        METRIC.findall(
            "\n".join([*queries, *re.findall(r"expr:(.*?)\n +(?:for|labels):", (HERE / "alerts.yaml").read_text(), re.S)])
        )
    )
    unknown = sorted(used - documented)
    print(f"{len(queries)} queries of the dashboard, {len(used)} metrics, not in docs/telemetry.md: {unknown or 'none'}")

    rules = [
        {"record": f"dashboard:query_{at}", "expr": query.replace("$__rate_interval", "5m")}
        for at, query in enumerate(queries)
    ]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        json.dump({"groups": [{"name": "dashboard", "rules": rules}]}, file)
        file.flush()
        parsed = subprocess.run([sys.argv[1], "check", "rules", file.name], capture_output=True, text=True)
    if parsed.returncode != 0:
        print(parsed.stdout + parsed.stderr)
    if len(sys.argv) > 2:
        text = urllib.request.urlopen(sys.argv[2]).read().decode()
        served = set(re.findall(r"^([a-z_]+)", text, re.MULTILINE))
        print(f"not in {sys.argv[2]}: {sorted(used - served) or 'none'}")
    return 1 if unknown or parsed.returncode != 0 else 0


if __name__ == "__main__":
    sys.exit(main())
