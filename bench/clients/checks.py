"""What the Python clients share: the arguments, and how checks are printed.

A client is started as `python CLIENT.py BASE_URL MODEL UPSTREAM VIA`: the address of the API, the name of the model, the address of the scripted
provider, and `direct` or `gateway`.
"""

import sys
import time
import traceback
import urllib.request

base_url, model, upstream, via = sys.argv[1:5]
TEXT = "Hello there, how are you?"
AFTER_TOOL = "It is 14.5 degrees in Seoul."
failed = 0



def check(name: str):
    """Runs a function as a check: it fails if it raises."""

    def run(function):
        global failed
        try:
            function()
            print(f"ok      {name}", flush=True)
        except Exception:
            failed += 1
            print(
                f"FAILED  {name}\n        " + traceback.format_exc(limit=-2).strip().replace("\n", "\n        "), flush=True
            )

    return run


def gateway_check(name: str):
    """A check of what only a gateway does."""
    return check(name) if via == "gateway" else lambda function: None


# The statuses of errors whose class is compared with that against the provider itself.
STATUSES = (400, 401, 403, 404, 409, 413, 422, 429, 500, 503, 529)


def print_errors(api: str, ask) -> None:
    """Prints the class and the status of the error that `ask` raises for each status."""
    for status in STATUSES:
        try:
            ask(f"fail {status}")
            print(f"raised  {api} {status}: nothing", flush=True)
        except Exception as error:
            print(f"raised  {api} {status}: {type(error).__name__} {getattr(error, 'status_code', None)}", flush=True)


def equal(actual, expected):
    assert actual == expected, f"{actual!r}, expected {expected!r}"


def left() -> int:
    with urllib.request.urlopen(f"{upstream}/_bench/left") as response:
        return int(response.read())


def wait_until_left(before: int, seconds: float = 5):
    """The provider hears that its caller left."""
    end = time.monotonic() + seconds
    while left() <= before:
        assert time.monotonic() < end, f"the provider was not told within {seconds} s that the client left"
        time.sleep(0.05)


def finish():
    sys.exit(1 if failed else 0)
