"""Counters of the Restate server, from its metrics page."""

import collections
import re
import urllib.request

# What we call them, and which lines of the page are added up.
COUNTED = {
    "invocations": r'restate_invoker_invocation_tasks_total\{.*status="started"',
    "requests from outside": r'restate_ingress_requests_total\{.*status="completed"',
    "log records": r"restate_bifrost_sequencer_committed_records_total\{",
    "log bytes": r"restate_bifrost_sequencer_committed_records_bytes_total\{",
    "log writes": r"restate_log_server_write_batch_size_bytes_count\{",
    "bytes to workers": r"restate_invoker_sent_bytes_total\{",
    "bytes from workers": r"restate_invoker_received_bytes_total\{",
}


def server_counts(port: int) -> collections.Counter:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        lines = answer.read().decode().splitlines()
    found = collections.Counter()
    for line in lines:
        for name, pattern in COUNTED.items():
            if re.match(pattern, line):
                found[name] += float(line.rpartition(" ")[2])
    return found
