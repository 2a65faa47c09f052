"""Measures services that plan, execute and answer beside each other.

usage: python measure.py REKNIT FOLDER [--quick]

Each service has the first core for itself; the client, the scripted model and the tools share the second one. They take turns, and the median of the
turns counts. CPU is what the processes of the service used, in user and kernel mode, so a slow client does not matter.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).parent.parent))
from programs import empty_folder, free_port, start, start_reknit  # noqa: E402 (the path is set above)

TICK = os.sysconf("SC_CLK_TCK")
ONE_CORE, OTHER_CORE = ["taskset", "-c", "0"], ["taskset", "-c", "1"]
HERE = Path(__file__).parent
AT_ONCE = 16
TURNS = 5
BAR = 10
ANSWER = "In Seoul it is clear, at 14.5 degrees."


@dataclass
class Service:
    name: str
    url: str
    process: subprocess.Popen
    calls: int
    rates: list[float] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICK


def uvicorn(module: str, folder: Path, cores: list[str], environment: dict[str, str]) -> tuple[str, subprocess.Popen]:
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", f"{module}:app", "--port", port, "--log-level", "warning", "--no-access-log"]
    return f"http://127.0.0.1:{port}", start([*cores, *command], port, folder / f"{module}.log", environment, HERE)


def reknit(program: str, folder: Path, backend: str, name: str, journal: str) -> Service:
    configuration = folder / "reknit.toml"
    tool = '[[openapi]]\nname = "{0}"\ndocument = "{1}/openapi.json"\nurl = "{1}"\noperations = ["{2}"]\n\n'
    configuration.write_text(
        '[log]\nlevel = "off"\n\n'
        + f'[[models]]\nname = "scripted"\nprovider = "openai"\nmodel = "scripted"\nurl = "{backend}/v1"\nkey-env = "SCRIPTED_KEY"\n\n'
        + tool.format("geo", backend, "geocode")
        + tool.format("weather", backend, "current")
    )
    arguments = ["--config", configuration, "--journal", journal]
    process, port = start_reknit(program, arguments, folder / f"{name}.log", {"SCRIPTED_KEY": "sk-scripted"}, ONE_CORE)
    return Service(name, f"http://127.0.0.1:{port}/orchestrate/natural", process, 2_000)


async def turn(service: Service, calls: int):
    limits = httpx.Limits(max_connections=AT_ONCE)
    async with httpx.AsyncClient(limits=limits, timeout=60) as client:
        latencies = []
        waiting = iter(range(calls))

        async def worker():
            for _ in waiting:
                began = time.perf_counter()
                response = await client.post(service.url, json={"request": "What is the weather in Seoul?"})
                if response.status_code != 200 or ANSWER not in response.json()["response"]:
                    sys.exit(f"{service.name}: {response.status_code} {response.text[:500]}")
                latencies.append(time.perf_counter() - began)

        before = service.cpu_seconds()
        await asyncio.gather(*(worker() for _ in range(AT_ONCE)))
        used = service.cpu_seconds() - before
    service.rates.append(calls / max(used, 1 / TICK))
    service.latencies.append(statistics.median(latencies))


def main():
    program, folder, quick = sys.argv[1], empty_folder(sys.argv[2]), "--quick" in sys.argv
    os.sched_setaffinity(0, {1})
    backend, _ = uvicorn("backend", folder, OTHER_CORE, {})
    services = [
        reknit(program, folder, backend, "reknit serve", ":memory:"),
        reknit(program, folder, backend, "reknit serve, file", str(folder / "journal.db")),
    ]
    for name in ("langgraph", "pydantic"):
        url, process = uvicorn(f"{name}_service", folder, ONE_CORE, {"BACKEND": backend})
        services.append(Service({"langgraph": "LangGraph + FastAPI", "pydantic": "PydanticAI + FastAPI"}[name], f"{url}/ask", process, 200))
    scale = 10 if quick else 1
    for service in services:
        asyncio.run(turn(service, AT_ONCE))
        service.rates.clear()
        service.latencies.clear()
    for _ in range(1 if quick else TURNS):
        for service in services:
            asyncio.run(turn(service, max(AT_ONCE, service.calls // scale)))
    ours, with_file = (statistics.median(service.rates) for service in services[:2])
    print(f"{'service':24} {'requests per CPU second':>24} {'ours / theirs':>14} {'bar':>6} {'with a file':>12}")
    holds = True
    for service in services:
        rate = statistics.median(service.rates)
        ratio = ours / rate
        is_peer = service not in services[:2]
        holds &= not is_peer or ratio >= BAR
        print(f"{service.name:24} {rate:24.0f} {f'{ratio:.1f} x' if is_peer else '':>14} {f'{BAR} x' if is_peer else '':>6} {f'{with_file / rate:.1f} x' if is_peer else '':>12}")
    print("every bar holds" if holds else "a bar does not hold")
    sys.exit(0 if holds else 1)


main()
