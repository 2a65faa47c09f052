"""Checks that the log of the collector contains all expected signals of the demo.

usage: python check.py LOG MILLISECONDS VERSION
"""

import re
import sys
from pathlib import Path

SPANS = ["orchestration.process_request", "orchestration.step_execution", "http.client.request", "chat"]
EVENTS = [
    "llm.plan_generation.request",
    "llm.plan_generation.response",
    "type_coercion_applied",
    "resend_scheduled",
    "validation_feedback_started",
    "error_analyzer.llm_call_start",
    "error_analyzer.analysis_complete",
    "llm_error_analysis_no_retry",
    "contextual_re_resolution.start",
    "contextual_re_resolution.complete",
    "semantic_retry_applied",
]
METRICS = [
    "orchestration.requests.total",
    "orchestration.type_coercion.applied",
    "orchestration.validation_feedback.attempts",
    "orchestration.error_analysis.no_retry",
    "orchestration.semantic_retry.attempts",
    "orchestration.semantic_retry.success",
    "orchestration.semantic_retry.cannot_fix",
    "orchestration.semantic_retry.applied",
    "orchestration.semantic_retry.llm_latency_ms",
    "plan_generation.total",
    "plan_generation.duration_ms",
    "ai.request.total",
    "ai.request.duration_ms",
    "ai.tokens.used",
    "tool.call.total",
]


def main() -> int:
    log = Path(sys.argv[1]).read_text(errors="replace")
    missing = []
    for kind, names in (("span", SPANS), ("event", EVENTS), ("metric", METRICS)):
        for name in names:
            count = len(re.findall(rf"^ +(?:-> )?Name *: {re.escape(name)}$", log, re.MULTILINE))
            print(f"{kind:7} {name:50} {count:4}")
            if count == 0:
                missing.append(name)
    print(f"\n{sys.argv[3] or 'rotel'}: the demo and the export took {sys.argv[2]} ms; missing: {missing or 'nothing'}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
