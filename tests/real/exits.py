#!/usr/bin/env python3
"""How real processes end, and what is recorded of it: exit codes, signals, programs that ignore SIGTERM, leave children behind,
write without end or use too much memory. Usage: exits.py BIN_DIR [CASE...]"""
import contextlib
import os
import pathlib
import signal
import shutil
import sys
import tempfile

from harness import SANITIZED, Job, check, processes, run_cases, wait_for

BIN = sys.argv[1]


def one_task(shell, more="", memory="128MiB"):
    """A job of one process that runs `shell`."""
    body = shell.replace("\\", "\\\\").replace('"', '\\"')
    return Job(BIN, f"""\
name: exits
framework: generic
strategy: independent
{more}
tasks:
  worker: {{instances: 1, memory: {memory}, command: [bash, -c, "{body}"]}}
""")


def ends(shell, status, exit_status, exit_class, more="", memory="128MiB"):
    job = one_task(shell, more, memory)
    code = job.run("-q")
    try:
        check(code == {"SUCCEEDED": 0, "FAILED": 10}[status], f"exit code {code}: {job.output}")
        result = job.job()
        check(result["status"] == status, f"{result['status']}: {result['diagnostics']}")
        last = job.attempts("worker:0")[-1]
        check(last["exit"] == exit_status, f"exit {last['exit']}, not {exit_status}")
        check(last["exit_class"] == exit_class, f"class {last['exit_class']}, not {exit_class}")
        return job
    finally:
        job.close()


def exit_codes():
    for code, exit_class in ((1, "user-permanent"), (75, "user-retryable"), (127, "user-permanent"), (137, "killed-external"),
                             (139, "signal-crash"), (143, "killed-external")):
        status = "FAILED"
        more = "retries: {infrastructure: 0}"
        ends(f"exit {code}", status, code, exit_class, more)
    ends("exit 0", "SUCCEEDED", 0, "ok")


def propagated_exit():
    """--propagate-exit: the exit code of the process that failed the job; 10 where that is no code of a process, 0 for a job that succeeded."""
    for shell, expected in (("exit 3", 3), ("kill -SEGV $$", 139), ("exit 0", 0)):
        for options, code in ((["--propagate-exit"], expected), ([], 10 if expected else 0)):
            job = one_task(shell)
            got = job.run("-q", *options)
            job.close()
            check(got == code, f"{shell} {options}: exit code {got}, not {code}: {job.output}")
    job, status = eats_memory()
    got = job.run("-q", "--propagate-exit")
    cause = job.job()["cause"]
    job.close()
    check(got == 10 and cause["exit"] == status, f"exit code {got}: {cause}")


def ends_by_signal():
    more = "retries: {infrastructure: 0}"
    ends("kill -SEGV $$", "FAILED", 139, "signal-crash", more)
    ends("kill -ABRT $$", "FAILED", 134, "signal-crash", more)
    ends("kill -KILL $$", "FAILED", 137, "killed-external", more)
    ends("kill -TERM $$", "FAILED", 143, "killed-external", more)


def command_that_cannot_be_started():
    """The user's, at once, by the shell's numbers: not there, not to be executed, no program, without its interpreter."""
    files = {"plain": "#!/bin/sh\n", "noformat": "exit 0\n", "lost": "#!/no/such/python\n"}
    for command, status, words in (("no-such-program", 127, "not found in PATH"), ("./nothing", 127, "No such file"),
                                   ("./lost", 127, "/no/such/python"), ("./plain", 126, "Permission denied"),
                                   ("./noformat", 126, "#! line"), ("./data", 126, "Permission denied")):
        job = Job(BIN, f"""\
name: exits
framework: generic
strategy: independent
files: [plain, noformat, lost, data]
retries: {{user: 0, infrastructure: 20}}
tasks:
  worker: {{instances: 1, memory: 64MiB, command: ["{command}", "1"]}}
""", files)
        (job.folder / "data").mkdir()
        for name in ("noformat", "lost"):
            (job.folder / name).chmod(0o755)
        code = job.run("-q")
        result, attempts = job.job(), job.attempts("worker:0")
        job.close()
        check(code == 10 and words in result["cause"]["detail"], f"{command}: exit code {code}: {result['cause']}")
        check([(attempt["exit"], attempt["exit_class"]) for attempt in attempts] == [(status, "user-permanent")], f"{command}: {attempts}")


