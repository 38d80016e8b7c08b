#!/usr/bin/env python3
"""Processes that stop making progress: found by `watch`, their stacks written down, started again. Usage: hang.py BIN_DIR [CASE...]"""
import os
import signal
import sys

from harness import Job, check, run_cases

BIN = sys.argv[1]

# Steps until it is told to hang, which only its first attempt does; a peer that never prints hangs with it.
TRAIN = """\
import faulthandler, os, signal, sys, time
faulthandler.register(signal.SIGUSR1, all_threads=True)
print("attempt", os.environ["TFYARN_ATTEMPT"], flush=True)

def wait_for_ever_in_here():
    while True:
        time.sleep(0.05)

step = 0
while not os.path.exists(sys.argv[1] + "/end"):
    if os.environ["TFYARN_ATTEMPT"] == "0" and os.path.exists(sys.argv[1] + "/hang"):
        wait_for_ever_in_here()
    if len(sys.argv) < 3:
        step += 1
        print("step", step, flush=True)
    time.sleep(0.05)
"""


def job(strategy, action):
    return Job(BIN, f"""\
name: hang
framework: generic
strategy: {strategy}
retries: {{infrastructure: 2}}
deadlines: {{stop: 2s, blame: 1s}}
watch: {{progress: "step ([0-9]+)", stalled: 5s, do: {action}}}
files: [train.py]
tasks:
  worker: {{instances: 2, memory: 128MiB, command: [python3, train.py, "%s/shared"]}}
""", {"train.py": TRAIN})


def stacks(run, task, attempt):
    folder = run.out / "logs" / "stacks" / f"{task.replace(':', '-')}.attempt-{attempt}"
    return [path.read_text(errors="replace") for path in folder.glob("stack-*.txt")] if folder.exists() else []


def a_gang_hangs():
    run = job("multi-worker", "restart-gang").start("-q")
    for task in ("worker:0", "worker:1"):
        run.wait_for_line(task, "step 3")
    (run.shared / "hang").touch()
    for task in ("worker:0", "worker:1"):
        run.wait_for_line(task, "attempt 1")
    (run.shared / "end").touch()
    code = run.end()
    check(code == 0, f"exit code {code}: {run.output}")
    for task in ("worker:0", "worker:1"):
        written = stacks(run, task, 0)
        check(written and any("python3" in text for text in written), f"no stacks of {task}: {written}")
        check("wait_for_ever_in_here" in run.log_text(task, 0, "stderr"), f"no Python stack of {task}")
    check(run.job()["restarts"]["gang"] == 1, f"{run.job()['restarts']}")
    causes = [order["cause"] for order in run.am_orders("RestartDecided")]
    check(len(causes) == 1 and causes[0]["exit_class"] == "timeout", f"{causes}")
    run.close()


def a_stopped_process_is_found():
    """SIGSTOP: no exit code, no heartbeat missing; only the missing steps say it. The other one's stacks are written too."""
    run = job("independent", "restart-task").start("-q")
    for task in ("worker:0", "worker:1"):
        run.wait_for_line(task, "step 3")
    os.kill(run.process_of("worker:1"), signal.SIGSTOP)
    run.wait_for_line("worker:1", "attempt 1")
    (run.shared / "end").touch()
    code = run.end()
    check(code == 0, f"exit code {code}: {run.output}")
    check(len(run.attempts("worker:0")) == 1, "worker:0 was disturbed")
    check(run.attempts("worker:1")[0]["exit_class"] == "timeout", f"{run.attempts('worker:1')[0]}")
    check(stacks(run, "worker:1", 0) and stacks(run, "worker:0", 0), "stacks are missing")
    check("wait" not in run.log_text("worker:0", 0, "stderr") and "File" in run.log_text("worker:0", 0, "stderr"),
          "worker:0 was not asked for its stack")
    run.close()


