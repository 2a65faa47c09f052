"""The form of a scenario. `scenarios/` has them, as data.

A scenario says what a user asks for, which tools there are, what the scripted model writes, what fails and when, and what must be true in the
end. It says nothing about any of the systems that are compared.
"""

from dataclasses import dataclass, field

# What a run may end with. `judge.py` compares it with what happened.
DONE, REPORTED = "done", "reported"
# The tool that hands a task, its `input`, to another agent.
HELPER = "helper"


@dataclass
class Call:
    """One call that the model wants to make."""

    tool: str
    # The arguments that the model writes: the first ones, and after each error the next ones. A text such as "{get_order.total}" is replaced by
    # what the model has read in the last result of that tool.
    tries: list[dict]
    # How often the model makes the call in one turn.
    times: int = 1
    # The user wants the call although the same one was made before.
    is_repeated_on_purpose: bool = False


@dataclass
class Scenario:
    id: str
    title: str
    # Where it comes from: a public issue or page.
    source: str
    request: str
    # The calls of each turn; those of one turn are made in parallel.
    turns: list[list[Call]]
    # What the model says in the end, filled from the results.
    answer: str
    # The right answer, after `DONE: `; with `is_part_expected` only what it must have in it.
    expected: str = ""
    # What must have happened at the tools, once each, in any order: (tool, arguments).
    effects: list[tuple[str, dict]] = field(default_factory=list)
    # The best that can be reached. `REPORTED`: the request cannot be served, or nobody can know whether it was, so a success would be a lie.
    best: str = DONE
    # Faults of the tools: for each tool those of its first call, second call and so on. See world/service.py.
    faults: dict[str, list[str]] = field(default_factory=dict)
    # How long a tool takes, in seconds.
    latency: dict[str, float] = field(default_factory=dict)
    # Faults of the model servers: for `primary` and `backup` those of the first request, the second one and so on; one that ends with `...` is
    # that of all further requests. See world/model.py.
    model_faults: dict[str, list[str]] = field(default_factory=dict)
    # Damage of what the model writes: by the number of its answer, from 1 on. See world/damage.py.
    damage: dict[int, str] = field(default_factory=dict)
    # Whether the model notices an `error` inside a result. A careless one believes every result that is JSON.
    careful: bool = False
    # The process is killed when the model server gets its request with this number, before it answers.
    kill_at_model_request: int | None = None
    # Tools whose calls a person approves; and what that person says, in another process.
    approve: list[str] = field(default_factory=list)
    decision: str = "approve"
    # How many turns an agent may take.
    max_turns: int = 10
    # Whether answers of the model are streamed.
    stream: bool = False
    # The context window of the primary model, in tokens.
    context: int | None = None
    # The time that cannot be avoided, in seconds: tools on the longest path, and waits that were asked for. Given for scenarios that measure time.
    critical_path: float | None = None
    # The developer wrote the calls as a program, and no model is asked: `turns` are stages, and a call may refer to results of earlier ones.
    program: bool = False
    # A model writes all calls as one plan first, then they are made, then it writes the answer. `turns` are the steps of the plan.
    plan: bool = False
    # The model makes each call once and says that all is done, whatever came back.
    claims: bool = False
    # What the model says in the same answer as its first calls, before it has seen their results.
    early: str = ""
    # What the scenario is about, for the tables.
    group: str = ""

    # Tools that are offered although the model does not call them.
    more_tools: list[str] = field(default_factory=list)
    # The developer knows that a call may be rejected after it was accepted, and which tool tells that (`check` in world/catalogue.py).
    is_confirmed: bool = False
    # `expected` is a part of the answer.
    is_part_expected: bool = False
    # The agent that the tool `helper` runs: what its own model calls and says.
    child: "Scenario | None" = None

    @property
    def own_tools(self) -> list[str]:
        """The tools of the agent itself, without duplicates, in order, and without its helper."""
        names = [call.tool for turn in self.turns for call in turn if call.tool != HELPER]
        return list(dict.fromkeys([*names, *self.more_tools]))

    @property
    def offered(self) -> list[str]:
        """The tools of the service that a system gets."""
        return list(dict.fromkeys([*self.own_tools, *(self.child.own_tools if self.child else [])]))
