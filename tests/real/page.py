#!/usr/bin/env python3
"""The page on a running job, in a headless Chromium and by plain HTTP. Usage: page.py BIN_DIR [CASE...]"""
import http.client
import http.server
import os
import pathlib
import signal
import sys
import threading
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e" / "browser"))
from devtools import Browser  # noqa: E402  pylint: disable=wrong-import-position
from harness import PATIENCE, Job, check, run_cases, wait_for  # noqa: E402  pylint: disable=wrong-import-position

BIN = sys.argv[1]
HOSTILE = "<b>bold</b><img src=x onerror=alert(1)><script>document.title=\\\\\\\"taken\\\\\\\"</script>"


def job():
    """Two workers and a tensorboard that run until a file appears; what they write wants to be markup."""
    shell = f"echo '{HOSTILE}'; echo '{HOSTILE}' >&2; echo attempt $TFYARN_ATTEMPT; while [ ! -e %s/shared/end ]; do sleep 0.05; done"
    return Job(BIN, f"""\
name: page
framework: generic
strategy: independent
retries: {{user: 3}}
tasks:
  worker: {{instances: 2, memory: 64MiB, command: [bash, -c, "{shell}"]}}
  tensorboard: {{instances: 1, memory: 64MiB, command: [sleep, "300"]}}
""")


def address_of(run):
    return wait_for("the page's address", lambda: (run.out / "page").exists() and (run.out / "page").read_text().strip())


def get(url, method="GET", headers=None):
    """(status, headers, body)."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=PATIENCE)
    connection.request(method, parts.path + (f"?{parts.query}" if parts.query else ""), headers=headers or {})
    answer = connection.getresponse()
    body = answer.read().decode(errors="replace")
    connection.close()
    return answer.status, dict(answer.getheaders()), body


def finish(run):
    (run.shared / "end").touch()
    code = run.end()
    check(code == 0, f"exit code {code}: {run.output}")
    run.close()


def by_http():
    """Read-only, nothing without the token, nothing for other sites, no file but a task's log."""
    run = job().start()
    url = address_of(run)
    run.wait_for_line("worker:0", "attempt 0")
    check(get(url)[0] == 200, "the page")
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        check(get(url, method)[0] == 405, f"{method} is answered")
    root = "/".join(url.split("/")[:3])
    for path in ("/", "/state.json", "/" + "0" * 32 + "/state.json", "/" + url.split("/")[3][:-1] + "/"):
        check(get(root + path)[0] == 404, f"{path} is there without the token")
    check(get(url, headers={"Host": "evil.example"})[0] == 404, "another site's name is answered")
    ok = get(url + "log?task=worker:0&attempt=0&stream=stdout")
    check(ok[0] == 200 and "attempt 0" in ok[2] and ok[1]["Content-Type"].startswith("text/plain"), f"the log: {ok}")
    for query in ("task=worker:0&attempt=0&stream=../../job.yaml", "task=worker:9&attempt=0&stream=stdout",
                  "task=../worker:0&attempt=0&stream=stdout", "task=worker:0&attempt=-1&stream=stdout", ""):
        check(get(url + "log?" + query)[0] == 404, f"log?{query}")
    check("nosniff" in get(url + "state.json")[1].values(), "headers")
    head = get(url, "HEAD")
    check(head[0] == 200 and not head[2], "HEAD")
    check("tfsim" in get(url + "report.html")[2], "the report so far")
    finish(run)


def connections_are_bounded():
    """Two hundred idle connections keep no other client out for ever, and cost the job nothing."""
    import socket
    run = job().start()
    url = address_of(run)
    parts = urllib.parse.urlsplit(url)
    crowd = [socket.create_connection((parts.hostname, parts.port)) for _ in range(200)]
    run.wait_for_line("worker:0", "attempt 0")
    for one in crowd:
        one.close()
    check(wait_for("the page", lambda: get(url)[0] == 200), "the page")
    finish(run)


def ui_off():
    run = job().start("--ui", "off")
    run.wait_for_line("worker:0", "attempt 0")
    check(not (run.out / "page").exists(), "there is a page")
    finish(run)


def judge(page):
    check(not page.problems(), f"console: {page.problems()}")


def text(page, selector):
    return page.run(f"document.querySelector({selector!r}).textContent")


def in_a_browser():
    run = job().start("-q")
    url = address_of(run)
    run.wait_for_line("worker:0", "attempt 0")
    run.wait_for_line("worker:1", "attempt 0")
    with Browser() as browser:
        page = browser.open(url)
        wait_for("the tasks", lambda: page.run("document.querySelectorAll('#tasks tbody tr').length") == 3)
        wait_for("running tasks", lambda: "3/3" in text(page, "#tiles"))
        rows = page.run("[...document.querySelectorAll('#tasks tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
        spec = {row[0]: row for row in rows}
        check(spec["worker:1"][1] == "running" and spec["worker:1"][2] == "0", f"{spec['worker:1']}")
        check(spec["worker:1"][4].startswith("127.0.0.1:"), f"{spec['worker:1']}")
        check("TensorBoard" in text(page, "#about"), text(page, "#about"))
        page.run("document.querySelector('#log-task').value = 'worker:0'")
        wait_for("the log", lambda: "onerror" in text(page, "#log"))
        check(page.run("document.querySelectorAll('#log *').length") == 0, "the log has become markup")
        check(page.run("document.title").startswith("page"), "a hostile line has run")
        os.kill(run.process_of("worker:1"), signal.SIGKILL)
        run.wait_for_line("worker:1", "attempt 1")
        wait_for("the second attempt", lambda: page.run(
            "[...document.querySelectorAll('#tasks tbody tr')].find(r => r.cells[0].textContent === 'worker:1').cells[2].textContent") == "1")
        check("restart of worker:1" in text(page, "#events"), text(page, "#events")[-300:])
        report = browser.open(url + "report.html")
        check("worker:1" in report.run("document.body.textContent"), "the report so far")
        judge(report)
        (run.shared / "end").touch()
        wait_for("the end on the page", lambda: "SUCCEEDED" in text(page, "#verdict") or "over" in text(page, "#verdict"))
    code = run.end()
    check(code == 0, f"exit code {code}")
    run.close()


class Proxy(http.server.BaseHTTPRequestHandler):
    """Passes /proxy/application_1/... on, as YARN's proxy does: the prefix is gone, the Host is the page's own."""
    target = ""

    def do_GET(self):  # noqa: N802  pylint: disable=invalid-name
        prefix = "/proxy/application_1/"
        if not self.path.startswith(prefix):
            self.send_error(404)
            return
        status, headers, body = get(self.target + self.path[len(prefix):])
        self.send_response(status)
        self.send_header("Content-Type", headers["Content-Type"])
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


def behind_a_prefix():
    run = job().start("-q")
    Proxy.target = address_of(run)
    run.wait_for_line("worker:0", "attempt 0")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with Browser() as browser:
        page = browser.open(f"http://127.0.0.1:{server.server_port}/proxy/application_1/")
        wait_for("the tasks", lambda: page.run("document.querySelectorAll('#tasks tbody tr').length") == 3)
        judge(page)
    server.shutdown()
    finish(run)


CASES = {"by-http": by_http, "connections-are-bounded": connections_are_bounded, "ui-off": ui_off, "in-a-browser": in_a_browser,
         "behind-a-prefix": behind_a_prefix}

if __name__ == "__main__":
    run_cases(CASES, sys.argv[2:])
