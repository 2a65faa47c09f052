"""Runs every client against the scripted provider, and through the gateway against each of its APIs and against all of them. Prints the checks
that failed, and a table.

usage: python clients.py REKNIT FOLDER [CLIENT...]

REKNIT may be empty: then only the provider itself is used.
"""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from answers import ANSWERS  # noqa: E402 (the path is set above)
from programs import empty_folder, free_port, start, start_reknit  # noqa: E402 (the path is set above)

HERE = Path(__file__).parent
CLIENTS = [
    "openai_client.py",
    "openai_client.mjs",
    "anthropic_client.py",
    "anthropic_client.mjs",
    "langchain_client.py",
    "pydantic_ai_client.py",
]
# The APIs that the provider speaks: the provider in the configuration, and the path with a body.
APIS = {
    "chat": ("openai", "/v1/chat/completions", {"messages": [{"role": "user", "content": "hello"}]}),
    "responses": ("openai-responses", "/v1/responses", {"input": "hello"}),
    "messages": ("anthropic", "/v1/messages", {"messages": [{"role": "user", "content": "hello"}], "max_tokens": 100}),
}
SECONDS = 180


def configuration(upstream: str, apis: list[str]) -> str:
    """One model for each API, with the API as its name. The clients ask for many errors in a row, which open no breaker here."""
    breaker = "[breaker]\ncalls = 1000000\n\n"
    entry = '[[models]]\nname = "{}"\nprovider = "{}"\nmodel = "scripted"\nurl = "{}/v1"\nkey-env = "SCRIPTED_KEY"\n'
    return breaker + "\n".join(entry.format(api, APIS[api][0], upstream) for api in apis)


def start_gateway(reknit: str, upstream: str, name: str, apis: list[str], folder: Path) -> tuple[subprocess.Popen, str]:
    (folder / f"{name}.toml").write_text(configuration(upstream, apis))
    arguments = ["--config", folder / f"{name}.toml", "--journal", folder / f"{name}.db"]
    process, port = start_reknit(reknit, arguments, folder / f"{name}-serve.log", {"SCRIPTED_KEY": "sk-scripted"})
    return process, f"http://127.0.0.1:{port}"


def body_of(url: str, body: dict) -> bytes:
    headers = {
        "content-type": "application/json",
        "x-api-key": "sk-scripted",
        "authorization": "Bearer sk-scripted",
        "anthropic-version": "2023-06-01",
    }
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers), timeout=30) as response:
        return response.read()


# Why an answer that needs no mending may have other bytes through the gateway: (API, name, whether it is streamed).
COMMENT = "a comment behind the last event is not read: the answer is complete"
JUSTIFIED: dict[tuple[str, str, bool], str] = {
    (api, "comments and lines that end with CRLF", True): COMMENT for api in ("chat", "responses", "messages")
}


def passes_through(gateway: str, upstream: str, api: str) -> tuple[int, bool]:
    """How many answers that need no mending have the same bytes with and without the gateway, if both sides speak the same API, and whether every
    other one is justified."""
    _, path, body = APIS[api]
    names, build = ANSWERS[api]
    same, holds = 0, True
    for stream, name in product((False, True), names):
        asked, _ = build(name, stream)
        given = "input" if api == "responses" else "messages"
        text = f"raw {name}"
        asked = {**body, **asked, given: text if api == "responses" else [{"role": "user", "content": text}], "stream": stream}
        direct = body_of(upstream + path, {**asked, "model": "scripted"})
        try:
            through = body_of(gateway + path, {**asked, "model": api})
        except urllib.error.HTTPError as error:
            through = f"{error.code}: ".encode() + error.read()
        same += direct == through
        if direct != through:
            why = JUSTIFIED.get((api, name, stream))
            holds &= why is not None
            at = next((at for at, (one, other) in enumerate(zip(direct, through)) if one != other), min(len(direct), len(through)))
            print(f"-- {api}, {name}{', streaming' if stream else ''}: {why or 'other bytes'}\n   {direct[at - 60 : at + 400]!r}\n   {through[at - 60 : at + 400]!r}")
    return same, holds


def run(client: str, base_url: str, model: str, upstream: str, via: str, folder: Path) -> tuple[int, int, list[str]]:
    """How many checks passed, how many there were, and the class of each error that was asked for."""
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
    raised = [line for line in lines if line.startswith("raised ")]
    return passed, passed + max(failed, 0 if passed else 1), raised


def main() -> int:
    reknit, folder, clients = sys.argv[1], empty_folder(sys.argv[2]), sys.argv[3:] or CLIENTS
    os.environ["NO_PROXY"] = "127.0.0.1"
    port = free_port()
    upstream = f"http://127.0.0.1:{port}"
    provider = start([sys.executable, HERE / "upstream.py", str(port)], port, folder / "upstream.log")
    table: dict[str, list[str]] = {client: [] for client in clients}
    holds = True
    identical: list[str] = []
    # The errors that a client raises, by client and column.
    errors: dict[str, list[list[str]]] = {client: [] for client in clients}

    def run_all(base_url: str, model: str, via: str) -> bool:
        for client in clients:
            passed, of, raised = run(client, base_url, model, upstream, via, folder)
            other = sorted(set(raised) ^ set((errors[client] or [raised])[0]))
            if other:
                print(f"-- {client}, {model}: other errors than against the provider\n" + "\n".join(other), flush=True)
            errors[client].append(raised)
            table[client].append(f"{passed - bool(other)} of {of}")
        return all(cells[-1].split(" of ")[0] == cells[-1].split(" of ")[1] for cells in table.values())

    try:
        holds &= run_all(upstream, "scripted", "direct")
        columns = ["direct"]
        for name, apis in {**{api: [api] for api in APIS}, "auto": list(APIS)}.items() if reknit else ():
            process, gateway = start_gateway(reknit, upstream, name, apis, folder)
            try:
                if name in APIS:
                    same, is_justified = passes_through(gateway, upstream, name)
                    holds &= is_justified
                    identical.append(f"{name}: {same} of {2 * len(ANSWERS[name][0])} answers have the bytes of the provider")
                holds &= run_all(gateway, name, "gateway")
            finally:
                process.terminate()
            columns.append(f"to {name}" if name in APIS else "to all of them")
    finally:
        provider.terminate()
    print("\n" + "\n".join(identical))
    print(f"\n{'client':22}" + "".join(f"{column:>16}" for column in columns))
    for client, cells in table.items():
        print(f"{client:22}" + "".join(f"{cell:>16}" for cell in cells))
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
