#!/usr/bin/env python3
"""What exploration found in the core (docs/track-record.md), with real processes and the same faults: where the simulator was right
about the world, each case fails with the programs of the commit before the repair. Usage: explored.py BIN_DIR [CASE...]"""
import json
import sys

from harness import PATIENCE, Job, check, run_cases, wait_for

BIN = sys.argv[1]
WAITS = "echo attempt $TFYARN_ATTEMPT; while [ ! -e %s/shared/end ]; do sleep 0.05; done"


def job_of(text, *faults):
    lines = "".join(f"  - {json.dumps(fault)}\n" for fault in faults)
    job = Job(BIN, "name: a\nframework: generic\n" + text, {"faults.yaml": f"faults:\n{lines}"} if faults else {})
    return job.start("-q", *(["--faults", "faults.yaml"] if faults else []))


def command(line):
    return json.dumps(["bash", "-c", line])


def counts(result):
    return {"epochs": result["epochs"], **result["restarts"]}


def ends_at_once():
    """Restarts are free and the process ends at once: it rests before each start, ever longer."""
    job = job_of(f"""\
policy: {{name: tfjob, restart_policy: Always}}
deadlines: {{run: 6s}}
tasks: {{worker: {{memory: 64MiB, command: {command("exit 1")}}}}}
""")
    job.end()
    result = job.job()
    check(result["rule"] == "deadlines/run", f"{result['diagnostics']}")
    check(result["restarts"]["task"] <= 8, f"{result['restarts']['task']} restarts within 6 s")
    job.close()


def sleeping_master(state, options, pause):
    """The AM stands still for longer than agents may be silent, or may take to register. They spoke meanwhile."""
    fault = {"kind": "am_pause", "when": {"job": "a", "state": state}, "target": {"am": "a"}, "for": pause}
    if state == "running":
        fault["after"] = "100ms"
    job = job_of(f"""\
{options}
tasks: {{worker: {{instances: 2, memory: 64MiB, command: {command(WAITS)}}}}}
""", fault)
    if state == "running":
        wait_for("the AM to stand still", lambda: job.masters() and state_of(job.masters()[0]) == "T")
        wait_for("the AM to go on", lambda: job.masters() and state_of(job.masters()[0]) in "RSD")
    # An AM that stands still starts no process: where it does so early, these lines come after it.
    for task in ("worker:0", "worker:1"):
        job.wait_for_line(task, "attempt")
    result = job.finish()
    check(counts(result) == {"epochs": 1, "task": 0, "gang": 0, "job": 0} and result["containers"] == 2, f"{result}")
    job.close()


