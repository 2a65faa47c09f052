"""Peers that are Rust programs of the folder `peers`, which `run` built from the registry."""

import os
import tomllib
from pathlib import Path

from . import Cell
from .python_peer import PEERS, Peer


class RustPeer(Peer):
    def __init__(self, private: Path, name: str, label: str, packages: list[str], features: set[str], reasons: dict | None = None):
        target = Path(os.environ.get("CARGO_TARGET_DIR") or private / "target")
        self.is_optimised = os.environ.get("PEER_PROFILE", "release") == "release"
        self.program = target / ("release" if self.is_optimised else "debug") / f"scorecard-{name}"
        self.name, self.label, self.packages = name, label, packages
        self.features, self.reasons = features, reasons or {}

    def version(self) -> str:
        locked = tomllib.loads((PEERS / self.name / "Cargo.lock").read_text())["package"]
        found = [f"{package['name']} {package['version']}" for package in locked if package["name"] in self.packages]
        return ", ".join(found) + ("" if self.is_optimised else " (debug build)")

    def missing(self) -> str | None:
        return None if self.program.exists() else "it is not built"

    def command(self, cell: Cell, phase: str) -> tuple[list[str], dict[str, str]]:
        environment = {"PATH": os.environ["PATH"], "HOME": str(cell.folder), "NO_PROXY": "127.0.0.1", "IO_HARNESS_ALLOW_LOCAL_ADDRESSES": "1"}
        return [str(self.program), str(cell.folder), phase], environment
