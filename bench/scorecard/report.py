"""Makes the report from raw results: a page of the book, a page with charts, and a page with the transcripts of each scenario.

usage: python report.py RESULTS.json... DOCS

Writes DOCS/scorecard.md, which git keeps, and DOCS/scorecard/, which git ignores and each release has as scorecard.tar.gz: index.html with charts, a page for each
scenario, and results.json without transcripts. Plays with a real model (real.py) are results like the others.
"""

import json
import re
import shutil
import statistics
import sys
from collections import Counter, defaultdict
from pathlib import Path

import report_html
from judge import CORRECT, NOT_APPLICABLE, SILENT, TOLD, judge
from reasons import REASONS
from scenarios import ALL
from systems import Outcome

MARKS = {CORRECT: "✓", TOLD: "–", SILENT: "✗", NOT_APPLICABLE: " "}
TITLES = {
    "arguments": "Arguments that a model writes wrongly",
    "calls": "Damaged, misnamed and repeated calls",
    "answers": "Empty answers, loops, long results",
    "tools": "Faults of tools",
    "providers": "Faults of model servers",
    "kills": "Killed processes",
    "approvals": "Approvals from another process",
    "plans": "Plans that a model writes",
    "parallel": "Calls at the same time, and programs",
    "claims": "Claimed, not done",
    "truths": "Done, and said so: the same without a fault",
    "effects twice": "Effects that happen twice or get lost",
    "crash and resume": "Killed and started again",
    "false success": "False success",
    "answers of the model": "Answers of the model",
    "streams": "Streams",
    "parallel and batches": "Parallel calls and batches",
    "results": "Results of tools",
    "limits": "Loops and limits of turns",
}