def agents_that_never_start():
    """Each costs the budget, and the verdict has the agent's own words."""
    with tempfile.TemporaryDirectory(prefix="tfyarn-bin-") as programs:
        for name in ("tfyarn", "tfyarn-am", "tfsim"):
            shutil.copy(pathlib.Path(BIN) / name, programs)
        agent = pathlib.Path(programs) / "tfyarn-agent"
        agent.write_text("#!/bin/sh\necho the bundle is broken >&2\nexit 1\n")
        agent.chmod(0o755)
        job = Job(programs, """\
name: exits
framework: generic
strategy: independent
retries: {user: 0, infrastructure: 2}
tasks:
  worker: {instances: 1, memory: 64MiB, command: ["true"]}
""")
        code = job.run()
        result = job.job()
        started = [event for event in job.events() if event["type"] == "ContainerLaunched"]
        paid = [order["paid"] for order in job.am_orders("RestartDecided")]
        job.close()
    check(code == 10 and result["cause"]["exit_class"] == "launch-error", f"exit code {code}: {result}")
    check("the bundle is broken" in result["cause"]["detail"], f"{result['cause']}")
    check("the bundle is broken" in job.output, f"{job.output}")
    check(len(started) == 4 and paid == ["infrastructure"] * 2, f"{len(started)} containers with the AM's, paid {paid}")
    told = job.output.count("worker:0 starts again")
    check(told == 2, f"{told} restarts were told: {job.output}")


def children_are_ended():
    """What a task leaves behind ends with it: in its group, in sessions of their own, double forked."""
    job = one_task("(setsid sleep 991 &) ; (sleep 992 & disown) ; python3 -c 'import os,time\nif os.fork()==0:\n os.setsid()\n "
                   "if os.fork()==0: time.sleep(993)\n' ; exit 0")
    code = job.run("-q")
    left = [argv for _, _, argv in processes() if any(word in argv for word in ("991", "992", "993"))]
    job.close()
    check(code == 0, f"exit code {code}")
    check(not left, f"left behind: {left}")


def shell_and_its_program():
    """A gang starts again: a program that is behind a shell, and writes into a pipe, has the time to save, though both others end at
    SIGTERM at once."""
    job = Job(BIN, """\
name: exits
framework: generic
strategy: multi-worker
retries: {user: 1}
deadlines: {stop: 10m}
files: [saves.py]
tasks:
  chief: {memory: 64MiB, command: [bash, -c, "echo attempt $TFYARN_ATTEMPT; while [ ! -e %s/shared/end$TFYARN_ATTEMPT ]; do sleep 0.05; done; exit $((75 - 75 * TFYARN_ATTEMPT))"]}
  worker: {memory: 64MiB, shell: "python3 -u saves.py %s/shared/end1 | cat"}
""", {"saves.py": """\
import os, sys, signal, time
def save(*_):
    print("saves", flush=True)
    time.sleep(0.5)
    print("saved", flush=True)
    sys.exit(75)
signal.signal(signal.SIGTERM, save)
print("attempt", os.environ["TFYARN_ATTEMPT"], flush=True)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.05)
"""})
    job.start("-q")
    for attempt in range(2):
        job.wait_for_line("worker:0", f"attempt {attempt}")
        (job.shared / f"end{attempt}").touch()
    code = job.end()
    said = job.log_text("worker:0", 0)
    check(code == 0, f"exit code {code}: {job.output}")
    check("saved" in said, f"it was ended before it had saved: {said}")
    job.close()


def term_is_ignored():
    """A second process fails the job; the one that ignores SIGTERM is killed after `stop`."""
    job = Job(BIN, """\
name: exits
framework: generic
strategy: independent
deadlines: {stop: 1s}
tasks:
  deaf: {instances: 1, memory: 64MiB, command: [bash, -c, "trap '' TERM; echo deaf; while true; do sleep 0.1; done"]}
  worker: {instances: 1, memory: 64MiB, command: [bash, -c, "while ! grep -q deaf %s/run/logs/deaf-0.attempt-0.stdout; do sleep 0.05; done; exit 3"]}
""")
    code = job.run("-q")
    result = job.job()
    job.close()
    check(code == 10, f"exit code {code}")
    check(result["cause"]["task"] == "worker:0" and result["cause"]["exit"] == 3, f"cause {result['cause']}")


def stdin_is_closed():
    ends("if read -r line; then exit 4; fi; exit 0", "SUCCEEDED", 0, "ok")


def much_output():
    """A gigabyte of log costs disk, not memory, and holds no process up."""
    megabytes = 64 if SANITIZED else 1024
    job = one_task(f"head -c {megabytes}M /dev/zero | tr '\\\\0' 'x'; exit 0")
    code = job.run("-q")
    size = (job.out / "logs" / "worker-0.attempt-0.stdout").stat().st_size
    job.close()
    check(code == 0 and size == megabytes << 20, f"exit code {code}, {size} bytes")