def state_of(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            text = stat.read()
        return text[text.rindex(")") + 2]
    except OSError:
        return "?"


def past_a_silence():
    sleeping_master("running", "heartbeat: {every: 500ms, missed: 6}", "3200ms")


def past_the_registration():
    sleeping_master("registering", "deadlines: {registration: 3s}", "3300ms")


def two_of_a_collective():
    """Two workers hang and their two peers give up; a rule restarts each task alone. An epoch begins whole."""
    trains = """\
if [ $TFYARN_ATTEMPT = 0 ]; then
  case $TFYARN_TASK_INDEX in 1|2) sleep 600;; *) sleep 1; exit 1;; esac
fi
touch %s/shared/$TFYARN_TASK_INDEX
while [ $(ls %s/shared | wc -l) -lt 4 ]; do sleep 0.05; done
"""
    job = job_of(f"""\
strategy: multi-worker
retries: {{user: 1}}
on_exit: [{{task: worker, class: [user-permanent], do: restart-task}}]
deadlines: {{blame: 500ms, stop: 2s, run: 20s}}
tasks: {{worker: {{instances: 4, memory: 64MiB, command: {command(trains)}}}}}
""")
    job.end()
    result = job.job()
    check(result["status"] == "SUCCEEDED", f"{result['diagnostics']}")
    check(counts(result) == {"epochs": 2, "task": 0, "gang": 1, "job": 0}, f"{counts(result)}")
    job.close()


def ignored_end():
    """An end that on_exit ignores stays ignored for the AM that comes after."""
    worker = "if [ $TFYARN_TASK_INDEX = 1 ]; then exit 3; fi; " + WAITS
    job = job_of(f"""\
strategy: parameter-server
on_exit: [{{task: worker, exit: [3], do: ignore}}]
tasks:
  ps: {{memory: 64MiB, command: {command(WAITS)}}}
  worker: {{instances: 3, memory: 64MiB, command: {command(worker)}}}
""", {"kind": "am_crash", "at": "3s", "target": {"am": "a"}})
    first = wait_for("an AM", job.masters)
    wait_for("another AM", lambda: job.masters() and job.masters() != first, PATIENCE)
    result = job.finish()
    check(result["am_attempts"] == 2, f"{result['am_attempts']}")
    job.close()


def untracked_success():
    """The job's own `success` names an untracked task."""
    job = job_of(f"""\
policy: {{name: tony, retry_count: 1, untracked: worker}}
success: "ok(worker:0)"
tasks:
  worker: {{memory: 64MiB, command: {command("sleep 0.5")}}}
  ps: {{memory: 64MiB, command: {command("sleep 5")}}}
""")
    job.end()
    check(job.job()["status"] == "SUCCEEDED", f"{job.job()['diagnostics']}")
    job.close()


def type_of_one():
    """A type of one task starts again in place: the cluster spec stays."""
    chief = "if [ $TFYARN_ATTEMPT = 0 ]; then sleep 0.5; kill -HUP $$; fi; " + WAITS
    job = job_of(f"""\
strategy: parameter-server
retries: {{user: 1}}
on_exit: [{{do: restart-type}}]
deadlines: {{blame: 500ms}}
tasks:
  ps: {{memory: 64MiB, command: {command(WAITS)}}}
  chief: {{memory: 64MiB, command: {command(chief)}}}
""")
    job.wait_for_line("chief:0", "attempt 1")
    result = job.finish()
    check(counts(result) == {"epochs": 1, "task": 1, "gang": 0, "job": 0}, f"{counts(result)}")
    job.close()


def short_start():
    """deadlines.start rests while agents look for the next AM."""
    job = job_of(f"""\
deadlines: {{start: 500ms}}
tasks: {{worker: {{instances: 2, memory: 64MiB, command: {command(WAITS)}}}}}
""", {"kind": "am_crash", "when": {"job": "a", "state": "running"}, "after": "1s", "target": {"am": "a"}})
    first = wait_for("an AM", job.masters)
    wait_for("another AM", lambda: job.masters() and job.masters() != first, PATIENCE)
    result = job.finish()
    check(counts(result) == {"epochs": 1, "task": 0, "gang": 0, "job": 0}, f"{counts(result)}")
    job.close()


def evaluator_elsewhere():
    """An evaluator that loses its agent starts again in another container, under its own new address."""
    job = job_of(f"""\
tasks:
  worker: {{memory: 64MiB, command: {command(WAITS)}}}
  evaluator: {{memory: 64MiB, command: {command(WAITS)}}}
""", {"kind": "container_lost", "when": {"job": "a", "state": "running"}, "target": {"job": "a", "task": "evaluator:0"},
      "exit": 137})
    job.wait_for_line("evaluator:0", "attempt 1")
    result = job.finish()
    check(counts(result) == {"epochs": 1, "task": 1, "gang": 0, "job": 0} and result["containers"] == 3, f"{result}")
    job.close()


def evaluator_that_counts():
    """TFJob counts an evaluator like any replica; its loss does not start the collective again."""
    job = job_of(f"""\
strategy: multi-worker
policy: {{name: tfjob, restart_policy: OnFailure}}
tasks:
  worker: {{instances: 2, memory: 64MiB, command: {command(WAITS)}}}
  evaluator: {{memory: 64MiB, command: {command(WAITS)}}}
""", {"kind": "container_lost", "when": {"job": "a", "state": "running"}, "target": {"job": "a", "task": "evaluator:0"},
      "exit": 137})
    job.wait_for_line("evaluator:0", "attempt 1")
    result = job.finish()
    check(counts(result) == {"epochs": 1, "task": 1, "gang": 0, "job": 0}, f"{counts(result)}")
    job.close()


def cannot_reach_each_other():
    """Two tasks end as each cannot reach the other, which had started again: that excuses neither without end."""
    def ends(peer):
        return command("sleep 0.1; echo 'UnavailableError: failed to connect to all addresses; "
                       f"from remote target /job:{peer.replace(':', '/replica:0/task:')}: ' >&2; exit 1")
    job = job_of(f"""\
strategy: parameter-server
retries: {{user: 1, infrastructure: 3}}
deadlines: {{blame: 500ms, run: 20s}}
tasks:
  ps: {{memory: 64MiB, command: {ends("worker:0")}}}
  worker: {{memory: 64MiB, command: {ends("ps:0")}}}
""")
    job.end()
    result = job.job()
    check(result["rule"].endswith("-exhausted"), f"{result['rule']}: {result['diagnostics']}")
    check(counts(result)["task"] + counts(result)["gang"] <= 10, f"{counts(result)}")
    job.close()


def hangs_again():
    """A program that hangs each time it is started ends its job, however far apart the hangs are."""
    job = job_of(f"""\
retries: {{infrastructure: 1, window: 1s}}
watch: {{progress: "step ([0-9]+)", stalled: 1500ms}}
deadlines: {{stop: 500ms, run: 1m}}
tasks: {{worker: {{memory: 64MiB, command: {command("echo step 1; sleep 600")}}}}}
""")
    job.end()
    result = job.job()
    check(result["rule"] == "default/timeout-exhausted", f"{result['rule']}: {result['diagnostics']}")
    check(counts(result)["task"] + counts(result)["gang"] == 1, f"{counts(result)}")
    job.close()


def never_together():
    """Two workers end as soon as they run, and start again free of charge: they never run at one moment."""
    job = job_of(f"""\
policy: {{name: tfjob, restart_policy: Always}}
deadlines: {{run: 4s}}
tasks: {{worker: {{instances: 2, memory: 64MiB, command: {command("exit 0")}}}}}
""")
    job.end()
    check(job.job()["rule"] == "deadlines/run", f"{job.job()['rule']}: {job.job()['diagnostics']}")
    job.close()


CASES = {
    "evaluator-in-another-container": evaluator_elsewhere,
    "an-evaluator-that-counts-is-lost": evaluator_that_counts,
    "two-that-cannot-reach-each-other": cannot_reach_each_other,
    "hangs-again-and-again": hangs_again,
    "run-deadline-without-a-moment-together": never_together,
    "a-process-that-always-ends-at-once": ends_at_once,
    "am-sleeps-past-a-silence": past_a_silence,
    "am-sleeps-past-the-registration": past_the_registration,
    "two-of-a-collective-start-again": two_of_a_collective,
    "ignored-end-before-an-am-crash": ignored_end,
    "success-names-an-untracked-task": untracked_success,
    "restart-type-of-one": type_of_one,
    "am-crash-and-a-short-start-deadline": short_start,
}

if __name__ == "__main__":
    run_cases(CASES, sys.argv[2:])
