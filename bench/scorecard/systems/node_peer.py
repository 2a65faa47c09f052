"""Peers that are JavaScript programs of the folder `peers`. They run with the Node and the packages of the private environment."""

import json
import os
import shutil
from pathlib import Path

from . import Cell
from .python_peer import PEERS, Peer


class NodePeer(Peer):
    def __init__(self, private: Path, name: str, label: str, program: str, packages: list[str], features: set[str], reasons: dict | None = None):
        self.modules = private / "npm-scorecard" / "node_modules"
        self.name, self.label, self.program, self.packages = name, label, program, packages
        self.features, self.reasons = features, reasons or {}

    def manifest(self, package: str) -> Path:
        return self.modules / package / "package.json"

    def version(self) -> str:
        return ", ".join(f"{package} {json.loads(self.manifest(package).read_text())['version']}" for package in self.packages)

    def missing(self) -> str | None:
        return None if all(self.manifest(package).exists() for package in self.packages) else "its packages are not installed"

    def command(self, cell: Cell, phase: str) -> tuple[list[str], dict[str, str]]:
        # Modules are searched beside the program, so it runs from the folder of the packages.
        folder = self.modules.parent / "peers"
        folder.mkdir(exist_ok=True)
        for file in ("common.mjs", self.program):
            shutil.copy(PEERS / file, folder / file)
        environment = {"PATH": os.environ["PATH"], "HOME": str(cell.folder), "NO_PROXY": "127.0.0.1", "MASTRA_TELEMETRY_DISABLED": "1"}
        return [str(self.modules / ".bin" / "node"), str(folder / self.program), str(cell.folder), phase], environment