def eats_memory():
    """(A job whose process uses more memory than it has, the exit status that the NodeManager gives it.)"""
    megabytes = 1500 if SANITIZED else 300
    return one_task(f"python3 -c 'import time; x = bytearray({megabytes} << 20); time.sleep(30)'", memory="128MiB"), -104


def too_much_memory():
    """As YARN's NodeManager: killed, and an oom is not tried again without more memory."""
    job, status = eats_memory()
    code = job.run("-q")
    result = job.job()
    attempt = job.attempts("worker:0")[-1]
    job.close()
    check(code == 10, f"exit code {code}")
    check(attempt["exit_class"] == "oom", f"attempt {attempt}")
    check(result["cause"]["exit"] == status, f"cause {result['cause']}")


def interrupt():
    """Ctrl-C ends the job in good order: KILLED, exit code 11, nothing left."""
    job = one_task("echo up; sleep 300")
    job.start("-q")
    job.wait_for_line("worker:0", "up")
    job.process.send_signal(signal.SIGINT)
    code = job.end()
    status = job.job()["status"]
    job.close()
    check(code == 11 and status == "KILLED", f"exit code {code}, {status}")


def whole_tfyarn_is_killed():
    """kill -9 of tfyarn itself leaves no process, and a result all the same."""
    job = one_task("echo up; sleep 994; exit 0")
    job.start("-q")
    job.wait_for_line("worker:0", "up")
    pids = [pid for pid, _ in job.descendants()]
    check(len(pids) == 5, f"tfyarn's child, AM, agent, shell and sleep run: {pids}")
    job.process.send_signal(signal.SIGKILL)
    job.process.wait()
    wait_for("the end of every process",
             lambda: not [pid for pid, _, _ in processes() if pid in pids])
    check(job.job()["status"] == "KILLED", f"{job.job()}")
    job.close()


def killed_together(victims):
    """kill -9 of several at once, while every task has a process in a session of its own and one without a parent."""
    job = Job(BIN, """\
name: exits
framework: generic
strategy: independent
tasks:
  worker: {instances: 3, memory: 64MiB, command: [bash, -c, "(setsid sleep 995 &); setsid sleep 996 & echo up; sleep 997"]}
""")
    job.start("-q")
    for index in range(3):
        job.wait_for_line(f"worker:{index}", "up")
    wait_for("all of them", lambda: len(job.find("995") + job.find("996") + job.find("997")) == 9)
    pids = [pid for pid, _ in job.descendants()]
    for pid in victims(job):
        # Those listed last may have ended with the first: nothing of a run outlives it.
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    code = job.end()
    wait_for("the end of every process",
             lambda: not [pid for pid, _, _ in processes() if pid in pids])
    job.close()
    return code


def front_masters_and_agents_are_killed():
    """What a user kills who finds them in a list: tfyarn run, AM and agents. Its child ends the rest."""
    killed_together(lambda job: [job.process.pid, *job.masters(), *job.agents()])


def all_of_our_name_are_killed():
    """As `pkill -9 tfyarn` does, which knows names (comm) only: the one that waits ends the rest, and says so by its exit code."""
    def named(job):
        found = []
        for pid in [job.process.pid] + [pid for pid, _ in job.descendants()]:
            with contextlib.suppress(OSError):
                if "tfyarn" in pathlib.Path(f"/proc/{pid}/comm").read_text():
                    found.append(pid)
        check(len(found) == 5 and job.process.pid not in found, f"child, AM and three agents: {found}")
        return found
    code = killed_together(named)
    check(code == 137, f"exit code {code}")


CASES = {
    "exit-codes": exit_codes,
    "propagated-exit": propagated_exit,
    "signals": ends_by_signal,
    "command-that-cannot-be-started": command_that_cannot_be_started, "agents-that-never-start": agents_that_never_start,
    "children-are-ended": children_are_ended,
    "shell-and-its-program": shell_and_its_program,
    "term-is-ignored": term_is_ignored,
    "stdin-is-closed": stdin_is_closed,
    "much-output": much_output,
    "too-much-memory": too_much_memory,
    "interrupt": interrupt,
    "whole-tfyarn-is-killed": whole_tfyarn_is_killed,
    "front-am-and-agents-are-killed": front_masters_and_agents_are_killed,
    "all-of-our-name-are-killed": all_of_our_name_are_killed,
}

if __name__ == "__main__":
    check(pathlib.Path(BIN, "tfyarn").exists(), f"no tfyarn in {BIN}")
    run_cases(CASES, sys.argv[2:])
