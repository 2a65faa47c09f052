"""Measures gateways beside each other.

usage: python measure.py REKNIT LOAD LITELLM PORTKEY FOLDER [--quick]

Every gateway has the first core for itself, and the client and the scripted model share the second one. They take turns, and the median of the
turns counts. CPU is what the gateway's processes used, in user and kernel mode.
"""

import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from programs import empty_folder, free_port, start, start_reknit  # noqa: E402 (the path is set above)

TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
ONE_CORE, OTHER_CORE = ["taskset", "-c", "0"], ["taskset", "-c", "1"]
CONNECTIONS = 16
TURNS = 5
PEERS = ["portkey gateway", "litellm proxy"]


@dataclass
class Gateway:
    name: str
    port: int
    process: subprocess.Popen | None
    # Calls of one turn; a turn should take about a second.
    calls: int
    model: str = "scripted"
    headers: list[str] = field(default_factory=list)
    results: dict[str, list[float]] = field(default_factory=dict)
    # Forms of answers that a peer cannot give, with its error.
    broken: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, value: float):
        self.results.setdefault(name, []).append(value)

    def median(self, name: str) -> float:
        return statistics.median(self.results[name])


def tree(process: subprocess.Popen) -> list[int]:
    """The process and all its descendants."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            children.setdefault(int(stat.read_text().rpartition(")")[2].split()[1]), []).append(int(stat.parent.name))
        except OSError:
            pass
    found, rest = [], [process.pid]
    while rest:
        found.append(rest.pop())
        rest += children.get(found[-1], [])
    return found


def cpu_seconds(process: subprocess.Popen) -> float:
    fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in tree(process)]
    return sum(int(values[11]) + int(values[12]) for values in fields) / TICK


def memory_mb(process: subprocess.Popen) -> float:
    return sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in tree(process)) * PAGE / 1e6


class Bench:
    def __init__(self, reknit: str, load: str, litellm: str, portkey: str, folder: Path, quick: bool):
        self.load_program, self.quick = load, quick
        self.model_port = free_port()
        self.model = start([*OTHER_CORE, load, "model", self.model_port], self.model_port, folder / "model.log")
        url = f"http://127.0.0.1:{self.model_port}/v1"
        self.direct = Gateway("no gateway", self.model_port, None, 20_000)
        self.gateways = [
            self.bare(load, folder),
            self.reknit(reknit, url, folder),
            self.portkey(portkey, url, folder),
            self.litellm(litellm, url, folder),
        ]

    def bare(self, load: str, folder: Path) -> Gateway:
        port = free_port()
        process = start([*ONE_CORE, load, "proxy", port, self.model_port], port, folder / "proxy.log")
        return Gateway("bare hyper proxy", port, process, 20_000)

    def reknit(self, reknit: str, url: str, folder: Path) -> Gateway:
        configuration = folder / "reknit.toml"
        configuration.write_text(
            f'[[models]]\nname = "scripted"\nprovider = "openai"\nmodel = "scripted"\nurl = "{url}"\nkey-env = "SCRIPTED_KEY"\n'
        )
        arguments = ["--config", configuration, "--journal", folder / "journal.db"]
        process, port = start_reknit(reknit, arguments, folder / "reknit.log", {"SCRIPTED_KEY": "sk-scripted"}, ONE_CORE)
        return Gateway("reknit serve", port, process, 10_000)

    def portkey(self, portkey: str, url: str, folder: Path) -> Gateway:
        port = free_port()
        environment = {"NODE_ENV": "production", "TRUSTED_CUSTOM_HOSTS": f"127.0.0.1,localhost,127.0.0.1:{self.model_port}"}
        command = [*ONE_CORE, "node", portkey, f"--port={port}", "--headless"]
        process = start(command, port, folder / "portkey.log", environment)
        headers = ["x-portkey-provider:openai", f"x-portkey-custom-host:{url}"]
        return Gateway("portkey gateway", port, process, 2_000, headers=headers)

    def litellm(self, litellm: str, url: str, folder: Path) -> Gateway:
        port = free_port()
        model = {
            "model_name": "scripted",
            "litellm_params": {"model": "openai/scripted", "api_base": url, "api_key": "sk-scripted"},
        }
        configuration = folder / "litellm.yaml"
        configuration.write_text(json.dumps({"model_list": [model], "litellm_settings": {"telemetry": False}}))
        # As it recommends for production: one worker per core, logs of errors only. It checks no key, like the others here, and serves loopback.
        environment = {
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_MODE": "PRODUCTION",
            "LITELLM_LOG": "ERROR",
            "NO_DOCS": "True",
        }
        environment["LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY"] = "true"
        command = [*ONE_CORE, litellm, "--config", configuration, "--host", "127.0.0.1", "--port", port, "--num_workers", "1"]
        return Gateway("litellm proxy", port, start(command, port, folder / "litellm.log", environment), 500)

    def load(self, gateway: Gateway, connections: int, calls: int, form: str) -> dict:
        words = [gateway.port, connections, calls, form, gateway.model, *gateway.headers]
        command = [*OTHER_CORE, self.load_program, "load", *words]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{gateway.name}, {form}: {done.stderr}")
        return json.loads(done.stdout)

    def turn(self, gateway: Gateway, form: str, is_warm_up: bool):
        calls = max(gateway.calls // (20 if self.quick else 1), 20)
        before = cpu_seconds(gateway.process) if gateway.process else 0.0
        many = self.load(gateway, CONNECTIONS, calls, form)
        used = (cpu_seconds(gateway.process) if gateway.process else 0.0) - before
        one = self.load(gateway, 1, max(calls // 4, 20), form)
        if is_warm_up:
            return
        gateway.add(f"{form} rps", many["calls"] / many["seconds"])
        gateway.add(f"{form} cpu", used / many["calls"] * 1e6)
        gateway.add(f"{form} p50", one["p50_us"])
        gateway.add(f"{form} p99", one["p99_us"])

    def measure(self):
        for at in range(1 + (1 if self.quick else TURNS)):
            for form in ("whole", "stream"):
                for gateway in [self.direct, *self.gateways]:
                    if form in gateway.broken:
                        continue
                    try:
                        self.turn(gateway, form, at == 0)
                    except RuntimeError as error:
                        if gateway.name not in PEERS:
                            raise
                        gateway.broken[form] = str(error).strip()

    def memory_growth(self, gateway: Gateway) -> tuple[float, float]:
        """Memory after a tenth of the calls, and after all of them."""
        calls = 2_000 if self.quick else 100_000
        self.load(gateway, CONNECTIONS, calls // 10, "whole")
        first = memory_mb(gateway.process)
        self.load(gateway, CONNECTIONS, calls - calls // 10, "whole")
        return first, memory_mb(gateway.process)


def report(bench: Bench, memory: tuple[float, float]) -> bool:
    for form in ("whole", "stream"):
        print(
            f"\n{f'answers: {form}':20} {'calls/s':>9} {'calls/CPU s':>12} {'CPU µs/call':>12} {'p50 µs':>9} {'p99 µs':>9} {'added p99':>10}"
        )
        for gateway in [bench.direct, *bench.gateways]:
            if form in gateway.broken:
                print(f"{gateway.name:20} not measured: {gateway.broken[form]}")
                continue
            value = {name: gateway.median(f"{form} {name}") for name in ("rps", "cpu", "p50", "p99")}
            added = value["p99"] - bench.direct.median(f"{form} p99")
            cpu = f"{1e6 / value['cpu']:12.0f} {value['cpu']:12.1f}" if value["cpu"] else f"{'':12} {'':12}"
            print(
                f"{gateway.name:20} {value['rps']:9.0f} {cpu} {value['p50']:9.0f} {value['p99']:9.0f} {added if gateway.process else 0:10.0f}"
            )
    bare, ours, portkey, litellm = bench.gateways
    bars = []
    for form in ("whole", "stream"):
        measured = [gateway for gateway in bench.gateways if form not in gateway.broken]
        added = {gateway.name: gateway.median(f"{form} p99") - bench.direct.median(f"{form} p99") for gateway in measured}
        for peer, times in ((litellm, 10), (portkey, 3)):
            if peer not in measured:
                continue
            ratio = peer.median(f"{form} cpu") / max(ours.median(f"{form} cpu"), 0.1)
            bars.append(
                (f"{form}: calls per core, beside {peer.name}", f"{ratio:.1f} x", f"at least {times} x", ratio >= times)
            )
            ratio = added[ours.name] / max(added[peer.name], 1)
            bars.append(
                (f"{form}: added p99, beside {peer.name}", f"{ratio:.2f} x", f"at most 1/{times}", ratio <= 1 / times)
            )
        more = ours.median(f"{form} cpu") - bare.median(f"{form} cpu")
        bars.append((f"{form}: CPU per call, more than the bare proxy", f"{more:.0f} µs", "at most 100 µs", more <= 100))
    first, last = memory
    bars.append(
        (
            "memory after 10 % and 100 % of the calls",
            f"{first:.1f} MB, {last:.1f} MB",
            "at most 5 % more",
            last <= first * 1.05,
        )
    )
    print()
    for what, value, bar, holds in bars:
        print(f"{what:52} {value:>20}   {bar:16} {'ok' if holds else 'MISSED'}")
    return all(holds for *_, holds in bars)


def main() -> int:
    reknit, load, litellm, portkey, folder = sys.argv[1:6]
    if (os.cpu_count() or 1) < 2:
        sys.exit("bench: this needs two cores")
    bench = Bench(reknit, load, litellm, portkey, empty_folder(folder), "--quick" in sys.argv)
    bench.measure()
    memory = bench.memory_growth(bench.gateways[1])
    return 0 if report(bench, memory) else 1


if __name__ == "__main__":
    sys.exit(main())
