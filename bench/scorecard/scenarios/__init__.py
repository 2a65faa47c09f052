"""All scenarios, by set and group.

`inside` was written beside Reknit. `outside` was written from public sources by somebody who had seen neither the code of Reknit nor the other scenarios; its files
do not change (frozen.py).
"""

from . import answers, approvals, arguments, calls, claims, kills, parallel, plans, providers, tools
from .frozen import outside_set

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

SETS = {"inside": SCENARIOS, "outside": outside_set()}
ALL = [scenario for scenarios in SETS.values() for scenario in scenarios]

_ids = [scenario.id for scenario in ALL]
assert len(_ids) == len(set(_ids)), "two scenarios have the same id"
