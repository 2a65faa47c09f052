"""Runs every client against the scripted provider, and through the gateway against each of its APIs. Prints the checks that failed, and a table.

usage: python clients.py REKNIT FOLDER [CLIENT...]

REKNIT may be empty: then only the provider itself is used.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
CLIENTS = ["openai_client.py", "openai_client.mjs", "anthropic_client.py", "anthropic_client.mjs", "langchain_client.py", "pydantic_ai_client.py"]
# The names of the models in the configuration: one for each API that the provider speaks.
TARGETS = {"to-chat": "openai", "to-responses": "openai-responses", "to-messages": "anthropic"}
SECONDS = 180


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as held:
        return held.getsockname()[1]


def start(command: list, port: int, log: Path) -> subprocess.Popen:
    with open(log, "w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, cwd=log.parent, env={**os.environ, "SCRIPTED_KEY": "sk-scripted"})
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process
        except OSError:
            time.sleep(0.1)
    process.kill()
    sys.exit(f"{command[0]} does not start; see {log}")


def configuration(upstream: str) -> str:
    entries = []
    for name, provider in TARGETS.items():
        # The clients of Anthropic add the version to the path themselves.
        url = upstream if provider == "anthropic" else f"{upstream}/v1"
        entries.append(f'[[models]]\nname = "{name}"\nprovider = "{provider}"\nmodel = "scripted"\nurl = "{url}"\nkey-env = "SCRIPTED_KEY"\n')
    return "\n".join(entries)


def run(client: str, base_url: str, model: str, upstream: str, via: str, folder: Path) -> tuple[int, int]:
    """How many checks passed, and how many there were."""
    command = ["node" if client.endswith(".mjs") else sys.executable, HERE / client, base_url, model, upstream, via]
    try:
        text = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS).stdout
    except subprocess.TimeoutExpired as error:
        text = (error.stdout or b"").decode() + f"FAILED  the client did not end within {SECONDS} s\n"
    (folder / f"{client}-{model}.log").write_text(text)
    lines = text.splitlines()
    passed, failed = (sum(line.startswith(word) for line in lines) for word in ("ok ", "FAILED"))
    if failed or not passed:
        print(f"-- {client}, {model}\n" + "\n".join(line for line in lines if not line.startswith("ok ")), flush=True)
    return passed, passed + max(failed, 0 if passed else 1)


def main() -> int:
    reknit, folder, clients = sys.argv[1], Path(sys.argv[2]), sys.argv[3:] or CLIENTS
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    os.environ["NO_PROXY"] = "127.0.0.1"
    ports = free_port(), free_port()
    upstream, gateway = (f"http://127.0.0.1:{port}" for port in ports)
    processes = [start([sys.executable, HERE / "upstream.py", str(ports[0])], ports[0], folder / "upstream.log")]
    table: dict[str, list[str]] = {client: [] for client in clients}
    holds = True
    try:
        ways = [(upstream, "scripted", "direct")]
        if reknit:
            (folder / "reknit.toml").write_text(configuration(upstream))
            serve = [reknit, "serve", "--listen", gateway.removeprefix("http://"), "--config", folder / "reknit.toml", "--journal", folder / "journal.db"]
            processes.append(start(serve, ports[1], folder / "serve.log"))
            ways += [(gateway, target, "gateway") for target in TARGETS]
        for base_url, model, via in ways:
            for client in clients:
                passed, of = run(client, base_url, model, upstream, via, folder)
                table[client].append(f"{passed} of {of}")
                holds &= passed == of
    finally:
        for process in processes:
            process.terminate()
    print(f"\n{'client':22}" + "".join(f"{model if via == 'gateway' else via:>15}" for _, model, via in ways))
    for client, columns in table.items():
        print(f"{client:22}" + "".join(f"{column:>15}" for column in columns))
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
