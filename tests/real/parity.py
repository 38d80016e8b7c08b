#!/usr/bin/env python3
"""The same job and the same faults in `tfsim run` and in `tfyarn run --faults`: verdict, epochs, restarts, AM attempts and first
cause must be equal, and differ from what becomes of the job when nothing goes wrong. Usage: parity.py BIN_DIR [CASE...]
Without names all cases run, a few at a time: their processes mostly sleep.

A case is one job text for both. What its programs do is said once, as rows of `behavior`; for the real run they become small
shell programs with the same behaviour.
"""
import json
import pathlib
import subprocess
import sys
import threading

from behavior_rows import shell_of
from harness import Failure, Job, check, run_cases

BIN = sys.argv[1]
FIELDS = ("status", "epochs", "restarts", "am_attempts", "cause")

# A machine like this one: it answers at once.
CLUSTER = {
    "cluster": {"nodes": [{"name": "n", "count": 1, "resources": {"memory": "64GiB", "vcores": 64}}]},
    "yarn": {"heartbeat": {"nm": "100ms"}, "localize": "10ms", "launch": "10ms", "minimum_allocation": {"memory": "64MiB", "vcores": 1}},
}

BIND = """python3 -c 'import os, socket; socket.socket().bind(("", int(os.environ["TFYARN_PORT"])))' || exit 1; """


# ---------------------------------------------------------------- the two worlds


def outcome(result):
    job = result["jobs"][0]
    seen = {field: job[field] for field in FIELDS}
    if seen["cause"] is not None:
        seen["cause"] = {key: seen["cause"][key] for key in ("task", "exit_class", "exit")}
    return seen


def program_of(case):
    return shell_of(case["behavior"], steps="watch" in case["job"], before=BIND if case.get("bind") else "")


def job_of(case):
    return {"name": "a", "framework": "generic", **case["job"], "command": ["bash", "-c", program_of(case)]}


def simulated(case):
    job = {**job_of(case), "behavior": case["behavior"]}
    if "watch" in job:
        job["training"] = {"steps": 1000, "step_time": "100ms"}
    scenario = {"name": "parity", "horizon": "10m", **CLUSTER, "jobs": [job], "faults": case["faults"]}
    done = subprocess.run([str(pathlib.Path(BIN) / "tfsim"), "run", "/dev/stdin", "--json"], input=json.dumps(scenario), text=True,
                          capture_output=True, check=False)
    check(done.returncode in (0, 10, 11), f"tfsim ended with {done.returncode}: {done.stderr}")
    return outcome(json.loads(done.stdout))


def real(case):
    text = "".join(f"{key}: {json.dumps(value)}\n" for key, value in job_of(case).items())
    words = ["-q"]
    if case["faults"]:
        words += ["--faults", "faults.yaml"]
    job = Job(BIN, text, {"faults.yaml": json.dumps({"faults": case["faults"]})})
    code = job.run(*words)
    check(code in (0, 10, 11), f"tfyarn ended with {code}: {job.output}")
    result = job.result()
    check(len(result["faults"]) == len(case["faults"]), f"not all faults struck: {result['faults']}")
    seen = outcome(result)
    job.close()
    return seen


def differences(left, right):
    """Fields that are not equal; an exit that one side does not know is no difference."""
    fields = []
    for field in FIELDS:
        ours, theirs = left[field], right[field]
        if field == "cause" and ours and theirs and None in (ours["exit"], theirs["exit"]):
            ours, theirs = {**ours, "exit": None}, {**theirs, "exit": None}
        if ours != theirs:
            fields.append(f"{field}: {left[field]} and {right[field]}")
    return fields


twins = {}


def twin_of(case):
    """What becomes of the job when nothing goes wrong, in both worlds; equal jobs are run once."""
    twin = {**case, "faults": [], "behavior": [row for row in case["behavior"] if not row.get("broken")]}
    strip(twin)
    key = json.dumps(twin, sort_keys=True)
    if key not in twins:
        twins[key] = simulated(twin)
        unequal = differences(twins[key], real(twin))
        check(not unequal, f"without faults, simulated and real: {'; '.join(unequal)}")
    return twins[key]


