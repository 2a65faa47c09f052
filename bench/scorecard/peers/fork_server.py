"""Starts the processes of Python peers quickly: imports their libraries once, and forks for each process, which then runs its program from the start.

usage: python fork_server.py MODULE...

Reads a line of JSON for each process: program, arguments, environment, folder, and files for its output. Answers with its process id, and with its exit
status when it has ended. A process is killed like any other one; what it knew is gone. Modules of libraries that a process imported late are imported here
for the next ones.
"""

import contextlib
import importlib
import json
import os
import runpy
import sys
import traceback

for name in sys.argv[1:]:
    importlib.import_module(name)


def become(order: dict):
    """In the child: everything is as if the program had been started."""
    os.setsid()
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    for name, number in (("stdout", 1), ("stderr", 2)):
        file = os.open(order[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(file, number)
    sys.argv = [order["program"], *order["arguments"]]
    sys.path.insert(0, os.path.dirname(order["program"]))
    status = 0
    try:
        runpy.run_path(order["program"], run_name="__main__")
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    with open(order["stdout"] + ".modules", "w") as file:
        json.dump([name for name, module in sys.modules.items() if "site-packages" in (getattr(module, "__file__", None) or "")], file)
    os._exit(status)


def learn(order: dict):
    """Imports what the process has imported."""
    try:
        with open(order["stdout"] + ".modules") as file:
            names = json.load(file)
    except (OSError, ValueError):
        return
    for name in names:
        if name not in sys.modules:
            # Some cannot be imported on their own.
            with contextlib.suppress(Exception):
                importlib.import_module(name)


def say(value):
    os.write(report, (json.dumps(value) + "\n").encode())


# The programs write to their own files; this one answers on the old standard output.
report = os.dup(1)
say("ready")
for line in sys.stdin:
    order = json.loads(line)
    child = os.fork()
    if child == 0:
        become(order)
    say(child)
    _, status = os.waitpid(child, 0)
    say(os.waitstatus_to_exitcode(status))
    learn(order)
