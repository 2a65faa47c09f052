"""The calls of a scenario as a plan of Reknit, as a developer would write it."""

import re

REFERENCE = re.compile(r"\{(\w+)\.(\w+)\}")


def plan_of(scenario) -> dict:
    ids, steps, before = {}, [], []
    for number, turn in enumerate(scenario.turns):
        stage = []
        for place, call in enumerate(turn):
            name = f"s{number}_{place}"
            steps.append({"id": name, "tool": call.tool, "with": bound(call.tries[-1], ids), "after": before})
            ids[call.tool] = name
            stage.append(name)
        before = stage
    outputs = {name_of(match): f"{ids[match[1]]}.{match[2]}" for match in REFERENCE.finditer(scenario.answer)}
    return {"request": scenario.request, "steps": steps, "outputs": outputs}


def name_of(match) -> str:
    return f"{match[1]}_{match[2]}"


def answer_of(scenario, outputs: dict) -> str:
    """The answer of a program, with what it has read."""
    return REFERENCE.sub(lambda match: str(outputs.get(name_of(match))), scenario.answer)


def bound(value, ids: dict):
    """References to tools become references to steps."""
    if isinstance(value, dict):
        return {name: bound(item, ids) for name, item in value.items()}
    if isinstance(value, str):
        return REFERENCE.sub(lambda match: "{{" + ids[match[1]] + "." + match[2] + "}}", value)
    return value
