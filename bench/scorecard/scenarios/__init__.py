"""All scenarios, by group."""

from . import answers, approvals, arguments, calls, claims, kills, parallel, plans, providers, tools

GROUPS = {
    "arguments": arguments,
    "calls": calls,
    "answers": answers,
    "tools": tools,
    "providers": providers,
    "kills": kills,
    "approvals": approvals,
    "parallel": parallel,
    "plans": plans,
    "claims": claims,
}
SCENARIOS = []
for _name, _scenarios in [*((name, module.SCENARIOS) for name, module in GROUPS.items()), ("truths", claims.COUNTERPARTS)]:
    for _scenario in _scenarios:
        _scenario.group = _name
        SCENARIOS.append(_scenario)

_ids = [scenario.id for scenario in SCENARIOS]
assert len(_ids) == len(set(_ids)), "two scenarios have the same id"