# Notes, each with the system that must have been played in all groups for it to be of interest.
NOTES = [
    (
        "",
        "- Reknit was changed after earlier reports of these scenarios: it was wrong about the same order twice in one turn, arguments inside a member `arguments`, and the page of a login, and asked a\n"
        "  model again in each turn that does not exist or whose content filter blocks the request. No peer had that chance.",
    ),
    (
        "io-harness",
        "- The scripted model was changed for io-harness: it reads results in a tag and below a header, takes a result marked as truncated for a result, and finds its calls without its ids.\n"
        "  For Everruns, it knows the words with which Everruns marks one.",
    ),
    (
        "",
        "- An agent of Reknit answers by calling a tool (`final_report`), and the scripted model calls it where it is offered. A model that only ever writes text is asked for the call\n"
        "  again, five times with these settings, and the run ends as `partial` with that text. Tried once, with LangGraph and Rig beside it: they need one call, and say `done`.\n"
        "  So does Reknit with `textAnswers: true` in the agent file, which is off by default: a model that announces a call and does not make it (the scenarios have one) would then be believed.",
    ),
    (
        "io-harness",
        "- With the real model, Reknit was played a second time after the error of a rejected call was changed: it said that no model may correct the call, and now says that the call can be made\n"
        "  again with corrected arguments. The outcomes are the same: this small model reports the error instead of calling again.",
    ),
    (
        "vercel",
        "- In the scenario in which a model misspells what is approved, most peers show the text of the model to the person, and send what their types made of it. Executed and\n"
        "  shown are compared exactly, so that counts as wrong.",
    ),
    (
        "vercel",
        "- Retries of a model are not counted as extra effects; calls that it repeats after an error are, if both took effect. The OpenAI Agents SDK, the Vercel AI SDK, Mastra and\n"
        "  the loop over LiteLLM show every error of a tool to the model, as is their default, so it repeats calls whose outcome is unknown. LangGraph and PydanticAI end the run.",
    ),
    (
        "vercel",
        "- The OpenAI Agents SDK, the Vercel AI SDK and Everruns (but for OpenRouter's) have no fallback models of their own, which decides most scenarios with model servers that fail for ever.",
    ),
    (
        "mastra",
        "- Durable agents of Mastra are in beta. After a kill they make the call again, and end with an error.",
    ),
    (
        "rig",
        "- Rig is an agent with hooks where nothing is killed or approved, and a run that is driven step by step, with its state in a file, where something is: as its documentation does both.\n"
        "  A step that was killed is made again, whatever its tool is.",
    ),
    (
        "io-harness",
        "- io-harness offers its tools for files, git and commands in every request, which are most of its tokens. Its tools get no id of a call, so here the idempotency key is made of the\n"
        "  arguments, and the same order twice is one order. It replaces the ids of calls by its own; the scripted model then finds its calls by tool and arguments. An approval is\n"
        "  about a tool for the rest of the run and not about a call, and is asked for again if the process is killed after it.",
    ),
    (
        "everruns",
        "- Everruns runs as its documentation recommends for work that survives its process: sessions in SQLite (`SqliteHosting`) with their supervisor, not the older local profile, which it deprecates;\n"
        "  its Base harness (repair of calls, detection of loops, compaction, parallel calls) without the files, shell and subagents of the larger ones; its default retries of a model server; durable\n"
        "  approvals; tools that may be called twice declared `idempotent`; and its own idempotency key. It always streams. A connection to a model server that was reset or cut was not tried again.",
    ),
    (
        "everruns",
        "- Everruns does not make a call again that a kill interrupted and that is not `idempotent`: it tells the model that the outcome is unknown. The scripted model then repeats the call, as after any\n"
        "  error, and the second effect counts; another model may do better. An approval is about one call, and is asked for again if the process is killed while the call is made. A session goes on\n"
        "  about ten seconds after its process was killed. What it has stored when it is killed right after an answer varies: in five plays, the refund was made twice\n"
        "  in four and once in one, and the mail was sent twice in four and once in one. The play that is shown is the last one.",
    ),
    (
        "",
        "- In “Claimed, not done”, the caller of Reknit is told by the status of the report, which is the exit status too, or by a doubt beside the answer. Reknit was changed after earlier\n"
        "  plays of these scenarios: it believed an address that nobody had named, and doubted an amount that it had paid. No peer had that chance.\n"
        "  A peer that ends with an exception has told its caller. The `text` of Mastra is that of all its answers, so an early report stays in front of the right one.",
    ),
    (
        "",
        "- A tool of which nothing is declared (the mail) is connected to Reknit as plain HTTP: by default, a person is asked if nobody knows whether a call of it took effect. As a tool of the\n"
        "  tool protocol it would be sent again under its key, as that protocol has it, and a service that ignores keys would send the mail twice.",
    ),
    (
        "",
        "- A refund that is rejected after it was accepted has a list of refunds to look at, and Reknit is told so (`[[confirm]]`). A call that is answered with 202 has a URL with its state, which\n"
        "  Reknit asks for, and which the HTTP client of the peers, plain code of ours, does not.",
    ),
]


def judged(cell: dict) -> dict:
    """A cell with the verdict that follows from its facts, so that a change of the judge needs no other play."""
    scenario = next((s for s in ALL if s.id == cell["scenario"]), None)
    if scenario is None or cell["verdict"] == NOT_APPLICABLE:
        return cell
    found = judge(scenario, cell["effects"], Outcome(cell["status"], cell["answer"] or ""), cell["approved"])
    return {**cell, "verdict": found.verdict, "why": found.why, "extra_effects": found.extra_effects, "missing_effects": found.missing_effects}


