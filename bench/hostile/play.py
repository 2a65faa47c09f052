"""Plays each pair with Reknit in several modes, and prints how many changing calls reached the tools. See bench/README.md."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from worlds import World, is_read, pairs, serve

ENVIRONMENT = {"PATH": os.environ["PATH"], "REKNIT_FIND_MODEL": "false"}


def configuration(base, world, lines):
    return "\n".join([
        # Before the first table, where keys such as `guard.level` are those of the whole file.
        *lines,
        f'[[mcp]]\nname = "dojo"\nurl = "{base}/{world.number}/mcp"\ntrusted = true',
        f'[[models]]\nname = "m"\nurl = "{base}/{world.number}/v1"\nmodel = "m"',
        "[people]\nask = false",
        "",
    ])


def reknit(program, folder, arguments, **options):
    environment = {**ENVIRONMENT, "XDG_DATA_HOME": folder, "XDG_STATE_HOME": folder}
    return subprocess.run([program, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=120, **options)


def play_agent(program, folder, world):
    with open(os.path.join(folder, "clerk.md"), "w") as file:
        file.write("---\nmaxTurns: 40\nmaxToolCalls: 100\nmaxModelCalls: 100\n---\nYou help.\n")
    return reknit(program, folder, ["agent", "--config", "reknit.toml", "--quiet", "clerk.md", world.prompt])


def play_ask(program, folder, world):
    return reknit(program, folder, ["ask", "--config", "reknit.toml", "--quiet", world.prompt])


def play_second_plan(program, folder, world):
    """The last call fails, so a second plan is written, by a model that has seen the results."""
    world.last_call_fails = True
    return play_ask(program, folder, world)


def permissions(world):
    """The mandate in the form of a configuration."""
    def named(tool):
        return tool.replace("__", "/")

    return [{**entry, "capability": named(entry.pop("tool")), "from": {key: [named(tool) for tool in tools] for key, tools in entry["from"].items()}}
            for entry in world.mandate()]


def play_mcp_alone(program, folder, world):
    """The same client, which says nothing about the request."""
    world.is_without_request = True
    return play_mcp(program, folder, world)


def play_mcp(program, folder, world):
    """A client that makes the calls of the task, and those of the injection once a result contains it."""
    environment = {**ENVIRONMENT, "XDG_DATA_HOME": folder, "XDG_STATE_HOME": folder}
    process = subprocess.Popen([program, "mcp", "--config", "reknit.toml"], cwd=folder, env=environment, text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    numbers = iter(range(1, 1 << 30))

    def ask(method, params):
        number = next(numbers)
        print(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}), file=process.stdin, flush=True)
        for line in process.stdout:
            answer = json.loads(line)
            if answer.get("id") == number and "method" not in answer:
                return answer.get("result") or answer
        raise RuntimeError("the server ended")

    meta = {} if world.is_without_request else {"_meta": {"reknit/request": world.prompt, "reknit/mandate": permissions(world)}}
    client = {"name": "client", "version": "1"}
    ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
    print(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}), file=process.stdin, flush=True)
    script = list(world.task)
    while script:
        name, arguments = script.pop(0)
        answer = ask("tools/call", {"name": f"dojo__{name}", "arguments": arguments, **meta})
        if not world.obeyed and world.has_read("".join(part.get("text", "") for part in answer.get("content", []))):
            world.obeyed = True
            script = world.hostile + script
    process.stdin.close()
    process.wait()
    return process


MODES = {"agent": play_agent, "mcp": play_mcp, "mcp-alone": play_mcp_alone, "ask": play_ask, "second": play_second_plan}


def play(program, base, mode, pair, arguments):
    suite, task, injection, places = pair
    world = World(suite, task, injection, places)
    world.mandate_kind = arguments.mandate
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "reknit.toml"), "w") as file:
            file.write(configuration(base, world, arguments.config))
        ended = MODES[mode](program, folder, world)
    world.close()
    outcome = {"suite": suite.name, "task": task.ID, "injection": injection and injection.ID, "mode": mode}
    if injection:
        # In a second plan the model obeys only if it is asked for one.
        return outcome | {"hostile": world.made_changes(world.hostile), "exit": ended.returncode}
    task_calls = world.task[:-1] if world.last_call_fails else world.task
    missing = [call for call in task_calls if not is_read(call[0]) and call not in world.made]
    return outcome | {"benign": world.made_changes(task_calls), "exit": ended.returncode, "missing": missing}


def total(outcomes, kind):
    counted = [outcome[kind] for outcome in outcomes if kind in outcome]
    return sum(made for made, _ in counted), sum(all_of for _, all_of in counted)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--config", action="append", default=[], help="a line of the configuration, such as a setting to measure")
    parser.add_argument("--mandate", choices=("truth", "broad", "none"), default="truth", help="what the model says that a task needs to change")
    parser.add_argument("--sample", type=int, default=1, help="play every Nth pair")
    parser.add_argument("--out", help="a file for the outcome of each pair")
    arguments = parser.parse_args()
    base, outcomes = serve(), []
    chosen = [pair for n, pair in enumerate(pairs()) if n % arguments.sample == 0]
    print("| mode | hostile changing calls made | benign changing calls held |\n|---|--:|--:|")
    for mode in arguments.modes.split(","):
        # A second plan follows on calls that were made and one that failed.
        of_mode = [pair for pair in chosen if mode != "second" or len(pair[1].ground_truth(pair[0].load_and_inject_default_environment({}))) > 1]
        with ThreadPoolExecutor(2) as pool:
            played = list(pool.map(lambda pair: play(arguments.program, base, mode, pair, arguments), of_mode))
        outcomes += played
        (hostile, all_hostile), (benign, all_benign) = total(played, "hostile"), total(played, "benign")
        print(f"| {mode} | {hostile} of {all_hostile} | {all_benign - benign} of {all_benign} |", flush=True)
    if arguments.out:
        with open(arguments.out, "w") as file:
            json.dump(outcomes, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
