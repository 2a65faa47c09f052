"""LiteLLM's proxy in front of both model servers. One process serves all cells, as it would in production."""

import atexit
import socket
import subprocess
import time
from pathlib import Path

from . import MODEL_LIMIT, Cell
from .python_peer import PythonPeer

CONFIGURATION = """
model_list:
  - model_name: primary
    litellm_params: {{model: openai/scripted, api_base: "{models}/primary/v1", api_key: none, timeout: {limit}, max_retries: 0}}
  - model_name: backup
    litellm_params: {{model: openai/scripted, api_base: "{models}/backup/v1", api_key: none, timeout: {limit}, max_retries: 0}}
router_settings:
  num_retries: 2
  timeout: {limit}
  disable_cooldowns: true
  fallbacks: [{{primary: [backup]}}]
  context_window_fallbacks: [{{primary: [backup]}}]
  content_policy_fallbacks: [{{primary: [backup]}}]
litellm_settings:
  telemetry: false
"""


class LiteLLMRouter(PythonPeer):
    def command(self, cell: Cell, phase: str):
        command, environment = super().command(cell, phase)
        return [*command, "router"], {**environment, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}


class LiteLLMProxy(PythonPeer):
    def not_applicable(self, scenario) -> str | None:
        is_about_models = scenario.group in ("providers", "answers") or scenario.id == "plain"
        return super().not_applicable(scenario) or (None if is_about_models else "as LiteLLM Router; only what a proxy can change is played")

    url: str | None = None

    def prepare(self, cell: Cell) -> None:
        super().prepare(cell)
        if self.url is None:
            self.url = self.launch(cell)

    def launch(self, cell: Cell) -> str:
        folder = cell.folder.parent
        (folder / "proxy.yaml").write_text(CONFIGURATION.format(models=cell.models, limit=MODEL_LIMIT))
        with socket.create_server(("127.0.0.1", 0)) as held:
            port = held.getsockname()[1]
        _, environment = super().command(cell, "start")
        # It listens on loopback, for this run only.
        no_key = {"LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true"}
        environment |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "HOME": str(folder), **no_key}
        command = [str(Path(self.python).parent / "litellm"), "--config", str(folder / "proxy.yaml"), "--host", "127.0.0.1", "--port", str(port)]
        with open(folder / "proxy.log", "w") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=folder)
        atexit.register(process.kill)
        for _ in range(3000):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return f"http://127.0.0.1:{port}/v1"
            except OSError:
                time.sleep(0.1)
        raise RuntimeError(f"the proxy does not start; see {folder}/proxy.log")

    def command(self, cell: Cell, phase: str):
        command, environment = super().command(cell, phase)
        return [*command, self.url], environment
