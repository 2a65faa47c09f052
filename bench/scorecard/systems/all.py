"""The list of all systems, ours first."""

from pathlib import Path

from . import System
from .litellm import LiteLLMProxy, LiteLLMRouter
from .node_peer import NodePeer
from .python_peer import PythonPeer
from .reknit import Reknit
from .rust_peer import RustPeer

EVERYTHING = {"agent", "kill", "approve", "program"}
DURABLE_AGENTS = "it leaves durable execution to DBOS, Temporal or Restate; see OpenAI Agents SDK with DBOS"
DURABLE_PYDANTIC = "it leaves durable execution to DBOS, Temporal or Prefect; see PydanticAI with DBOS"
DURABLE_VERCEL = "its `ToolLoopAgent` is lost with the process; its `WorkflowAgent` needs the build and the runtime of the Workflow DevKit"
PLAN_IO_HARNESS = "its plan is text that a person approves; the calls that follow are those of an agent"
PYDANTIC = ("pydantic_ai", "pydantic_ai.models.openai", "pydantic_ai.models.fallback")


class OnlyDurable(PythonPeer):
    """An agent with another engine below it: only what that changes is played."""

    def not_applicable(self, scenario) -> str | None:
        if scenario.group in ("kills", "approvals", "parallel") or scenario.id == "plain":
            return super().not_applicable(scenario)
        return f"as {self.label.removesuffix(' with DBOS')}; only what DBOS changes is played"


class Governed(PythonPeer):
    def not_applicable(self, scenario) -> str | None:
        effects = [tool for tool, _ in scenario.effects]
        if scenario.group in ("kills", "approvals") or (scenario.group == "tools" and effects):
            return super().not_applicable(scenario)
        return "it is about approvals and unknown outcomes; elsewhere it is LangGraph"


def all_systems(reknit: str, private: Path) -> list[System]:
    return [
        Reknit(reknit),
        PythonPeer(private, "langgraph", "langgraph", "LangGraph", "langgraph_peer.py", ["langgraph", "langchain", "langchain-openai"], {*EVERYTHING, "plan", "child"},
                   modules=("langchain.agents", "langchain.agents.middleware", "langchain_openai", "langgraph.checkpoint.sqlite.aio", "langgraph.graph")),
        Governed(private, "langgraph", "langgraph-governed", "LangGraph with agent-runtime-governance", "langgraph_governed_peer.py",
                 ["agent-runtime-governance"], EVERYTHING, modules=("langchain.agents", "langchain.agents.middleware", "langchain_openai",
                 "langgraph.checkpoint.sqlite.aio", "langgraph.graph", "agent_runtime_governance")),
        PythonPeer(private, "pydantic-ai", "pydantic-ai", "PydanticAI", "pydantic_ai_peer.py", ["pydantic-ai-slim"], {"agent", "approve", "plan", "child"}, {"kill": DURABLE_PYDANTIC},
                   modules=PYDANTIC),
        OnlyDurable(private, "pydantic-ai", "pydantic-ai-dbos", "PydanticAI with DBOS", "pydantic_ai_dbos_peer.py", ["pydantic-ai-slim", "dbos"], EVERYTHING,
                   modules=(*PYDANTIC, "dbos", "pydantic_ai.durable_exec.dbos")),
        PythonPeer(private, "openai-agents", "openai-agents", "OpenAI Agents SDK", "openai_agents_peer.py", ["openai-agents"], {"agent", "approve", "child"}, {"kill": DURABLE_AGENTS},
                   modules=("agents",)),
        OnlyDurable(private, "openai-agents", "openai-agents-dbos", "OpenAI Agents SDK with DBOS", "openai_agents_dbos_peer.py",
                    ["openai-agents", "dbos-openai-agents"], {"agent", "approve", "kill"}, modules=("agents", "dbos", "dbos_openai_agents")),
        LiteLLMRouter(private, "litellm", "litellm-router", "LiteLLM Router", "litellm_peer.py", ["litellm"], {"agent", "child"}, modules=("litellm",)),
        LiteLLMProxy(private, "litellm", "litellm-proxy", "LiteLLM proxy", "litellm_peer.py", ["litellm"], {"agent"}),
        NodePeer(private, "vercel", "Vercel AI SDK", "vercel_peer.mjs", ["ai", "@ai-sdk/openai-compatible"], {"agent", "approve", "child"}, {"kill": DURABLE_VERCEL}),
        NodePeer(private, "mastra", "Mastra", "mastra_peer.mjs", ["@mastra/core", "@mastra/libsql"], {*EVERYTHING, "child"}),
        RustPeer(private, "rig", "Rig", ["rig"], {"agent", "approve", "kill"}),
        RustPeer(private, "io-harness", "io-harness", ["io-harness"], {"agent", "approve", "kill"}, {"plan": PLAN_IO_HARNESS}),
        RustPeer(private, "everruns", "Everruns", ["everruns"], {"agent", "approve", "kill"}),
    ]  # fmt: skip
