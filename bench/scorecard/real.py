"""Plays a few argument errors with a real model behind a server with chat completions, by hand: the first call is wrong as in the scenarios, and what
follows is the real model's answer to what the system shows it.

usage: bench/scorecard/run --real URL [--name MODEL] [--parse] [--systems a,b] [--out FILE] [WORDS]

URL is that of the API, such as http://127.0.0.1:8092/v1. Prints a line for each cell; FILE is for report.py, which shows MODEL as the name. A server without a parser for calls that the
model writes as text is helped with `--parse`: an answer that is nothing but such a call, fenced or not, is made a call.
"""

import argparse
import datetime
import json
import os
import re
import sys
import time
import urllib.request
import uuid
from pathlib import Path

import systems

# A real model on a small machine is slow. Read by the modules below when they are imported.
systems.MODEL_LIMIT = 240

import play
from judge import counted
from scenario import Call, Scenario
from systems.all import all_systems
from world import model

play.CELL_LIMIT = 900
ORDER = {"customer_id": 42, "sku": "TEA-1", "quantity": 2}
PAYMENT = {"order_id": 7, "amount": 120.5, "currency": "EUR"}
PLACE, PAY = "Place an order for customer 42: 2 pieces of the article TEA-1.", "Pay order 7: 120.5 in euros."
GET_ORDER = Call("get_order", [{"order_id": 7}])


def order(id: str, wrong: dict) -> Scenario:
    return Scenario(id, id, "", PLACE, [[Call("create_order", [wrong])]], "", "", [("create_order", ORDER)])


SCENARIOS = [
    order("numbers-as-text", {"customer_id": "42", "sku": "TEA-1", "quantity": "2"}),
    order("camel-case", {"customerId": 42, "sku": "TEA-1", "quantity": 2}),
    order("missing-field", {"customer_id": 42, "sku": "TEA-1"}),
    Scenario("enum-word", "enum-word", "", PAY, [[Call("pay", [{**PAYMENT, "currency": "Euro"}])]], "", "", [("pay", PAYMENT)]),
    Scenario("date-format", "date-format", "", "Find a flight from BER to ICN on 31 March 2026. What is its number?",
             [[Call("search_flights", [{"origin": "BER", "destination": "ICN", "date": "31.03.2026"}])]], "", "KE906"),
    Scenario("unknown-value", "unknown-value", "", "How many pieces of the article TEA-1 are in stock?",
             [[Call("get_stock", [{"sku": "TEA1"}])]], "", "314"),
]  # fmt: skip


class RealModel(model.ModelWorld):
    """Writes the wrong call of the scenario; everything after its result comes from the real model."""

    url, is_parsed = "", False
    calls, seconds = 0, 0.0

    def answer(self, body: dict) -> tuple[dict, str]:
        if not any(message.get("role") == "tool" for message in body["messages"]):
            return super().answer(body)
        request = {"model": "real", "messages": body["messages"], "temperature": 0, "max_tokens": 400}
        if body.get("tools"):
            request["tools"] = body["tools"]
        began = time.monotonic()
        sent = urllib.request.Request(f"{self.url}/chat/completions", json.dumps(request).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(sent, timeout=600) as reply:
            choice = json.load(reply)["choices"][0]
        self.calls, self.seconds = self.calls + 1, self.seconds + time.monotonic() - began
        message = {name: item for name, item in choice["message"].items() if name in ("content", "tool_calls") and item}
        if self.is_parsed and not message.get("tool_calls"):
            message = parsed(message)
        return message, "tool_calls" if message.get("tool_calls") else choice.get("finish_reason") or "stop"


def parsed(message: dict) -> dict:
    """An answer that is nothing but a call in JSON, as a call."""
    text = re.sub(r"^```\w*\n|\n```$|^<tool_call>|</tool_call>$", "", (message.get("content") or "").strip()).strip()
    try:
        call = json.loads(text)
        function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
    except (ValueError, KeyError, TypeError):
        return message
    return {"content": None, "tool_calls": [{"id": f"call_real_{uuid.uuid4().hex[:8]}", "type": "function", "function": function}]}


def verdict(scenario, cell: dict) -> str:
    """Right effects and, where a value is asked for, an answer that has it. A run that returns normally says that all is well."""
    effects = counted((effect["tool"], effect["arguments"]) for effect in cell["effects"])
    is_right = effects == counted(scenario.effects) and scenario.expected in cell["answer"]
    if cell["status"] == "done":
        return "correct" if is_right else "wrong, silent"
    return "wrong, reported"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("reknit")
    parser.add_argument("private", type=Path)
    parser.add_argument("--real", required=True)
    parser.add_argument("--name", default="a real model")
    parser.add_argument("--parse", action="store_true")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--systems", default="reknit,langgraph,pydantic-ai,rig")
    parser.add_argument("words", nargs="*")
    options = parser.parse_intermixed_args()
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"
    RealModel.url, RealModel.is_parsed = options.real.rstrip("/"), options.parse
    model.ModelWorld = RealModel
    player = play.Player(options.private / "scorecard-real")
    chosen, cells = [s for s in SCENARIOS if not options.words or s.id in options.words], []
    for scenario in chosen:
        scenario.group = "arguments"
        for system in all_systems(options.reknit, options.private):
            if system.name in options.systems.split(","):
                cell = player.play(scenario, system)
                real = model.Handler.world
                said = {"answer": cell["answer"][:200], "calls": real.calls, "seconds": round(real.seconds)}
                cells.append({"scenario": scenario.id, "system": system.label, "verdict": verdict(scenario, cell), **said})
                figures = f"{real.calls} calls of the real model, {real.seconds:.0f} s"
                print(f"{scenario.id:16} {system.label:12} {verdict(scenario, cell):16} {figures}; {cell['answer'][:100]!r} {cell['why'][:80]}", flush=True)
    if options.out:
        date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        options.out.write_text(json.dumps({"real": {"date": date, "model": options.name, "is_parsed": options.parse, "cells": cells}}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