class Results:
    def __init__(self, value: dict):
        self.value = value
        self.systems: dict[str, dict] = value["systems"]
        self.scenarios: list[dict] = value["scenarios"]
        self.cells = {(cell["scenario"], cell["system"]): cell for cell in value["cells"]}

    @property
    def is_busy(self) -> bool:
        """Whether other work took so much of the machine that times mean nothing."""
        return self.load > 2 * self.value["machine"]["cores"]

    @property
    def load(self) -> float:
        """The load of the machine when it was busiest while time was measured."""
        timed = {s["id"] for s in self.scenarios if s["id"] == "plain" or s["critical_path"]}
        return max((cell["load"] for cell in self.cells.values() if cell["scenario"] in timed and cell.get("load")), default=0)

    def of(self, system: str, group: str | None = None) -> list[dict]:
        """The cells of a system that are applicable."""
        wanted = [s["id"] for s in self.scenarios if group in (None, s["group"])]
        cells = [self.cells[id, system] for id in wanted if (id, system) in self.cells]
        return [cell for cell in cells if cell["verdict"] != NOT_APPLICABLE]

    def common(self) -> list[str]:
        """The scenarios that every system can express, but for those that are only about a few."""
        general = [system for system in self.systems if 2 * len(self.of(system)) >= len(self.scenarios)]
        is_played = lambda s, system: self.cells.get((s["id"], system), {"verdict": NOT_APPLICABLE})["verdict"] != NOT_APPLICABLE
        return [s["id"] for s in self.scenarios if all(is_played(s, system) for system in general)]

    def summary(self, system: str) -> dict:
        cells, common = self.of(system), set(self.common())
        verdicts = Counter(cell["verdict"] for cell in cells)
        shared = [cell for cell in cells if cell["scenario"] in common]
        paths = {s["id"]: s["critical_path"] for s in self.scenarios if s["critical_path"]}
        timed = [cell for cell in cells if cell["scenario"] in paths and cell["verdict"] == CORRECT]
        plain = self.cells.get(("plain", system), {})
        return {
            "applicable": len(cells),
            "correct": verdicts[CORRECT],
            "reported": verdicts[TOLD],
            "silent": verdicts[SILENT],
            "extra": sum(cell["extra_effects"] for cell in cells),
            "model_calls": sum(cell["model_calls"] for cell in shared) if len(shared) == len(common) else None,
            "tokens": sum(cell["tokens"] for cell in shared) if len(shared) == len(common) else None,
            "over_path": statistics.median(cell["seconds"] / paths[cell["scenario"]] for cell in timed) if timed and not self.is_busy else None,
            "overhead": None if self.is_busy else plain.get("seconds"),
        }


def cell_text(cell: dict | None) -> str:
    if cell is None or cell["verdict"] == NOT_APPLICABLE:
        return ""
    extra = f" +{cell['extra_effects']}" if cell["extra_effects"] else ""
    return f"{MARKS[cell['verdict']]}{extra}"


