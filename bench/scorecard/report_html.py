"""The pages with charts and transcripts. They need no script and ask no other host for anything."""

import html
import json

from judge import CORRECT, NOT_APPLICABLE, SILENT, TOLD

COLOURS = {CORRECT: "#2f9e5b", TOLD: "#d9a520", SILENT: "#c93c37"}
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; color: #222; background: #fff; }
table { border-collapse: collapse; margin: 1rem 0; } td, th { padding: .2rem .5rem; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top; }
th { font-weight: 600; font-size: 13px; } td.cell { text-align: center; } td a { text-decoration: none; }
.correct { background: #dff3e6; } .reported { background: #fdf1cf; } .silent { background: #fadcda; font-weight: 700; }
pre { background: #f6f6f6; padding: .8rem; overflow-x: auto; white-space: pre-wrap; font-size: 13px; } small { color: #666; }
h2 { margin-top: 2.5rem; } .key span { display: inline-block; width: .9rem; height: .9rem; margin: 0 .3rem 0 1rem; vertical-align: -2px; }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #16181c; } a { color: #8ab4f8; } td, th { border-color: #333; }
  .correct { background: #17361f; } .reported { background: #3d3212; } .silent { background: #4a1b19; } pre { background: #22252b; } text { fill: #ddd; } }
"""
CLASSES = {CORRECT: "correct", TOLD: "reported", SILENT: "silent", NOT_APPLICABLE: ""}


def document(title: str, body: str) -> str:
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{html.escape(title)}</title><style>{STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>\n{body}\n</body></html>\n'


def bars(rows: list[tuple[str, list[tuple[float, str, str]]]], most: float) -> str:
    """Stacked bars: a label, and parts with a value, a colour and a text."""
    parts, width, left = [], 620, 330
    for number, (label, values) in enumerate(rows):
        y, x = 8 + 26 * number, left
        parts.append(f'<text x="{left - 8}" y="{y + 14}" text-anchor="end" font-size="13">{html.escape(label)}</text>')
        for value, colour, text in values:
            w = width * value / most if most else 0
            parts.append(f'<rect x="{x:.1f}" y="{y}" width="{w:.1f}" height="18" fill="{colour}"><title>{html.escape(text)}</title></rect>')
            if w > 26:
                parts.append(f'<text x="{x + w / 2:.1f}" y="{y + 13}" text-anchor="middle" font-size="12" style="fill: #fff">{html.escape(text)}</text>')
            x += w
    return f'<svg role="img" width="100%" viewBox="0 0 {left + width + 60} {16 + 26 * len(rows)}">{"".join(parts)}</svg>'


def verdict_chart(results) -> str:
    rows = []
    for system, entry in results.systems.items():
        n = results.summary(system)
        if n["applicable"]:
            share = lambda count: 100 * count / n["applicable"]
            values = [(share(n[key]), COLOURS[verdict], str(n[key])) for key, verdict in (("correct", CORRECT), ("reported", TOLD), ("silent", SILENT))]
            rows.append((f"{entry['label']} ({n['applicable']})", values))
    key = "".join(f'<span style="background: {colour}"></span>{name}' for name, colour in COLOURS.items())
    return f'<p class="key">{key}</p>' + bars(rows, 100)


def figure_chart(results, name: str, form: str, factor: float = 1) -> str:
    figures = {entry["label"]: results.summary(system)[name] for system, entry in results.systems.items() if results.of(system)}
    known = {label: factor * value for label, value in figures.items() if value is not None}
    return bars([(label, [(value, "#4a78b5", form.format(value))]) for label, value in known.items()], max(known.values(), default=0))


def times(results) -> list[str]:
    if results.is_busy:
        return ["<p>The machine was busy with other work, so there are no charts of times.</p>"]
    return [
        "<h2>A run without faults, in milliseconds</h2>", figure_chart(results, "overhead", "{:.0f} ms", 1000),
        "<h2>Time over the longest path</h2>", figure_chart(results, "over_path", "{:.2f} ×"),
    ]  # fmt: skip


def overview(results, marks: dict, titles: dict) -> str:
    present = [system for system in results.systems if results.of(system)]
    lines = [
        "<h1>Scorecard</h1>",
        f"<p>{len(results.scenarios)} scenarios, each system at the time below. <a href='../scorecard.html'>The report</a> says what is measured, and how.</p>",
        "<ul>" + "".join(f"<li>{html.escape(e['label'])}: {html.escape(e['version'])}, played on {html.escape(e['played'])}</li>" for e in results.systems.values()) + "</ul>",
        "<h2>How the scenarios end</h2>", "<p>In percent of the scenarios that a system can express.</p>", verdict_chart(results),
        "<h2>Extra effects</h2>", figure_chart(results, "extra", "{:.0f}"),
        "<h2>Model calls</h2>", f"<p>In the {len(results.common())} scenarios that all can express.</p>", figure_chart(results, "model_calls", "{:.0f}"),
        "<h2>Tokens</h2>", figure_chart(results, "tokens", "{:,.0f}"),
        *times(results),
        "<h2>All scenarios</h2>",
    ]  # fmt: skip
    for group in dict.fromkeys(s["group"] for s in results.scenarios):
        head = "".join(f"<th>{html.escape(results.systems[s]['label'])}</th>" for s in present)
        lines.append(f"<h3>{html.escape(titles.get(group, group))}</h3><table><tr><th>scenario</th>{head}</tr>")
        for s in (s for s in results.scenarios if s["group"] == group):
            cells = "".join(matrix_cell(results.cells.get((s["id"], system)), s["id"], system, marks) for system in present)
            lines.append(f"<tr><td><a href='{s['id']}.html'>{html.escape(s['title'])}</a></td>{cells}</tr>")
        lines.append("</table>")
    return document("Scorecard", "\n".join(lines))


def matrix_cell(cell: dict | None, scenario: str, system: str, marks: dict) -> str:
    if cell is None or cell["verdict"] == NOT_APPLICABLE:
        return f"<td class='cell' title='{html.escape((cell or {}).get('why', ''), quote=True)}'></td>"
    extra = f" +{cell['extra_effects']}" if cell["extra_effects"] else ""
    title = html.escape(f"{cell['verdict']}: {cell['why']}", quote=True)
    return f"<td class='cell {CLASSES[cell['verdict']]}'><a href='{scenario}.html#{system}' title='{title}'>{marks[cell['verdict']]}{extra}</a></td>"


def scenario_page(results, scenario: dict) -> str:
    source = scenario["source"]
    link = f"<a href='{source}'>{source}</a>" if source.startswith("https") else html.escape(source)
    lines = [
        f"<p><a href='index.html'>Scorecard</a></p><h1>{html.escape(scenario['title'])}</h1>",
        f"<p>{html.escape(scenario['request'])}</p><p>Source: {link}. The best that can be reached: {scenario['best']}.</p>",
    ]
    for system, entry in results.systems.items():
        cell = results.cells.get((scenario["id"], system))
        if cell is None:
            continue
        lines.append(f"<h2 id='{system}'>{html.escape(entry['label'])}</h2>")
        if cell["verdict"] == NOT_APPLICABLE:
            lines.append(f"<p>Not applicable: {html.escape(cell['why'])}.</p>")
            continue
        why = f" ({html.escape(cell['why'])})" if cell["why"] else ""
        figures = f"{cell['model_calls']} model calls, {cell['tokens']} tokens, {cell['tool_calls']} tool calls, {cell['seconds']} s"
        lines.append(f"<p><b class='{CLASSES[cell['verdict']]}'>{cell['verdict']}</b>{why}; {figures}.</p>")
        transcript = "\n".join(map(line, cell.get("transcript", [])))
        lines.append("<pre>" + html.escape(transcript) + "</pre>")
    return document(scenario["title"], "\n".join(lines))


def line(entry: dict) -> str:
    """One line of a transcript."""
    at = f"{entry['at']:7.3f}"
    match entry["kind"]:
        case "start":
            return f"{at} -- process starts ({entry['phase']})"
        case "kill":
            return f"{at} -- KILLED"
        case "end":
            error = f"; {entry['error'][-400:]}" if entry.get("error") else ""
            return f"{at} -- process ends: {entry.get('status', '')} {entry.get('answer', '')!r}{error}{entry.get('note', '')}"
        case "model":
            fault = f" [{entry['fault']}]" if entry["fault"] != "ok" else ""
            last = entry["last"]
            return f"{at} model {entry['server']} is asked{fault}; message {entry['count']} is of {last.get('role')}: {last.get('content', '')}"
        case "model-answer":
            calls = [f"{call['function']['name']}({call['function']['arguments']})" for call in entry["message"].get("tool_calls") or []]
            said = " ".join(calls) or json.dumps(entry["message"].get("content"), ensure_ascii=False)
            return f"{at}   model says ({entry['reason']}): {said}"
        case "model-error":
            return f"{at}   model server fails: {entry['status']} {entry['body']}"
        case "tool":
            fault = f" [{entry['fault']}]" if entry["fault"] != "ok" else ""
            key = f", key {entry['key']}" if entry["key"] else ""
            return f"{at} tool {entry['tool']} {entry['body']}{key}{fault}"
        case "tool-answer":
            return f"{at}   tool answers {entry['status']}: {entry['body']}"
    return f"{at} {entry}"