def strip(case):
    """`broken` is this suite's word, not a scenario's."""
    case["behavior"] = [{key: value for key, value in row.items() if key != "broken"} for row in case["behavior"]]


def run_case(case):
    twin = twin_of(case)
    case = dict(case)
    strip(case)
    expected = simulated(case)
    check(differences(expected, twin), f"the same as without faults: {twin}")
    seen = real(case)
    unequal = differences(expected, seen)
    if unequal:
        raise Failure("simulated and real: " + "; ".join(unequal))


# ---------------------------------------------------------------- a few at a time

SHARES = 4


def run_shares(names):
    """Runs this program on shares of the names, beside each other; the worst exit code. Neighbours have their twins in common."""
    size = -(-len(names) // SHARES)
    running = [subprocess.Popen([sys.executable, __file__, BIN, *names[at:at + size]], stdout=subprocess.PIPE, text=True)
               for at in range(0, len(names), size)]

    def forward(process):
        for line in process.stdout:
            print(line, end="", flush=True)

    readers = [threading.Thread(target=forward, args=(process,)) for process in running]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    return max(process.wait() for process in running)


# ---------------------------------------------------------------- cases


def tasks(**types):
    return {name: {"instances": count, "memory": "64MiB"} for name, count in types.items()}


def job(strategy, types, **more):
    return {"strategy": strategy, "deadlines": {"blame": "300ms", "stop": "1s"}, "heartbeat": {"every": "200ms", "missed": 5},
            "tasks": types, **more}


def row(task, runs="1s", exit=0, **more):
    return {"task": task, "runs": runs, "exit": exit, **more} if runs != "forever" else {"task": task, "runs": runs, **more}


def breaks(task, exit, runs="300ms", **more):
    """A row of a program that fails; without it the task does what the rows behind say."""
    return row(task, runs, exit, broken=True, **more)


def fault(kind, task=None, after="300ms", **more):
    target = {"am": "a"} if kind.startswith("am_") else {"job": "a", **({"task": task} if task else {})}
    return {"kind": kind, "when": {"job": "a", "state": "running"}, "after": after, "target": target, **more}


def case(the_job, behavior, *faults, **more):
    return {"job": the_job, "behavior": behavior, "faults": list(faults), **more}


def independent(*broken, workers=2, faults=(), **more):
    return case(job("independent", tasks(worker=workers), **more), [*broken, row("worker")], *faults)


def multi_worker(*broken, faults=(), **more):
    return case(job("multi-worker", tasks(worker=2), **more), [*broken, row("worker")], *faults)


def servers(*broken, faults=(), **more):
    return case(job("parameter-server", tasks(chief=1, worker=1, ps=1), **more),
                [*broken, row("chief"), row("worker", "forever"), row("ps", "forever")], *faults)


def signal(task, name, **more):
    return fault("container_signal", task, signal=name, **more)


def lost(task):
    return fault("container_lost", task, exit=137)


WATCH = {"progress": "step (\\d+)", "stalled": "2s", "do": "restart-gang"}
STEALS = {"kind": "port_in_use", "target": {"job": "a", "task": "worker:1"}}
NO_RETRIES = {"user": 0, "infrastructure": 0}
STUBBORN = {"ignore": True}

CASES = {
    # independent: one process again, no other
    "kill-restarts-one": independent(faults=[signal("worker:1", "KILL")]),
    "kill-without-budget": independent(faults=[signal("worker:1", "KILL")], retries=NO_RETRIES),
    "segv-fails": independent(faults=[signal("worker:1", "SEGV")]),
    "segv-paid-by-user": independent(faults=[signal("worker:1", "SEGV")], retries={"user": 1}),
    "term-restarts-one": independent(faults=[signal("worker:0", "TERM")]),
    "kill-two": independent(faults=[signal("worker:0", "KILL", after="200ms"), signal("worker:1", "KILL", after="500ms")]),
    "exit-1-fails": independent(breaks("worker:1", 1)),
    "exit-1-paid": independent(breaks("worker:1", 1, attempt=0), retries={"user": 2}),
    "exit-75-paid": independent(breaks("worker:0", 75, attempt=0), retries={"user": 1}),
    "exit-137-restarts": independent(breaks("worker:0", 137, attempt=0)),
    "exit-1-until-spent": independent(breaks("worker:1", 1), retries={"user": 2}),
    "agent-killed": independent(faults=[lost("worker:1")]),
    "preempted": independent(faults=[fault("preempt", "worker:1", notice="300ms")]),
    "killed-by-user": independent(faults=[fault("client_kill")]),
    "port-stolen": {**independent(faults=[STEALS]), "bind": True},
    # multi-worker: the gang again
    "gang-kill": multi_worker(faults=[signal("worker:1", "KILL")]),
    "gang-segv-fails": multi_worker(faults=[signal("worker:0", "SEGV")]),
    "gang-segv-paid": multi_worker(faults=[signal("worker:0", "SEGV")], retries={"user": 1}),
    "gang-exit-1-until-spent": multi_worker(breaks("worker:1", 1), retries={"user": 1}),
    "gang-agent-killed": multi_worker(faults=[lost("worker:0")]),
    "gang-preempted": multi_worker(faults=[fault("preempt", "worker:1", notice="300ms")]),
    "gang-preempted-stubborn": case(job("multi-worker", tasks(worker=2), deadlines={"blame": "300ms", "stop": "300ms"}),
                                    [row("worker", "1500ms", on_term=STUBBORN)], fault("preempt", "worker:1", notice="300ms")),
    "gang-hangs": case(job("multi-worker", tasks(worker=2), watch=WATCH), [row("worker", "3200ms")], fault("hang", "worker:1")),
    "am-killed-once": multi_worker(faults=[fault("am_crash")]),
    "am-killed-too-often": multi_worker(faults=[fault("am_crash")], am={"attempts": 1}),
    # parameter-server: the chief ends the job, workers and ps never end
    "ps-killed": servers(faults=[signal("ps:0", "KILL")]),
    "ps-agent-killed": servers(faults=[lost("ps:0")]),
    "worker-killed": servers(faults=[signal("worker:0", "KILL")]),
    "chief-killed": servers(faults=[signal("chief:0", "KILL")]),
    "chief-exit-1": servers(breaks("chief", 1)),
    # rules of the job's own
    "on-exit-restart-gang": independent(breaks("worker:1", 75, attempt=0),
                                        on_exit=[{"task": "worker", "exit": [75], "do": "restart-gang", "pays": "infrastructure"}]),
    "on-exit-fail": independent(faults=[signal("worker:1", "KILL")], on_exit=[{"class": "killed-external", "do": "fail"}]),
    "success-failed-two": independent(breaks("worker:1", 1), breaks("worker:2", 1, "600ms"), workers=3,
                                      success="failed(worker) < 2"),
    "success-one": independent(breaks("worker:0", 1), success="ok(worker:0)"),
    # other policies
    "tony-chief-fails": multi_worker(breaks("worker:0", 1), policy="tony"),
    "tony-session-again": multi_worker(breaks("worker:0", 1, attempt=0), policy={"name": "tony", "retry_count": 1}),
    "tony-any-worker": multi_worker(faults=[signal("worker:1", "KILL")], policy={"name": "tony", "fail_on_worker_failure": True}),
    "tf-yarn-fails": multi_worker(faults=[signal("worker:1", "KILL")], policy="tf-yarn"),
    "tf-yarn-again": multi_worker(breaks("worker:1", 1, attempt=0), policy="tf-yarn", retries={"user": 1}),
    # tasks beside training
    "evaluator-killed": case(job("independent", tasks(chief=1, evaluator=1), finish={"drain": {"evaluator": "500ms"}}),
                             [row("chief"), row("evaluator", "forever")], signal("evaluator:0", "KILL")),
    "depends-never-starts": case(job("independent", tasks(chief=1, worker=1), success="ok(tracked)",
                                     depends=[{"task": "worker", "after": "chief", "state": "succeeded"}]),
                                 [breaks("chief", 1), row("chief", "500ms"), row("worker", "500ms")]),
}

if __name__ == "__main__":
    if len(sys.argv) == 2:
        sys.exit(run_shares(list(CASES)))
    run_cases({name: lambda case=case: run_case(case) for name, case in CASES.items()}, sys.argv[2:])
