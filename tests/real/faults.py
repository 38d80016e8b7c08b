#!/usr/bin/env python3
"""`tfyarn run --faults`: every kind of fault does what it says, result.json has it with its detection and recovery, and what cannot
be made real is refused before anything starts. Usage: faults.py BIN_DIR [CASE...]"""
import contextlib
import json
import os
import pathlib
import sys

from harness import Job, check, run_cases, small_disk, wait_for

BIN = sys.argv[1]

# What a task writes says in which attempt it is; it works until a file appears.
WORKER = "echo attempt $TFYARN_ATTEMPT; while [ ! -e %s/shared/end ]; do sleep 0.05; done"
# Needs its port, and says which it has.
LISTENER = """\
import os, socket, sys, time
with socket.socket() as listener:
    listener.bind(("", int(os.environ["TFYARN_PORT"])))
    listener.listen()
    print("attempt", os.environ["TFYARN_ATTEMPT"], "has", os.environ["TFYARN_PORT"], flush=True)
    while not os.path.exists(sys.argv[1] + "/end"):
        time.sleep(0.05)
"""


def two_workers(fault, strategy="independent", command=("bash", "-c", WORKER), more=""):
    return Job(BIN, f"""\
name: a
framework: generic
strategy: {strategy}
retries: {{user: 3}}
deadlines: {{blame: 300ms, stop: 2s}}
heartbeat: {{every: 200ms, missed: 5}}
{more}
files: [listen.py]
tasks:
  worker: {{instances: 2, memory: 64MiB, command: {json.dumps(list(command))}}}
""", {"faults.yaml": f"faults:\n  - {fault}\n", "listen.py": LISTENER})


def start(fault, **how):
    job = two_workers(fault, **how)
    return job.start("-q", "--faults", "faults.yaml")


def running(job, attempts):
    for task, attempt in attempts.items():
        job.wait_for_line(task, f"attempt {attempt}")


def stops(what, find):
    """Waits until the process that find() gives stands still, and then until it goes on."""
    def state():
        with contextlib.suppress(OSError, TypeError, IndexError):
            stat = pathlib.Path(f"/proc/{find()}/stat").read_text(errors="replace")
            return stat[stat.rindex(")") + 2]
        return "?"
    wait_for(f"{what} to stand still", lambda: state() == "T")
    wait_for(f"{what} to go on", lambda: state() in "RSD")


def the_fault(job, kind, target, detected=True, ended=False):
    """The one fault of result.json, as text."""
    faults = job.result()["faults"]
    check(len(faults) == 1, f"{faults}")
    fault = faults[0]
    check((fault["kind"], fault["target"]) == (kind, target), f"{fault}")
    check((fault["detected"] is not None) == detected and (fault["recovered"] is not None) == detected, f"{fault}")
    check((fault["ended"] is not None) == ended, f"{fault}")
    if detected:
        check(fault["at"] <= fault["detected"] <= fault["recovered"], f"{fault}")
    check(kind in (job.out / "report.html").read_text(), "the report does not have it")
    return fault


def when_running(kind, target, **more):
    return json.dumps({"kind": kind, "when": {"job": "a", "state": "running"}, "after": "100ms", "target": target, **more})


WORKER_1 = {"job": "a", "task": "worker:1"}


def a_signal():
    """To the task's own process: its children are ended by the agent, which goes on."""
    job = start(when_running("container_signal", WORKER_1, signal="SEGV"))
    running(job, {"worker:1": 1})
    job.finish()
    first, second = job.attempts("worker:1")
    check((first["exit"], first["exit_class"]) == (139, "signal-crash"), f"{first}")
    check(first["container"] == second["container"], "another container")
    the_fault(job, "container_signal", "a worker:1")
    job.close()


def a_lost_container():
    job = start(when_running("container_lost", WORKER_1, exit=137))
    running(job, {"worker:1": 1})
    job.finish()
    first, second = job.attempts("worker:1")
    check(first["exit"] == 137 and first["container"] != second["container"], f"{first}, {second}")
    the_fault(job, "container_lost", "a worker:1")
    job.close()


def a_dead_master():
    job = start(when_running("am_crash", {"am": "a"}), strategy="multi-worker")
    first = wait_for("an AM", job.masters)
    wait_for("a second AM", lambda: job.masters() and job.masters() != first)
    result = job.finish()
    check(result["am_attempts"] == 2 and result["epochs"] == 1, f"{result['am_attempts']}, epoch {result['epochs']}")
    the_fault(job, "am_crash", "am of a")
    job.close()


def a_last_master():
    """It has no other attempt: the ResourceManager's report is the cause, and each row of the verdict says its own."""
    job = two_workers(when_running("am_crash", {"am": "a"}), more="am: {attempts: 1}")
    code = job.run("-q", "--faults", "faults.yaml")
    check(code == 10, f"exit code {code}: {job.output}")
    for row in ("cause      the ApplicationMaster (am-lost)", "why        Every attempt of the ApplicationMaster", "rule       yarn/am-attempts"):
        check(row in job.output, f"'{row}' is not in {job.output}")
    check(job.output.count("due to AM Container") == 1, f"said more than once: {job.output}")
    document = json.loads((job.out / "result.json").read_text())
    check(document["schema"] == "tfyarn.result/v1" and document["job"] == "a", f"{document['schema']}")
    check(not {"scenario", "scenario_digest", "seed", "simulated_seconds"} & set(document), f"a scenario's words: {list(document)}")
    job.close()


