#!/usr/bin/env python3
"""Following the logs of a run holds nothing up: floods, readers who stand still, closed terminals. Usage: logs.py BIN_DIR [CASE...]"""
import os
import pathlib
import signal
import subprocess
import sys

from harness import SANITIZED, Job, check, is_running, run_cases, wait_for

BIN = sys.argv[1]


def one_task(shell):
    """A job of one process that runs `shell`."""
    return Job(BIN, f"""\
name: logs
framework: generic
strategy: independent
tasks:
  worker: {{instances: 1, memory: 64MiB, command: [bash, -c, "{shell}"]}}
""")


UNTIL_END = "while [ ! -e %s/shared/end ]; do sleep 0.05; done"


def a_flood_is_passed_over():
    """Too much output is not shown, with a line that says how much; the last lines are shown."""
    megabytes = 64 if SANITIZED else 256
    job = one_task(f"yes 0123456789012345678901234567890123456789 | head -c {megabytes}M; echo; echo the last words")
    code = job.run()
    size = (job.out / "logs" / "worker-0.attempt-0.stdout").stat().st_size
    job.close()
    check(code == 0, f"exit code {code}")
    check(size > megabytes << 20, f"the log has {size} bytes")
    check(f" MiB not shown; whole in {job.out}/logs/worker-0.attempt-0.stdout)" in job.output, "what is not shown is not said")
    check("worker:0   | the last words\n" in job.output, "the last words are missing")
    check(len(job.output) < megabytes << 19, f"{len(job.output)} bytes were shown")


def start_without_reader(job):
    """tfyarn run with a full pipe as its stdout; the other end of which is not read."""
    unread, stdout = os.pipe()
    command = [job.program, "run", "job.yaml", "--out", str(job.out), "--oversubscribe"]
    with open(job.folder / "output.txt", "w", encoding="utf-8") as stderr:
        job.process = subprocess.Popen(command, cwd=job.folder, stdout=stdout, stderr=stderr, stdin=subprocess.DEVNULL)
    os.close(stdout)
    wait_for("a log that is longer than a pipe",
             lambda: len(job.log_text("worker:0")) >= 4 << 20 and "\nwrote" in job.log_text("worker:0")[-20:])
    return unread


def a_reader_who_stands_still_holds_nothing_up():
    """The job goes on and ends, and all its results are there; then the program waits for its reader, and a signal ends it."""
    job = one_task(f"yes | head -c 4M; echo; echo wrote; {UNTIL_END}")
    unread = start_without_reader(job)
    (job.shared / "end").touch()
    wait_for("the results", lambda: (job.out / "result.json").exists() and (job.out / "report.html").exists())
    check(job.job()["status"] == "SUCCEEDED", job.job()["diagnostics"])
    wait_for("no other process", lambda: not job.masters() and not job.agents())

    def ended():
        job.process.send_signal(signal.SIGINT)
        return job.process.poll() is not None
    wait_for("the end", ended)
    os.close(unread)
    job.close()


def two_signals_end_a_run_without_reader():
    """Ctrl-C twice, while the reader of the logs stands still and the task does not hear SIGTERM."""
    job = one_task("trap '' TERM; yes | head -c 4M; echo; echo wrote; while true; do sleep 0.1; done")
    unread = start_without_reader(job)
    pids = [pid for pid, _ in job.descendants()]
    job.process.send_signal(signal.SIGINT)
    wait_for("the first answer", lambda: "once more" in (job.folder / "output.txt").read_text())
    job.process.send_signal(signal.SIGINT)
    code = job.end()
    check(code == 11, f"exit code {code}")
    check(job.job()["status"] == "KILLED", f"{job.job()['status']}")
    check("are not shown" in job.output, f"said: {job.output}")
    check(not [pid for pid in pids if is_running(pid)], "processes are left")
    os.close(unread)
    job.close()


def a_closed_terminal_ends_the_run():
    """SIGHUP as Ctrl-C: in good order, with result and report."""
    job = one_task(f"echo up; {UNTIL_END}")
    job.start()
    job.wait_for_line("worker:0", "up")
    job.process.send_signal(signal.SIGHUP)
    code = job.end()
    check((job.out / "result.json").exists() and (job.out / "report.html").exists(), "there is no result")
    status = job.job()["status"]
    job.close()
    check(code == 11 and status == "KILLED", f"exit code {code}, {status}")


def nohup_is_respected():
    job = one_task(f"echo up; {UNTIL_END}")
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    job.start()
    signal.signal(signal.SIGHUP, before)
    job.wait_for_line("worker:0", "up")
    job.process.send_signal(signal.SIGHUP)
    job.finish()
    job.close()


CASES = {
    "flood": a_flood_is_passed_over,
    "reader-stands-still": a_reader_who_stands_still_holds_nothing_up,
    "two-signals": two_signals_end_a_run_without_reader,
    "closed-terminal": a_closed_terminal_ends_the_run,
    "nohup": nohup_is_respected,
}

if __name__ == "__main__":
    check(pathlib.Path(BIN, "tfyarn").exists(), f"no tfyarn in {BIN}")
    run_cases(CASES, sys.argv[2:])
