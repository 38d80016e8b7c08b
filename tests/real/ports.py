#!/usr/bin/env python3
"""Tasks that should listen on the port that their peers were told: who does, who does not, and who has it instead.
Usage: ports.py BIN_DIR [CASE...]"""
import contextlib
import json
import subprocess
import sys
import urllib.request

from harness import Job, check, run_cases, wait_for

BIN = sys.argv[1]

# Listens as it is told to until there is an end. `child`: by a child in a session of its own.
SERVE = """\
import os, socket, subprocess, sys, time

def listen(port):
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    server.bind(("", port))
    server.listen()
    return server

how, shared = sys.argv[1:3]
if how == "child":
    subprocess.Popen([sys.executable, __file__, "itself", shared], start_new_session=True)
elif how == "itself":
    server = listen(int(os.environ["TFYARN_PORT"]))
elif how == "elsewhere":
    server = listen(0)
    print("port", server.getsockname()[1], flush=True)
print("began", flush=True)
while not os.path.exists(shared + "/end"):
    time.sleep(0.05)
"""

# A program that is not the job's.
STRANGER = """\
import socket, sys, time
server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
server.bind(("", int(sys.argv[1])))
server.listen()
time.sleep(3600)
"""


def job(how, more=""):
    """A chief that listens as it should, and a worker that does as `how` says."""
    return Job(BIN, f"""\
name: ports
deadlines: {{listen: 3s, stop: 1s}}
{more}
files: [serve.py]
tasks:
  chief: {{memory: 128MiB, command: [python3, serve.py, itself, "%s/shared"]}}
  worker: {{memory: 128MiB, command: [python3, serve.py, {how}, "%s/shared"]}}
""", {"serve.py": SERVE})


def state(run):
    """What the page shows."""
    url = wait_for("the page's address", lambda: (run.out / "page").exists() and (run.out / "page").read_text().strip())
    with contextlib.suppress(OSError):
        return json.loads(urllib.request.urlopen(url + "state.json").read())
    return {"tasks": [], "events": []}


def wait_until_shown(run, text):
    wait_for(f"'{text}' on the page", lambda: [event for event in state(run)["events"] if text in event["text"]], every=0.2)


def worker_of(run):
    return next((task for task in state(run)["tasks"] if task["task"] == "worker:0"), {})


def port_of(run):
    """The worker's port as its peers are told it. The worker may run before the AM has told the page where."""
    return wait_for("the worker's address", lambda: worker_of(run).get("address")).rsplit(":", 1)[1]


def found(run, task="worker:0"):
    """Listeners that the AM found on a task's port, in order."""
    return [order["use"]["listener"] for order in run.am_orders("PortUseFound") if order["task"] == task]


def told(run):
    """Lines for the user about the worker's port."""
    return [line for line in run.output.splitlines() if line.startswith(("worker:0 listens", "worker:0 does not"))]


def a_child_that_listens_is_seen():
    run = job("child").start()
    wait_until_shown(run, "worker:0 listens on its port")
    run.finish()
    check(found(run) == ["ours"] and found(run, "chief:0") == ["ours"], f"{found(run)}, {found(run, 'chief:0')}")
    check(not told(run), f"told: {told(run)}")
    check("port" not in run.attempts("worker:0")[0], f"{run.attempts('worker:0')}")
    run.close()


def who_never_listens_is_told_once():
    run = job("never").start()
    wait_until_shown(run, "worker:0 does not listen on its port")
    port = port_of(run)
    brief = f"worker:0 does not listen on its port {port}"
    check(worker_of(run)["port"] == brief, f"the page: {worker_of(run)}")
    run.finish()
    check(found(run) == ["nobody"], f"{found(run)}")
    check(len(told(run)) == 1 and brief in told(run)[0] and "TF_CONFIG" in told(run)[0], f"told: {told(run)}")
    check(run.attempts("worker:0")[0]["port"] == brief, f"{run.attempts('worker:0')}")
    run.close()


def who_listens_elsewhere_is_told_where():
    run = job("elsewhere").start()
    run.wait_for_line("worker:0", "began")
    other = run.log_text("worker:0").split("port ")[1].split()[0]
    wait_until_shown(run, f"worker:0 listens on {other}, not on its port")
    run.finish()
    check(found(run) == ["nobody"] and len(told(run)) == 1, f"{found(run)}, told: {told(run)}")
    run.close()


def a_stranger_is_told():
    run = job("never", "watch: {progress: step, stalled: 1h}").start()
    run.wait_for_line("worker:0", "began")
    port = port_of(run)
    stranger = subprocess.Popen([sys.executable, "-c", STRANGER, port])
    try:
        wait_until_shown(run, "another program listens on the port of worker:0")
    finally:
        stranger.kill()
        stranger.wait()
    run.finish()
    check("stranger" in found(run), f"{found(run)}")
    run.close()


def the_cause_of_a_stall_names_it():
    run = job("never", 'watch: {progress: "step ([0-9]+)", stalled: 8s, do: fail}').start("-q")
    check(run.end() != 0, run.output)
    cause = run.job()["cause"]
    check(cause["exit_class"] == "timeout" and "; worker:0 does not listen on its port" in cause["detail"], f"{cause}")
    run.close()


run_cases({"a child that listens is seen": a_child_that_listens_is_seen,
           "who never listens is told once": who_never_listens_is_told_once,
           "who listens elsewhere is told where": who_listens_elsewhere_is_told_where,
           "a stranger is told": a_stranger_is_told,
           "the cause of a stall names it": the_cause_of_a_stall_names_it}, sys.argv[2:])
