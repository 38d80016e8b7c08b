#!/usr/bin/env python3
"""What happens around a run: a full disk, a read-only folder, closed streams, signals at any moment. No half file is ever left,
what could be written is whole, and the exit code says what happened.

Usage: bad_luck.py TFSIM {disk|streams|signals}.
"""
import ctypes
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

import yaml

from program import BASE, SANITIZED, Suite, patience

# Long enough to be cut anywhere: it would take most of a minute.
LONG = """\
schema: tfsim/v1
name: long
horizon: 3650d
cluster:
  nodes:
    - {name: n, count: 20, resources: {memory: 64GiB, vcores: 16, gpus: 4}}
arrivals:
  - poisson: {rate: 60/h}
    count: 100000
    prefix: p
    template:
      tasks: {worker: {instances: 2, memory: 8GiB, vcores: 4, gpus: 2}}
      training: {steps: 600, step_time: 100ms}
"""
ONE = {"scenario.yaml", "result.json", "report.html", "junit.xml", "jobs.csv", "attempts.csv", "events.jsonl"}
ALL = ONE | {"runs.csv"}  # of many seeds


def whole(path):
    """Whether the file is what it should be from the first to the last byte."""
    text = path.read_bytes().decode()
    if path.suffix == ".json":
        return isinstance(json.loads(text), dict)
    if path.suffix == ".jsonl":  # Not splitlines(): bytes of the journal may look like one of Unicode's other ends of a line.
        return text.endswith("\n") and all(isinstance(json.loads(line), dict) for line in text.split("\n")[:-1])
    if path.suffix == ".yaml":
        return isinstance(yaml.safe_load(text), dict) and text.endswith("\n")
    end = {".html": "</html>", ".xml": "</testsuites>", ".csv": ""}[path.suffix]
    return text.rstrip().endswith(end) and (path.suffix != ".csv" or text.endswith("\r\n"))


def judge_folder(suite, what, folder):
    """Only whole files of ours; returns their names."""
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    allowed = ALL | {"runs.csv"}
    suite.check(names <= allowed, f"{what}: nothing but results, got {sorted(names - allowed)}")
    for name in names & allowed:
        suite.check(whole(folder / name), f"{what}: {name} is whole")
    return names


def mount(folder, options):
    """A small file system there; False where that is not allowed."""
    folder.mkdir(exist_ok=True)
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.mount(b"tmpfs", str(folder).encode(), b"tmpfs", 0, options.encode()) == 0


def unmount(folder):
    ctypes.CDLL(None).umount2(str(folder).encode(), 2)