def a_paused_master():
    """It stands still for a moment, without an effect on any task."""
    job = start(when_running("am_pause", {"am": "a"}, **{"for": "1s"}))
    stops("the AM", lambda: job.masters()[0])
    result = job.finish()
    check(result["am_attempts"] == 1, f"{result['am_attempts']} AM attempts")
    fault = the_fault(job, "am_pause", "am of a", detected=False, ended=True)
    silent = [event for event in job.events() if event["type"] in ("AmTold", "AmOrdered") and
              fault["at"] + 0.05 < event["at"] < fault["ended"]]
    check(not silent, f"the AM did something: {silent[:3]}")
    job.close()


def a_hanging_task():
    """All its processes stand still, so that only `watch` notices."""
    steps = "echo attempt $TFYARN_ATTEMPT; n=0; while [ ! -e %s/shared/end ]; do n=$((n+1)); echo step $n; sleep 0.05; done"
    job = start(when_running("hang", WORKER_1), command=("bash", "-c", steps),
                more='watch: {progress: "step ([0-9]+)", stalled: 3s, do: restart-task}')
    running(job, {"worker:1": 1})
    job.finish()
    check(len(job.attempts("worker:0")) == 1, "worker:0 was disturbed")
    the_fault(job, "hang", "a worker:1")
    job.close()


def a_hang_that_ends():
    job = start(when_running("hang", WORKER_1, **{"for": "1s"}))
    stops("worker:1", lambda: job.process_of("worker:1"))
    job.finish()
    check(len(job.attempts("worker:1")) == 1, "it was restarted")
    the_fault(job, "hang", "a worker:1", detected=False, ended=True)
    job.close()


def preemption():
    """SIGTERM with the notice, -102 when it is over."""
    saves = "trap 'echo saved; trap \"\" TERM' TERM; echo attempt $TFYARN_ATTEMPT; while [ ! -e %s/shared/end ]; do sleep 0.05; done"
    job = start(when_running("preempt", WORKER_1, notice="500ms"), command=("bash", "-c", saves))
    running(job, {"worker:1": 1})
    job.finish()
    check("saved" in job.log_text("worker:1", 0) and "saved" not in job.log_text("worker:0"), "who saved?")
    first, second = job.attempts("worker:1")
    check(first["exit_class"] == "preempted" and first["container"] != second["container"], f"{first}, {second}")
    freed = [event["exit_status"] for event in job.events() if event["type"] == "ContainerFreed" and
             event["container"] == first["container"]]
    check(freed == [-102], f"freed with {freed}")
    the_fault(job, "preempt", "a worker:1")
    job.close()


def a_stolen_port():
    """The first process of the task finds it taken; the second has another, and the spec says so."""
    job = start('{kind: port_in_use, target: {job: a, task: "worker:1"}}',
                command=("python3", "listen.py", "%s/shared"))
    running(job, {"worker:0": 0, "worker:1": 1})
    job.finish()
    first, second = job.attempts("worker:1")
    check(first["exit_class"] == "port-conflict" and second["exit"] == 0, f"{first}, {second}")
    check(len(job.attempts("worker:0")) == 1, "worker:0 was disturbed")
    the_fault(job, "port_in_use", "a worker:1")
    job.close()


def the_users_kill():
    job = start(when_running("client_kill", {"job": "a"}))
    code = job.end()
    check(code == 11 and job.job()["status"] == "KILLED", f"exit code {code}: {job.output}")
    job.close()


def a_full_disk():
    """The job goes on, and what could not be written is in the recordings once there is room."""
    job = two_workers('{kind: hdfs_quota, when: {job: a, state: running}, after: 100ms, for: 2s}')
    with small_disk(job, "16m"):
        job.start("-q", "--faults", "faults.yaml")
        ballast = job.out / "ballast"
        wait_for("a full disk", ballast.exists)
        # A file's name goes before its pages do.
        wait_for("room", lambda: not ballast.exists() and os.statvfs(job.out).f_bavail > os.statvfs(job.out).f_blocks / 2)
        job.finish()
        the_fault(job, "hdfs_quota", "hdfs", detected=False, ended=True)
        ended = [event for event in job.events() if event["type"] == "AgentTold" and event["event"]["type"] == "ProcessExited"]
        check(len(ended) == 2, f"the recordings do not have how the tasks ended: {ended}")
        job.replays()
    job.close()


def refused():
    """Before anything starts, with exit code 3 and the place in the file."""
    for fault, words in {
            '{kind: node_crash, at: 1s, target: {node: n}}': ("2:12: error: faults of kind `node_crash` cannot be made real", "hang, port"),
            '{kind: hang, at: 1s, target: {job: a, task: "worker:2"}}': ("there is no task worker:2",),
            '{kind: hang, every: 1s, target: {job: a}}': ("`every`: for the simulator",),
            '{kind: hdfs_quota, at: 1s}': ("only one of less than 2048 MiB is filled",),
    }.items():
        job = two_workers(fault)
        code = job.run("--faults", "faults.yaml")
        check(code == 3 and not job.out.exists(), f"exit code {code}: {job.output}")
        for word in words:
            check(word in job.output, f"'{word}' is not in {job.output}")
        job.close()


CASES = {
    "signal": a_signal,
    "lost-container": a_lost_container,
    "dead-master": a_dead_master,
    "last-master": a_last_master,
    "paused-master": a_paused_master,
    "hanging-task": a_hanging_task,
    "hang-that-ends": a_hang_that_ends,
    "preemption": preemption,
    "stolen-port": a_stolen_port,
    "users-kill": the_users_kill,
    "full-disk": a_full_disk,
    "refused": refused,
}

if __name__ == "__main__":
    run_cases(CASES, sys.argv[2:])
