"""Uses the pages of `reknit serve` in a real Chromium.

usage: web_ui.py PROGRAM AXE FOLDER
PROGRAM is the program, AXE the file axe.min.js, FOLDER a folder for the journal. Prints a line for each thing that holds.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

HOSTILE = "<img src=x onerror=document.title='hacked'><script>document.title='hacked'</script>\" onmouseover=\"x"
MAX_PAGE_BYTES = 150_000
MAX_SCRIPT_MS = 50
MAX_FIRST_VIEW_MS = 100
MAX_DEBUG_SERVER_MS = 200
SMALLEST_VIEW_MS = 50
LOADS = 7
ATTEMPTS = 3


class Tool(BaseHTTPRequestHandler):
    """A bank: `price` takes a moment while `slow` is set, and `pay` is busy the first time."""

    protocol_version = "HTTP/1.1"
    slow = threading.Event()
    calls = []

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        try:
            self.wfile.write(data)
        except BrokenPipeError:
            pass  # whoever called was killed

    def do_GET(self):
        schema = {"type": "object", "properties": {"amount": {"type": "integer", "description": HOSTILE}}}
        if self.path.endswith("/schema"):
            self.answer(200, schema)
        elif self.path.endswith("/capabilities"):
            known = [("price", "read"), ("pay", "keyed")]
            self.answer(200, [{"name": name, "description": HOSTILE, "effect": effect} for name, effect in known])
        else:
            self.answer(200, {"status": "healthy"})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        Tool.calls.append((self.path, body))
        if self.path.endswith("/price"):
            if Tool.slow.is_set():
                time.sleep(2)
            self.answer(200, {"success": True, "data": {"price": 12, "note": HOSTILE}})
        elif len([call for call in Tool.calls if call[0].endswith("/pay")]) == 1:
            self.answer(503, {"success": False, "error": {"code": "BUSY", "message": HOSTILE}})
        else:
            self.answer(200, {"success": True, "data": {"paid": body.get("amount"), "note": HOSTILE}})

    def log_message(self, *_):
        pass


def free_port():
    import socket

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Site:
    def __init__(self, program, folder, tool_port):
        self.port, self.program, self.folder = free_port(), program, folder
        self.url = f"http://127.0.0.1:{self.port}"
        with open(os.path.join(folder, "reknit.toml"), "w", encoding="utf-8") as config:
            config.write(f'[[tools]]\nname = "bank"\nurl = "http://127.0.0.1:{tool_port}"\n\n[[approve]]\ncapability = "bank/pay"\n\n[limits]\ntool-calls = 1000\n')
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [self.program, "serve", "--config", "reknit.toml", "--journal", "runs.db", "--listen", f"127.0.0.1:{self.port}"],
            cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        for _ in range(1200):
            try:
                urllib.request.urlopen(self.url + "/ready", timeout=2)
                return
            except OSError:
                time.sleep(0.1)
        raise SystemExit("the server does not start")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def run(self, plan, run_id, mode="wait"):
        body = json.dumps({"plan": plan, "run_id": run_id, "mode": mode}).encode()
        return json.load(urllib.request.urlopen(urllib.request.Request(self.url + "/v1/runs", body), timeout=600))


def browser(dark=False, width=1400):
    options = webdriver.ChromeOptions()
    for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", f"--window-size={width},900"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.binary_location = shutil.which("chromium")
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    driver.set_script_timeout(300)
    return driver


def wait(what, condition, seconds=300):
    """The limit is for what never happens: a loaded machine takes its time."""
    end = time.time() + seconds
    while time.time() < end:
        try:
            if condition():
                return
        except Exception:  # the page changes while it is read
            pass
        time.sleep(0.1)
    raise SystemExit(f"not seen: {what}")


def holds(what, condition, detail=""):
    if not condition:
        raise SystemExit(f"does not hold: {what} {detail}")
    print(f"holds: {what}", flush=True)


def text(driver):
    return driver.find_element(By.ID, "main").text


def start_watch_approve(driver, site):
    plan = ("request: Pay the price\nsteps:\n  - {id: price, tool: bank/price}\n"
            "  - {id: pay, tool: bank/pay, with: {amount: \"{{price.price}}\"}}\n")
    driver.get(site.url + "/new?kind=plan")
    area = driver.find_element(By.NAME, "text")
    area.send_keys("steps: [{id: a, tool: bank/nothing}]")
    wait("the problem of a plan while it is written", lambda: "1 problem" in text(driver))
    area.send_keys(Keys.CONTROL, "a")
    area.send_keys(plan)
    wait("that the plan is good", lambda: "The plan can be run" in text(driver))
    Tool.slow.set()
    driver.find_element(By.XPATH, "//button[.='Start']").click()
    wait("the page of the run", lambda: "/runs/" in driver.current_url)
    driver.execute_script("window.notReloaded = true")
    run = driver.current_url
    wait("the question", lambda: driver.find_element(By.XPATH, "//button[contains(., 'Send with amount 12')]"))
    holds("a question appears without a reload", driver.execute_script("return window.notReloaded === true"))
    Tool.slow.clear()
    driver.refresh()
    holds("a reload midway shows the same", "Send with amount 12" in text(driver))
    driver.execute_script("window.notReloaded = true")
    before = len(Tool.calls)
    driver.find_element(By.XPATH, "//button[contains(., 'Send with amount 12')]").click()
    wait("the end of the run", lambda: driver.find_element(By.CSS_SELECTOR, "header.run .badge").text.endswith("complete"))
    holds("an approved call is mended and the run ends", len(Tool.calls) == before + 2 and "resend" in text(driver))
    driver.get(run)
    driver.find_element(By.CSS_SELECTOR, "a.node[data-step='pay']").click()
    wait("the panel", lambda: "Call 2" in driver.find_element(By.ID, "panel").text)
    panel = driver.find_element(By.ID, "panel").text
    holds("a step shows where its amount comes from", "from price" in panel and "approved" in panel.lower(), panel)
    holds("text of tools is text", HOSTILE[:20] in panel and driver.title != "hacked", driver.title)


def catches_up(driver, site):
    Tool.slow.set()
    site.run("steps: [{id: one, tool: bank/price}, {id: two, tool: bank/price, after: one}]", "killed", "start")
    driver.get(site.url + "/runs/killed")
    driver.execute_script("window.notReloaded = true")
    site.kill()
    wait("that the server is gone", lambda: "does not answer" in driver.find_element(By.ID, "status").text)
    Tool.slow.clear()
    site.start()
    wait("the end after a restart", lambda: driver.find_element(By.CSS_SELECTOR, "header.run .badge").text.endswith("complete"))
    holds("a page catches up after the server was killed", driver.execute_script("return window.notReloaded === true"))


def keeps_the_place(driver, site):
    price = "request: Ask for a price\nsteps: [{id: one, tool: bank/price}]"
    for number in range(25):
        site.run(price, f"row-{number}")
    driver.get(site.url + "/?status=failed")
    driver.execute_script("window.notReloaded = true")
    site.run(price, "behind-the-filter")
    wait("that a run has started that the filter hides", lambda: driver.find_element(By.ID, "new-runs").text == "1 new")
    driver.get(site.url + "/")
    driver.execute_script("window.notReloaded = true; window.scrollTo(0, 400)")
    top = "return document.querySelector('table.runs tbody tr').id"
    place = "return document.getElementById('run-row-5').getBoundingClientRect().top"
    before = (driver.execute_script(top), driver.execute_script(place))
    site.run(price, "while-reading-1")
    site.run(price, "while-reading-2")
    wait("that two runs have started", lambda: driver.find_element(By.ID, "new-runs").text == "2 new")
    after = (driver.execute_script(top), driver.execute_script(place))
    holds("new runs do not move what is being read", before[0] == after[0] and abs(before[1] - after[1]) <= 60, f"{before} {after}")
    driver.find_element(By.CSS_SELECTOR, "#new-runs a").click()
    wait("the new runs", lambda: driver.execute_script(top) == "run-while-reading-2")
    holds("the reader asks for new runs without a reload", driver.execute_script("return window.notReloaded === true && scrollY === 0"))
    wait("that the button is gone", lambda: driver.find_element(By.ID, "new-runs").text == "")
    site.run(price, "at-the-top")
    # Who reads nothing sees a new run at once: the focus is not in the list.
    driver.execute_script("document.activeElement.blur()")
    wait("a new run", lambda: driver.execute_script(top) == "run-at-the-top")
    holds("a list that nobody has scrolled is live", driver.execute_script("return window.notReloaded === true"))


def compares(driver, site):
    driver.get(site.url + "/runs/row-1")
    driver.find_element(By.PARTIAL_LINK_TEXT, "Compare with").click()
    wait("the choice of a run", lambda: "The same request" in text(driver))
    driver.find_element(By.CSS_SELECTOR, "a[href$='with=row-2']").click()
    wait("two runs", lambda: "Two runs side by side" in text(driver))
    holds("equal runs have no step that differs in more than time", "Parameter" not in text(driver), text(driver))
    driver.get(site.url + "/runs/row-1/compare?with=large")
    holds("steps that only one run has are shown", "not in this run" in text(driver))


def first_view(driver, address):
    """The median time from the start of a navigation to the first paint with content, and the part that the server took."""
    read = ("const page = performance.getEntriesByType('navigation')[0];"
            "const paint = performance.getEntriesByName('first-contentful-paint')[0];"
            "return paint ? [paint.startTime, page.responseEnd - page.requestStart] : null")
    views = []
    for _ in range(LOADS):
        driver.get(address)
        wait("the first paint", lambda: driver.execute_script(read))
        views.append(driver.execute_script(read))
    return [sorted(times)[LOADS // 2] for times in zip(*views)]


def busy_factor(site):
    """How many times as much time all limits get: more than 1 if even a page with a form and nothing else is seen late."""
    driver = browser()
    smallest, _ = first_view(driver, site.url + "/sign-in")
    driver.quit()
    factor = max(1, smallest / SMALLEST_VIEW_MS)
    print(f"the smallest page is seen after {smallest:.0f} ms, so limits of time count {factor:.1f} times", flush=True)
    return factor


def stays_smooth(driver, site):
    factor = busy_factor(site)
    steps = ",".join(f"{{id: s{n}, tool: bank/price, after: s{n - 100}}}" if n >= 100 else f"{{id: s{n}, tool: bank/price}}" for n in range(500))
    site.run(f"steps: [{steps}]", "large", "start")
    driver.get(site.url + "/runs/large")
    wait("the end of 500 steps", lambda: driver.find_element(By.CSS_SELECTOR, "header.run .badge").text.endswith("complete"), 900)
    times = driver.execute_script("return performance.getEntriesByName('update').map((entry) => entry.duration)")
    times = sorted(times)
    median = times[len(times) // 2] if times else 0
    print(f"updates of 500 steps: {len(times)}, median {median:.1f} ms, most {max(times, default=0):.1f} ms", flush=True)
    # The machine may be busier than it was.
    factor = factor if median <= MAX_SCRIPT_MS * factor else max(factor, busy_factor(site))
    holds("an update of 500 steps takes at most 50 ms of scripting", median <= MAX_SCRIPT_MS * factor, str(times))


def pages(site):
    runs = ["/runs/killed", "/runs/killed?step=one", "/runs/large", "/runs/large?step=s7"]
    runs += ["/runs/killed/compare", "/runs/killed/compare?with=row-1", "/runs/killed/compare?with=large"]
    return ["/", "/?status=failed", "/questions", "/new", "/new?kind=plan", "/tools", "/tools/bank/pay", "/models", "/stats", "/rules", "/sign-in"] + runs


def has_no_violations(site, axe):
    script = open(axe, encoding="utf-8").read()
    for dark, width in [(False, 1400), (True, 360)]:
        driver = browser(dark, width)
        for path in pages(site):
            driver.get(site.url + path)
            # The policy of the page forbids other scripts; the driver is not bound by it.
            driver.execute_script(script)
            found = driver.execute_async_script(
                "const done = arguments[0]; axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']})"
                ".then((result) => done(result.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.target.join(' ')).slice(0, 3).join(' | '))))")
            holds(f"axe finds nothing on {path} {'dark' if dark else 'light'} {width}", not found, str(found))
        log = [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
        holds("the browser reports no error", not log, str(log))
        driver.quit()


def is_light(site):
    for path in pages(site):
        body = urllib.request.urlopen(site.url + path, timeout=60).read()
        holds(f"{path} has at most {MAX_PAGE_BYTES} bytes: {len(body)}", len(body) <= MAX_PAGE_BYTES)
    assets = sum(len(urllib.request.urlopen(site.url + path).read()) for path in ["/ui/style.css", "/ui/script.js"])
    holds(f"style and script have at most {MAX_PAGE_BYTES} bytes: {assets}", assets <= MAX_PAGE_BYTES)


def is_seen_at_once(site):
    is_debug = os.path.basename(os.path.dirname(site.program)) == "debug"
    factor = busy_factor(site)
    driver = browser()
    driver.get(site.url + "/")
    limit = MAX_DEBUG_SERVER_MS if is_debug else MAX_FIRST_VIEW_MS
    for path in pages(site):
        for attempt in range(ATTEMPTS):
            view, server = first_view(driver, site.url + path)
            print(f"{path}: first view {view:.0f} ms, of it the server {server:.0f} ms", flush=True)
            # A build without optimisation takes many times as long to write a page, the browser as long as ever.
            measured = view - server if is_debug else view
            if measured <= MAX_FIRST_VIEW_MS * factor and server <= limit * factor:
                break
            # The machine may be busier than it was.
            factor = max(factor, busy_factor(site))
        holds(f"{path} is seen within {MAX_FIRST_VIEW_MS} ms", measured <= MAX_FIRST_VIEW_MS * factor, f"{view} {server}")
        holds(f"{path} is written within {limit} ms", server <= limit * factor, str(server))
    driver.quit()


def main(program, axe, folder):
    tools = ThreadingHTTPServer(("127.0.0.1", 0), Tool)
    threading.Thread(target=tools.serve_forever, daemon=True).start()
    site = Site(program, folder, tools.server_port)
    driver = browser()
    try:
        start_watch_approve(driver, site)
        catches_up(driver, site)
        stays_smooth(driver, site)
        keeps_the_place(driver, site)
        compares(driver, site)
        is_light(site)
        is_seen_at_once(site)
        has_no_violations(site, axe)
    finally:
        driver.quit()
        site.kill()


main(*sys.argv[1:4])