# Its first attempt fails when it is told to, and swallows SIGTERM as TensorFlow does.
MEMBER = """\
import os, signal, sys, time
first = os.environ["TFYARN_ATTEMPT"] == "0"
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("attempt", os.environ["TFYARN_ATTEMPT"], flush=True)
while not os.path.exists(sys.argv[1] + "/end"):
    if first and os.environ["TFYARN_TASK_INDEX"] == "0" and os.path.exists(sys.argv[1] + "/fail"):
        sys.exit("a peer does not answer")
    time.sleep(0.05)
"""


def a_stopped_member_is_blamed():
    """Its peer fails because of it, and the user may not pay for that. There is nothing to save: neither the stopped
    process nor the one that does not hear SIGTERM has the time that `stop` says, which is longer than this test waits."""
    run = Job(BIN, """\
name: member
framework: generic
strategy: multi-worker
retries: {user: 0, infrastructure: 1}
deadlines: {stop: 10m, blame: 10m}
files: [member.py]
tasks:
  worker: {instances: 3, memory: 128MiB, command: [python3, member.py, "%s/shared"]}
""", {"member.py": MEMBER}).start("-q")
    for index in range(3):
        run.wait_for_line(f"worker:{index}", "attempt 0")
    os.kill(run.process_of("worker:1"), signal.SIGSTOP)
    (run.shared / "fail").touch()
    for index in range(3):
        run.wait_for_line(f"worker:{index}", "attempt 1")
    (run.shared / "end").touch()
    code = run.end()
    check(code == 0, f"exit code {code}: {run.output}")
    causes = [(order["cause"]["task"], order["cause"]["exit_class"], order["paid"]) for order in run.am_orders("RestartDecided")]
    check(causes == [("worker:1", "timeout", "infrastructure")], f"{causes}")
    run.close()


# The chief makes a step when every worker has moved since the last one; workers never end.
SERVED = """\
import os, sys, time
shared, kind = sys.argv[1], os.environ["TFYARN_TASK_TYPE"]
print("attempt", os.environ["TFYARN_ATTEMPT"], flush=True)
step = 0
while not os.path.exists(shared + "/end"):
    if kind == "chief":
        for index in range(2):
            while not os.path.exists(f"{shared}/moved-{index}"):
                time.sleep(0.01)
            os.remove(f"{shared}/moved-{index}")
        step += 1
        print("step", step, flush=True)
    elif kind == "worker":
        open(f"{shared}/moved-{os.environ['TFYARN_TASK_INDEX']}", "w").close()
    time.sleep(0.05)
"""


def a_stopped_worker_starts_again_alone():
    """Under parameter-server: the chief stalls, and the worker for which it waits is the failure."""
    run = Job(BIN, """\
name: served
framework: generic
strategy: parameter-server
retries: {user: 0, infrastructure: 1}
watch: {progress: "step ([0-9]+)", stalled: 8s, do: restart-gang}
command: [python3, served.py, "%s/shared"]
files: [served.py]
tasks:
  chief: {memory: 128MiB}
  worker: {instances: 2, memory: 128MiB}
  ps: {memory: 128MiB}
""", {"served.py": SERVED}).start("-q")
    run.wait_for_line("chief:0", "step 3")
    os.kill(run.process_of("worker:1"), signal.SIGSTOP)
    run.wait_for_line("worker:1", "attempt 1")
    (run.shared / "end").touch()
    code = run.end()
    check(code == 0, f"exit code {code}: {run.output}")
    causes = [(order["cause"]["task"], order["cause"]["exit_class"], order["tasks"]) for order in run.am_orders("RestartDecided")]
    check(causes == [("worker:1", "timeout", ["worker:1"])], f"{causes}")
    for task in ("chief:0", "worker:0", "ps:0"):
        check(len(run.attempts(task)) == 1, f"{task} was restarted")
    run.close()


CASES = {"a-stopped-member-is-blamed": a_stopped_member_is_blamed,
         "a-stopped-worker-starts-again-alone": a_stopped_worker_starts_again_alone,
         "a-gang-hangs": a_gang_hangs, "a-stopped-process-is-found": a_stopped_process_is_found}

if __name__ == "__main__":
    run_cases(CASES, sys.argv[2:])
