"""A headless Chromium, driven over the DevTools protocol through a pair of pipes.

Only the standard library: `--remote-debugging-pipe` makes Chromium read commands from descriptor 3 and write answers to
descriptor 4, JSON texts ended by a zero byte, so neither a port nor a WebSocket nor a driver program is needed.
"""
import base64
import itertools
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from patience import patience  # noqa: E402

SKIPPED = 77
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-dev-shm-usage", "--hide-scrollbars",
         "--remote-debugging-pipe"]


def find_chromium():
    """The browser's path; without one the program ends as skipped."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        print("skipped: there is no chromium here (Debian: apt-get install chromium)")
        sys.exit(SKIPPED)
    return path


class Browser:
    """A browser with an empty profile; its pages are made by `open`."""

    def __init__(self, longest=None):
        """`longest`: wait for one answer, in seconds."""
        self.patience = longest or patience(30)
        self.profile = tempfile.TemporaryDirectory(prefix="tfsim-chromium-", ignore_cleanup_errors=True)
        to_read, self.to_write = os.pipe()
        self.to_answer, answer_write = os.pipe()

        def place_pipes():
            # Through high numbers first: one of the pipes may be 3 or 4 already.
            high_read, high_write = os.dup2(to_read, 60), os.dup2(answer_write, 61)
            os.dup2(high_read, 3)
            os.dup2(high_write, 4)

        command = [find_chromium(), *FLAGS, "--user-data-dir=" + self.profile.name, "about:blank"]
        self.process = subprocess.Popen(command, preexec_fn=place_pipes, close_fds=False, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(answer_write)
        self.ids = itertools.count(1)
        self.buffer = b""
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
        except (OSError, RuntimeError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to_write)
        os.close(self.to_answer)
        self.profile.cleanup()

    def call(self, method, session=None, **parameters):
        message = {"id": next(self.ids), "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to_write, data):]
        until = time.monotonic() + self.patience
        while True:
            answer = self.read(until, method)
            if answer.get("id") != message["id"]:
                self.events.append(answer)
                continue
            if "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            return answer["result"]

    def read(self, until, what):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.to_answer], [], [], max(0, until - time.monotonic()))
            if not ready:
                raise RuntimeError(f"no answer from chromium in {self.patience} s: {what}")
            data = os.read(self.to_answer, 1 << 20)
            if not data:
                raise RuntimeError(f"chromium has gone: {what}")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def open(self, path, dark=False, width=1400, height=1000):
        return Page(self, path, dark, width, height)


class Page:
    """One tab that has loaded a file or an http address. `problems` and `requests` gather what it complained about and asked for."""

    def __init__(self, browser, path, dark, width, height):
        self.browser = browser
        self.url = path if path.startswith("http") else "file://" + os.path.abspath(path)
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")
        self.scheme(dark)
        self.size(width, height)
        self.call("Page.navigate", url=self.url)
        self.wait_for("Page.loadEventFired")
        self.frame()

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def wait_for(self, method):
        until = time.monotonic() + self.browser.patience
        while not any(e.get("method") == method and e.get("sessionId") == self.session for e in self.browser.events):
            self.browser.events.append(self.browser.read(until, method))

    def scheme(self, dark):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def size(self, width, height, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)

    def run(self, expression):
        """The value of a script's expression; promises are waited for."""
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise RuntimeError(json.dumps(done["exceptionDetails"])[:600])
        return done["result"].get("value")

    def frame(self):
        """Waits until what was asked for is drawn."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def key(self, key):
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.frame()

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, x0, y0, x1, y1):
        self.mouse("mousePressed", x0, y0, button="left", clickCount=1)
        self.mouse("mouseMoved", x1, y1, button="left", buttons=1)
        self.mouse("mouseReleased", x1, y1, button="left", clickCount=1)
        self.frame()

    def screenshot(self, whole=False):
        """PNG bytes of the window, or of the whole page."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"])

    def mine(self):
        self.run("0")  # whatever was on its way has come now
        return [e for e in self.browser.events if e.get("sessionId") == self.session]

    def problems(self):
        found = []
        for event in self.mine():
            what = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                found.append(what["exceptionDetails"].get("exception", {}).get("description") or what["exceptionDetails"]["text"])
            elif event["method"] == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning", "assert"):
                found.append(json.dumps(what["args"]))
            elif event["method"] == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
                found.append(what["entry"]["text"])
        return found

    def requests(self):
        """Everything that the page asked for but itself."""
        asked = [e["params"]["request"]["url"] for e in self.mine() if e["method"] == "Network.requestWillBeSent"]
        return [url for url in asked if url != self.url and not url.startswith("data:")]