def run_full_disk(suite):
    disk = suite.folder / "disk"
    if not mount(disk, "size=64k"):
        suite.skip("full disk: no tmpfs can be mounted here; only /dev/full is tried")
        return
    try:
        done = suite.run("run", "base.yaml", "--out", "disk/out", "--events")
        suite.check(done.code == 1, "full disk: exit 1", done)
        suite.check(re.search(r"tfsim: cannot write disk/out/\S+: No space left on device", done.err) is not None,
                    "full disk: the file and the reason are named", done)
        suite.check("passed  base" in done.out, "full disk: the verdict is told all the same", done)
        names = judge_folder(suite, "full disk", disk / "out")
        suite.check(names != ONE, "full disk: it was full")
        # An old result stays as it was when the new one cannot be written.
        (disk / "out" / "result.json").write_text('{"old": true}')
        filler = disk / "filler"
        with open(filler, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError:
                pass
        done = suite.run("run", "base.yaml", "--out", "disk/out")
        suite.check(done.code == 1, "full disk again: exit 1", done)
        suite.check((disk / "out" / "result.json").read_text() == '{"old": true}', "full disk: the old result is there", done)
        done = suite.run("init", "disk/new")
        suite.check(done.code == 1 and not (disk / "new" / "scenario.yaml").exists(), "full disk: init writes all or nothing", done)
    finally:
        unmount(disk)


def run_disk(suite):
    suite.write("base.yaml", BASE)
    suite.write("file", "x")
    suite.write("long.yaml", LONG)
    run_full_disk(suite)
    full = suite.run("run", "base.yaml", "--html", "/dev/full")
    suite.check(full.code == 1 and "/dev/full: No space left" in full.err and "passed  base" in full.out, "/dev/full", full)
    full = suite.run("run", "base.yaml", "--trace", "/dev/full")
    suite.check(full.code == 1 and "/dev/full: No space left" in full.err, "timeline to /dev/full", full)
    # Told before the run, not after it: this one is long.
    for out, reason in (("file", "cannot"), ("file/below", "cannot"), ("/proc/none", "cannot make the directory /proc/none")):
        done = suite.run("run", "long.yaml", "--out", out)
        suite.check(done.code == 1 and reason in done.err and out in done.err, f"--out {out}", done)
        suite.check(done.seconds < (30 if SANITIZED else 1), f"--out {out}: at once", done)
    (suite.folder / "taken" / "report.html").mkdir(parents=True)
    done = suite.run("run", "base.yaml", "--out", "taken")
    suite.check(done.code == 1 and "taken/report.html: Is a directory" in done.err, "a folder in the place of a file", done)
    if os.geteuid() != 0:
        (suite.folder / "locked").mkdir(mode=0o555)
        done = suite.run("run", "long.yaml", "--out", "locked")
        suite.check(done.code == 1 and "Permission denied" in done.err, "a locked folder", done)
    readers = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    done = suite.run("run", "base.yaml", "--html", f"/proc/self/fd/{readers.stdin.fileno()}", pass_fds=[readers.stdin.fileno()])
    html = readers.communicate()[0].decode()
    suite.check(done.code == 0 and html.rstrip().endswith("</html>"), "a pipe in the place of a file", done)
    run_two_at_once(suite)


def run_two_at_once(suite):
    children = [subprocess.Popen([suite.program, "run", "base.yaml", "--seed", str(seed), "--out", "both", "--events"],
                                 cwd=suite.folder, stdout=subprocess.PIPE) for seed in range(1, 9)]
    codes = [child.wait() for child in children]
    for child in children:
        child.stdout.close()
    suite.check(codes == [0] * 8, f"eight runs into one folder: {codes}")
    suite.check(judge_folder(suite, "eight runs into one folder", suite.folder / "both") == ONE, "all files are there")


def run_streams(suite):
    suite.write("base.yaml", BASE)

    def shell(line):
        return subprocess.run(["bash", "-c", line], cwd=suite.folder, capture_output=True, text=True, check=False,
                              env={**os.environ, "T": suite.program})

    done = shell('"$T" run base.yaml --out a >&-')
    suite.check(done.returncode == 1 and "standard output: it is closed" in done.stderr, f"closed stdout: {done}")
    suite.check(judge_folder(suite, "closed stdout", suite.folder / "a") == ONE - {"events.jsonl"}, "closed stdout: files")
    done = shell('"$T" run base.yaml --out b 2>&-')
    suite.check(done.returncode == 0 and "passed  base" in done.stdout, f"closed stderr: {done}")
    judge_folder(suite, "closed stderr", suite.folder / "b")
    done = shell('"$T" run none.yaml 2>&-')
    suite.check(done.returncode == 3 and not done.stdout, f"closed stderr, bad input: {done}")
    done = shell('"$T" run base.yaml --out c <&- >&- 2>&-')
    suite.check(done.returncode == 1, f"all closed: {done}")
    judge_folder(suite, "all closed", suite.folder / "c")
    for words in ("run base.yaml", "run base.yaml --json", "faults", "schema", "help run", "explain jobs"):
        done = shell(f'"$T" {words} >/dev/full')
        suite.check(done.returncode == 1 and "No space left" in done.stderr, f"{words} >/dev/full: {done}")
        done = shell(f'set -o pipefail; "$T" {words} | head -1')
        suite.check(done.returncode in (0, 1, 141) and done.stdout.count("\n") == 1, f"{words} | head -1: {done}")
    done = shell('"$T" run base.yaml --out d --json | true; exit ${PIPESTATUS[0]}')
    suite.check(done.returncode in (0, 1), f"a reader that is gone: {done}")
    suite.check("result.json" in judge_folder(suite, "a reader that is gone", suite.folder / "d"), "files are there all the same")
    done = shell('ulimit -v 60000; "$T" run base.yaml --set cluster.nodes.0.count=100000')
    if not SANITIZED:
        suite.check(done.returncode == 1 and "out of memory" in done.stderr, f"little memory: {done}")
        done = shell('ulimit -n 20; "$T" run base.yaml --seeds 1..60 -j 50 --json')
        suite.check(done.returncode == 0 and json.loads(done.stdout)["runs"] == 60, f"few files: {done.stderr}")


def cut(suite, number, seconds, number_of, *words):
    """Sends the signal after that time; returns (exit code as a shell sees it, stdout)."""
    folder = suite.folder / f"out{number_of}"
    child = subprocess.Popen([suite.program, "run", "long.yaml", "--out", str(folder), *words], cwd=suite.folder,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(seconds)
    child.send_signal(number)
    out, err = child.communicate(timeout=patience(200))
    code = child.returncode if child.returncode >= 0 else 128 - child.returncode
    return folder, code, out, err


def run_signals(suite):
    suite.write("long.yaml", LONG)
    seed = random.SystemRandom().randrange(10**6)
    print("moments of seed", seed)
    moments = random.Random(seed)
    flushed = 0
    for i in range(24):
        number = (signal.SIGINT, signal.SIGTERM)[i % 2]
        words = (["--events"] if i % 3 == 0 else ["--seeds", "1..4", "-j", "2"] if i % 3 == 1 else ["--json"])
        folder, code, out, err = cut(suite, number, moments.choice((0.01, 0.1, 1.0)) * moments.random(), i, *words)
        what = f"signal {number} number {i} {words}"
        suite.check(code == 128 + number, f"{what}: exit {code} {err}")
        names = judge_folder(suite, what, folder)
        if "result.json" in names:
            flushed += 1
            document = json.loads((folder / "result.json").read_text())
            suite.check(document["verdict"] == "interrupted", f"{what}: {document['verdict']}")
            suite.check("interrupted" in out, f"{what}: stdout says so: {out[:300]}")
            html = (folder / "report.html").read_text() if "report.html" in names else ""
            suite.check("interrupted" in html, f"{what}: the report says so")
    suite.check(flushed > 0, f"some were cut while they ran: {flushed}")
    # The second one does not wait, and still nothing is left half done.
    for i in range(6):
        child = subprocess.Popen([suite.program, "run", "long.yaml", "--out", f"twice{i}", "--events"], cwd=suite.folder,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.3 + moments.random() * 0.5)
        child.send_signal(signal.SIGINT)
        time.sleep(moments.random() * 0.1)
        child.send_signal(signal.SIGINT if i % 2 else signal.SIGKILL)
        code = child.wait(timeout=patience(200))
        suite.check(code in (130, -signal.SIGINT, -signal.SIGKILL), f"two signals: exit {code}")
        judge_folder(suite, "two signals", suite.folder / f"twice{i}")
    run_orphans(suite)


def run_orphans(suite):
    """Runs of an ensemble do not outlive the process that wanted them."""
    child = subprocess.Popen([suite.program, "run", "long.yaml", "--seeds", "1..4", "-j", "2"], cwd=suite.folder,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    children = two_children(child.pid)
    child.kill()
    child.wait()
    deadline = time.monotonic() + patience(10)
    while time.monotonic() < deadline and any(is_alive(pid) for pid in children):
        time.sleep(0.05)
    suite.check(len(children) == 2, f"two runs at once: {children}")
    suite.check(not any(is_alive(pid) for pid in children), "no orphans")


def two_children(pid):
    """Waits for two children."""
    deadline = time.monotonic() + patience(30)
    while True:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            children = [int(word) for word in file.read().split()]
        if len(children) >= 2 or time.monotonic() > deadline:
            return children
        time.sleep(0.02)


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def main():
    suite = Suite(sys.argv[1])
    {"disk": run_disk, "streams": run_streams, "signals": run_signals}[sys.argv[2]](suite)
    suite.finish()


if __name__ == "__main__":
    main()