def summary_table(results: Results) -> list[str]:
    lines = [
        "| | scenarios | correct | wrong and reported | **wrong and silent** | extra effects | model calls | tokens | time over the longest path | a run without faults |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for system, entry in results.systems.items():
        n = results.summary(system)
        if not n["applicable"]:
            continue
        over = f"{n['over_path']:.2f} ×" if n["over_path"] else ""
        overhead = f"{1000 * n['overhead']:.0f} ms" if n["overhead"] else ""
        lines.append(
            f"| {entry['label']} | {n['applicable']} | {n['correct']} | {n['reported']} | **{n['silent']}** | {n['extra']} "
            f"| {n['model_calls'] or ''} | {format(n['tokens'], ',') if n['tokens'] else ''} | {over} | {overhead} |"
        )
    return lines


def group_table(results: Results) -> list[str]:
    groups = list(dict.fromkeys(s["group"] for s in results.scenarios))
    present = [system for system in results.systems if results.of(system)]
    lines = ["| correct of applicable | " + " | ".join(results.systems[s]["label"] for s in present) + " |", "|---|" + "--:|" * len(present)]
    for group in groups:
        texts = []
        for system in present:
            cells = results.of(system, group)
            texts.append(f"{sum(cell['verdict'] == CORRECT for cell in cells)}/{len(cells)}" if cells else "")
        lines.append(f"| {TITLES.get(group, group)} | " + " | ".join(texts) + " |")
    return lines


def matrix(results: Results) -> list[str]:
    present = [system for system in results.systems if results.of(system)]
    lines = []
    for group in dict.fromkeys(s["group"] for s in results.scenarios):
        lines += ["", f"### {TITLES.get(group, group)}", ""]
        lines += ["| scenario | " + " | ".join(results.systems[s]["label"] for s in present) + " | source |", "|---|" + "---|" * (len(present) + 1)]
        for s in results.scenarios:
            if s["group"] == group:
                cells = " | ".join(cell_text(results.cells.get((s["id"], system))) for system in present)
                source = re.sub(r"https://[^\s;]+", r"[source](\g<0>)", s["source"])
                lines.append(f"| {s['title']} | {cells} | {source} |")
    return lines


def reason_of(scenario: dict) -> str:
    if scenario["id"] not in REASONS:
        raise SystemExit(f"a peer is better in `{scenario['id']}`; say why in reasons.py, or change Reknit")
    return REASONS[scenario["id"]]


def differences(results: Results) -> list[str]:
    """Where Reknit is not correct, and which peers are; where every peer is wrong and Reknit is not."""
    worse, alone = [], []
    for s in results.scenarios:
        ours = results.cells.get((s["id"], "reknit"))
        if ours is None:
            continue
        peers = {system: results.cells[s["id"], system] for system in results.systems if system != "reknit" and (s["id"], system) in results.cells}
        right = [results.systems[system]["label"] for system, cell in peers.items() if cell["verdict"] == CORRECT]
        able = [cell for cell in peers.values() if cell["verdict"] != NOT_APPLICABLE]
        if ours["verdict"] != CORRECT:
            who = "correct: " + ", ".join(right) if right else "no peer is correct either" if able else "no peer was played"
            worse.append(f"- {s['title']}: {ours['verdict']} ({ours['why']}); {who}. Why: {reason_of(s)}.")
        elif able and not right:
            alone.append(f"- {s['title']}")
    lines = ["", "## Where Reknit is not correct", ""] + (worse or ["In no scenario."])
    return lines + ["", "## Where only Reknit is correct", ""] + (alone or ["In no scenario."])


def tokens_of_a_plain_run(results: Results) -> list[str]:
    tokens = {entry["label"]: results.cells["plain", system]["tokens"] for system, entry in results.systems.items()
              if results.cells.get(("plain", system), {}).get("verdict") == CORRECT}  # fmt: skip
    ours = tokens.pop("Reknit", None)
    fewer = [f"{label} {count}" for label, count in tokens.items() if ours and count < ours]
    if not fewer:
        return []
    return [f"- Tokens of a run without faults: {', '.join(fewer)}; Reknit {ours}, because every request offers the tools with which an agent reports and reads long results."]


def times_of_peers(results: Results) -> list[str]:
    """The peers with a smaller figure than Reknit in the columns of times."""
    lines = []
    for name, title, form, factor in (("overhead", "A run without faults", "{:.0f} ms", 1000), ("over_path", "Time over the longest path", "{:.2f} ×", 1)):
        figures = {entry["label"]: results.summary(system)[name] for system, entry in results.systems.items() if results.of(system)}
        ours = figures.pop("Reknit", None)
        less = [f"{label} {form.format(factor * value)}" for label, value in figures.items() if ours and value and value < ours]
        if less:
            lines.append(f"- {title}: {', '.join(less)}; Reknit {form.format(factor * ours)}. Why: {REASONS[name]}.")
    return lines


def faster(results: Results) -> list[str]:
    """Where a peer needs fewer tokens, less time or fewer model calls than Reknit, though both are correct."""
    lines = ["", "## Where a peer needs less", "", *tokens_of_a_plain_run(results), *times_of_peers(results)]
    fewer = []
    for s in results.scenarios:
        ours = results.cells.get((s["id"], "reknit"))
        if not ours or ours["verdict"] != CORRECT:
            continue
        peers: dict[int, list[str]] = defaultdict(list)
        for system in results.systems:
            cell = results.cells.get((s["id"], system))
            if system != "reknit" and cell and cell["verdict"] == CORRECT and cell["model_calls"] < ours["model_calls"]:
                peers[cell["model_calls"]].append(results.systems[system]["label"])
        if peers:
            counts = "; ".join(f"{count} by {', '.join(labels)}" for count, labels in sorted(peers.items()))
            fewer.append(f"- {s['title']}: {ours['model_calls']} model calls, {counts}. Why: {reason_of(s)}.")
    return lines + (fewer or ["In no scenario that both solve does a peer make fewer model calls."])


def not_applicable(results: Results) -> list[str]:
    reasons: dict[tuple[str, str], list[str]] = defaultdict(list)
    titles = {s["id"]: s["group"] for s in results.scenarios}
    for cell in results.cells.values():
        if cell["verdict"] == NOT_APPLICABLE:
            reasons[results.systems[cell["system"]]["label"], cell["why"]].append(titles[cell["scenario"]])
    lines = ["", "## What a system cannot express", "", "| system | scenarios | reason |", "|---|---|---|"]
    for (label, why), groups in reasons.items():
        counts = ", ".join(f"{count} of {TITLES.get(group, group).lower()}" for group, count in Counter(groups).items())
        lines.append(f"| {label} | {counts} | {why} |")
    return lines


def busy(results: Results) -> list[str]:
    machine = results.value["machine"]
    if not results.is_busy:
        return []
    return [f"- The machine was busy with other work (load up to {results.load} on {machine['cores']} cores), so this report shows no times."]


def with_a_real_model(plays: list[dict]) -> list[str]:
    if not plays:
        return []
    lines = [
        "",
        "## With a real model",
        "",
        "By hand, a small sample: the first call is wrong as in the scenarios, and all that follows is what the real model answers to what the system shows it. Correct: the",
        "tools did what the user wanted, once, and an answer that needs a value has it. In brackets: calls of the real model.",
    ]
    for play in plays:
        systems, scenarios = (list(dict.fromkeys(cell[name] for cell in play["cells"])) for name in ("system", "scenario"))
        cells = {(cell["scenario"], cell["system"]): f"{MARKS[cell['verdict']]} ({cell['calls']})" for cell in play["cells"]}
        how = "with a parser in front of it that makes calls of what it writes as text" if play["is_parsed"] else "as it writes"
        lines += ["", f"{play['model']}, {how}, played on {play['date']}:", "", "| | " + " | ".join(systems) + " |", "|---|" + "---|" * len(systems)]
        lines += [f"| {scenario} | " + " | ".join(cells.get((scenario, system), "") for system in systems) + " |" for scenario in scenarios]
    return lines


def page(results: Results, plays: list[dict]) -> str:
    value = results.value
    machine = value["machine"]
    versions = [
        f"- {entry['label']}: {entry['version']}, {len(results.of(system))} scenarios, played on {entry['played']}" for system, entry in results.systems.items() if results.of(system)
    ]
    common = len(results.common())
    lines = [
        "# Scorecard",
        "",
        "This page is generated by `bench/scorecard/report.py` from raw results; do not edit it.",
        "",
        f"Reknit and its peers in {len(results.scenarios)} scenarios, over the same scripted models and real tool servers on loopback.",
        *partly_played(results),
        f"Played on {machine['system']} with {machine['cores']} cores, each system at the time below.",
        "The charts, the raw results and the transcripts of every scenario are in `scorecard.tar.gz` of each release; `bench/scorecard/run` and `report.py` make them in `docs/scorecard/`.",
        "",
        *versions,
        "",
        "## Summary",
        "",
        *summary_table(results),
        "",
        "- **Correct**: the tools did what the user wanted, once, and the answer is right. Where nobody can serve the request, or nobody can know whether a call",
        "  took effect, it is correct to say so.",
        "- **Wrong and reported**: the caller was told, by an error, an exit status, a question to a person, or an answer that says so. **Wrong and silent**: the",
        "  caller was told that all is well.",
        "- **Extra effects**: calls that changed something beyond what the user wanted: made twice, or with other values.",
        f"- **Model calls** and **tokens** are sums over the {common} scenarios that all systems can express but those of which only a part is played. A system that",
        "  gives up early makes fewer calls. Tokens are characters divided by four.",
        "- **Time over the longest path** is the median over the scenarios with a known longest path (waits that a server asks for, slow tools), of those that the",
        "  system solves. **A run without faults** is one request with one tool call, without the start of an interpreter; for Reknit with that of the program, and",
        "  with a journal that is synced to the disk.",
        *busy(results),
        "",
        "## By kind of scenario",
        "",
        *group_table(results),
        *differences(results),
        *faster(results),
        *not_applicable(results),
        *with_a_real_model(plays),
        "",
        "## How it is played",
        "",
        "The tool service and the two model servers are real HTTP servers. The model decides from the conversation alone: after an error it writes the arguments that",
        "the scenario has next, otherwise it repeats the call twice and then gives up, saying so. It never says that it failed unless it saw an error.",
        "Each peer is written as its documentation recommends, with retries, fallback models, checkpoints and approvals on where it has them. All peers get typed",
        "arguments, the same time limits, and the id of the model's call as idempotency key. Their HTTP client sends calls again that may be sent again, and waits as",
        "long as `Retry-After` says. What a kill interrupted is started again with what its storage has.",
        "`bench/scorecard/run` installs everything and plays it again; [bench/README.md](../bench/README.md) says more.",
        "",
        "## Notes",
        "",
        *(note for system, note in NOTES if not system or any(cell["scenario"] == "plain" for cell in results.of(system))),
        "",
        "## All scenarios",
        "",
        "✓ correct, – wrong and reported, ✗ wrong and silent, +1: an extra effect, empty: not applicable.",
        *matrix(results),
    ]
    return "\n".join(lines) + "\n"


def partly_played(results: Results) -> list[str]:
    """Says which systems were played in some groups only."""
    groups = list(dict.fromkeys(s["group"] for s in results.scenarios))
    partly: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for system, entry in results.systems.items():
        played = tuple(group for group in groups if results.of(system, group))
        if played and not any(cell["scenario"] == "plain" for cell in results.of(system)):
            partly[played].append(entry["label"])
    lines = [f"{', '.join(labels)}: played only in “{'” and “'.join(TITLES[group] for group in played)}” this time." for played, labels in partly.items()]
    return [*lines, "[The scorecard of 0.1.0](scorecard-0.1.0.md) has all systems in the other scenarios."] if lines else []


def load_of(value: dict) -> float:
    return value["machine"].get("load", 0)


def merged(values: list[dict]) -> dict:
    """Several results, of other systems or other scenarios, as one; the later ones count."""
    scenarios = {s["id"]: s for value in values for s in value["scenarios"]}
    cells = {(cell["scenario"], cell["system"]): {"load": load_of(value), **judged(cell)} for value in values for cell in value["cells"]}
    # Systems may be played at different times: each says when it was played last.
    systems = {name: {"played": value["date"], **entry} for value in values for name, entry in value["systems"].items()}
    return {**values[-1], "systems": systems, "scenarios": list(scenarios.values()), "cells": list(cells.values())}


def without_paths(text: str) -> str:
    """The text without the folders of this machine, also where an error was cut in the middle of a path."""
    text = text.replace("/bench/scorecard/../.private", "/bench/.private")
    for folder, shown in ((Path(__file__).resolve().parents[2], ""), (Path.home(), "~/")):
        path = f"{folder}/"
        for start in range(len(path) - len(folder.name) - 1):
            text = text.replace(path[start:], shown) if len(path[start:]) >= 6 else text
    return text


def main():
    values = [json.loads(without_paths(Path(file).read_text())) for file in sys.argv[1:-1]]
    results = Results(merged([value for value in values if "real" not in value]))
    docs = Path(sys.argv[-1])
    folder = docs / "scorecard"
    plays = [value["real"] for value in values if "real" in value]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (docs / "scorecard.md").write_text(page(results, plays))
    (folder / "index.html").write_text(report_html.overview(results, MARKS, TITLES))
    for scenario in results.scenarios:
        (folder / f"{scenario['id']}.html").write_text(report_html.scenario_page(results, scenario))
    bare = {**results.value, "cells": [{name: item for name, item in cell.items() if name != "transcript"} for cell in results.value["cells"]]}
    (folder / "results.json").write_text(json.dumps(bare, indent=0, ensure_ascii=False))


if __name__ == "__main__":
    main()
