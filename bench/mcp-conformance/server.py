"""Runs the server scenarios of the conformance tests of MCP against `reknit serve`, and prints a table.

usage: python server.py REKNIT CONFORMANCE FOLDER

`reknit` shows the tools of a service as `service__tool`, and the scenarios call tools by fixed names. A proxy between them removes and
adds `service__` in the messages, and changes nothing else. Scenarios that call no tool go to `reknit` directly.
"""

import http.client
import json
import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from programs import JsonHandler, empty_folder, serve, start_reknit  # noqa: E402 (the path is set above)

ERAS = ("2025-11-25", "2026-07-28")
PREFIX = "service__"

CONFIGURATION = f"""
[[mcp]]
name = "service"
command = [{json.dumps(sys.executable)}, {json.dumps(str(Path(__file__).parent / "tools.py"))}]
trusted = true

[[approve]]
capability = "service/test_*elicitation"
"""

# The scenarios that call or look for a tool of a fixed name.
NAMED = ("tools-call-*", "json-schema-*", "server-sse-polling", "server-stateless", "http-custom-header-server-validation")
# Why a scenario does not apply.
NOT_APPLICABLE = {
    "logging-set-level": "no logging is declared",
    "tools-call-with-logging": "no logging is declared",
    "completion-complete": "no completions are declared",
    "resources-*": "no resources are declared",
    "sep-2164-resource-not-found": "no resources are declared",
    "prompts-*": "no prompts are declared",
    "input-required-result-non-tool-request": "no prompts are declared",
    "tools-call-sampling": "the server never asks for sampling",
    "elicitation-sep*": "the only form is that of approvals, not the one that is tested",
    "input-required-result-unsupported-methods": None,
    "input-required-result-*": "no call has a result that asks for input",
    "sep-2640-*": "an extension (skills) that is not declared",
    "tasks-*": "an extension (tasks) that is not declared",
}
# The same for single checks of scenarios that apply.
CHECKS_NOT_APPLICABLE = {
    "sep-2575-server-rejects-undeclared-capability": "no call needs a capability of the client",
    "sep-2575-missing-capability-http-400": "no call needs a capability of the client",
    "sep-2549-prompts-list-caching-hints": "no prompts are declared",
    "sep-2549-resources-list-caching-hints": "no resources are declared",
    "sep-2549-resources-templates-list-caching-hints": "no resources are declared",
}
# The methods of what is not declared, which have to be unknown.
UNDECLARED = {
    "prompts/list": {},
    "prompts/get": {"name": "x"},
    "resources/list": {},
    "resources/templates/list": {},
    "resources/read": {"uri": "x:y"},
    "completion/complete": {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "x", "value": ""}},
}


class Renamed(JsonHandler):
    """Passes requests on to `reknit`, which has other names for the tools."""

    port = 0

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = dict(self.headers.items())
        message = json.loads(body) if body else None
        if isinstance(message, dict) and message.get("method") == "tools/call":
            message["params"]["name"] = PREFIX + message["params"]["name"]
            body = json.dumps(message).encode()
            headers = {name: PREFIX + value if name.lower() == "mcp-name" else value for name, value in headers.items()}
        headers = {name: value for name, value in headers.items() if name.lower() not in ("content-length", "connection")}
        upstream = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            upstream.request(self.command, self.path, body, headers)
            self.pass_on(upstream.getresponse())
        except OSError:
            self.close_connection = True
        finally:
            upstream.close()

    do_GET = do_DELETE = do_POST

    def pass_on(self, response: http.client.HTTPResponse) -> None:
        self.send_response(response.status)
        for name, value in response.getheaders():
            if name.lower() not in ("content-length", "transfer-encoding", "connection", "date", "server"):
                self.send_header(name, value)
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        # An event is several lines, and a JSON body is one.
        for line in response:
            self.wfile.write(line.replace(f'"{PREFIX}'.encode(), b'"'))
            self.wfile.flush()

def run_suite(conformance: str, port: int, era: str, folder: Path) -> dict[str, list[dict]]:
    """The checks of each scenario."""
    command = [conformance, "server", "--url", f"http://127.0.0.1:{port}/mcp", "--suite", "all"]
    with open(f"{folder}.log", "w") as log:
        subprocess.run([*command, "--spec-version", era, "--output-dir", folder], stdout=log, stderr=subprocess.STDOUT)
    found = {}
    for path in folder.glob("server-*/checks.json"):
        scenario = re.sub(r"^server-(.*)-\d{4}-\d\d-\d\dT.*$", r"\1", path.parent.name)
        found[scenario] = json.loads(path.read_text())
    return found


def list_scenarios(conformance: str, *arguments: str) -> list[str]:
    listed = subprocess.run([conformance, "list", "--server", *arguments], capture_output=True, text=True, check=True)
    return re.findall(r"^ +- (\S+)", listed.stdout, re.M)


def why_not(scenario: str) -> str | None:
    return next((why for pattern, why in NOT_APPLICABLE.items() if fnmatch(scenario, pattern)), None)


def undeclared_methods(port: int) -> list[dict]:
    """Our own check, in place of the scenarios about what is not declared. The newer era needs no handshake."""
    checks = []
    for method, parameters in UNDECLARED.items():
        prefix = "io.modelcontextprotocol/"
        meta = {f"{prefix}protocolVersion": ERAS[1], f"{prefix}clientCapabilities": {}}
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**parameters, "_meta": meta}}
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        headers |= {"mcp-protocol-version": ERAS[1], "mcp-method": method}
        headers |= {"mcp-name": parameters.get("name") or parameters["uri"]} if method in ("prompts/get", "resources/read") else {}
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("POST", "/mcp", json.dumps(body), headers)
        text = connection.getresponse().read().decode()
        connection.close()
        holds = '"code":-32601' in text
        status = "SUCCESS" if holds else "FAILURE"
        checks.append({"id": method, "status": status, "errorMessage": f"is answered although it is not declared: {text.strip()}"})
    return checks


def row(era: str, scenario: str, checks: list[dict] | None) -> str:
    """Prints the row of a scenario, and returns its outcome."""
    reason = why_not(scenario)
    if reason is not None:
        print(f"-       {era}  {scenario}: {reason}")
        return "not applicable"
    checks = checks or [{"id": "run", "status": "FAILURE", "errorMessage": "the scenario wrote no result"}]
    left_out = [check for check in checks if check["status"] == "FAILURE" and check["id"] in CHECKS_NOT_APPLICABLE]
    failed = [check for check in checks if check["status"] == "FAILURE" and check not in left_out]
    passed = sum(check["status"] == "SUCCESS" for check in checks)
    print(f"{'FAILED' if failed else 'ok    '}  {era}  {scenario}: {passed} of {passed + len(failed)} checks")
    for check in failed:
        print(f"            {check['id']}: {check.get('errorMessage', '')[:300]}")
    for check in left_out:
        print(f"        -   {check['id']}: {CHECKS_NOT_APPLICABLE[check['id']]}")
    for check in checks:
        if check["status"] == "WARNING":
            print(f"        warning: {check['id']}: {check.get('errorMessage', '')[:300]}")
    return "failed" if failed else "passed"


def main() -> int:
    reknit, conformance, folder = sys.argv[1], sys.argv[2], empty_folder(sys.argv[3])
    (folder / "reknit.toml").write_text(CONFIGURATION)
    arguments = ["--config", folder / "reknit.toml", "--journal", folder / "journal.db"]
    process, port = start_reknit(reknit, arguments, folder / "serve.log", {"REKNIT_FIND_MODEL": "false"})
    try:
        Renamed.port = port
        renamed, _ = serve(Renamed)
        outcomes = []
        for era in ERAS:
            direct = run_suite(conformance, port, era, folder / f"direct-{era}")
            by_name = run_suite(conformance, renamed.server_port, era, folder / f"renamed-{era}")
            for scenario in list_scenarios(conformance, "--spec-version", era):
                is_named = any(fnmatch(scenario, pattern) for pattern in NAMED)
                outcomes.append(row(era, scenario, (by_name if is_named else direct).get(scenario)))
        of_an_era = {scenario for era in ERAS for scenario in list_scenarios(conformance, "--spec-version", era)}
        for scenario in list_scenarios(conformance):
            if scenario not in of_an_era:
                outcomes.append(row("extension ", scenario, None))
        outcomes.append(row("our own   ", "undeclared methods are unknown", undeclared_methods(port)))
    finally:
        process.terminate()
        process.wait()
    print("; ".join(f"{outcomes.count(outcome)} {outcome}" for outcome in ("passed", "failed", "not applicable")))
    return 1 if "failed" in outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
