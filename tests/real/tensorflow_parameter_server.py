#!/usr/bin/env python3
"""ParameterServerStrategy when a process dies or hangs: only what must starts again, and the job ends although workers and ps never do.
Usage: tensorflow_parameter_server.py BIN_DIR [CASE...]"""
import os
import re
import signal
import sys
import urllib.request

from harness import check, patience, run_cases
from tensorflow_rig import PATIENCE, TrainingJob, skip_without_tensorflow

BIN = sys.argv[1]
TRAINING = ["chief:0", "worker:0", "worker:1", "ps:0"]
STEPS, ROUND = 200, 20
OPTIONS = [f"--steps={STEPS}", f"--round={ROUND}", "--pause=0.02"]
WITHOUT_SERVICES = ["tasks.evaluator=null", "tasks.tensorboard=null", "finish.drain.evaluator=null"]
BY_INFRASTRUCTURE = "retries={user: 0, infrastructure: 1}"


def as_written():
    """The example as it is, past its first checkpoint."""
    job = TrainingJob(BIN, "parameter-server").start()
    job.wait_for_step("chief:0", 50, attempt=0)
    return job


def training(more=()):
    """Started, and past its first checkpoint."""
    job = TrainingJob(BIN, "parameter-server", OPTIONS, ["command=COMMAND", "deadlines.stop=3s", *more]).start()
    job.wait_for_step("chief:0", ROUND, attempt=0)
    return job


def kill(job, task, by=signal.SIGKILL):
    os.kill(job.process_of(task), by)


def ended_well(job, restarted, cause):
    """To the end. `restarted`: the tasks with a second attempt; all others have none. `cause`: of the one restart."""
    job.succeed()
    decided = job.only_restart()
    found = (decided["cause"]["task"], decided["cause"].get("exit"), decided["cause"]["exit_class"])
    check(found == cause, f"the cause is {found}")
    check(decided["paid"] == "infrastructure", f"paid by {decided['paid']}")
    attempts = {task: len(job.attempts(task)) for task in TRAINING}
    check(attempts == {task: 2 if task in restarted else 1 for task in TRAINING}, f"attempts {attempts}")
    # The AM does not wait for processes that never end: it ends them, and that is no failure.
    for task in ("worker:0", "worker:1", "ps:0"):
        check(job.attempts(task)[-1]["exit_class"] == "killed-by-us", f"{task}: {job.attempts(task)[-1]}")
    check(job.steps("chief:0")[-1] >= STEPS, f"steps {job.steps('chief:0')}")


def served_at(job, task, attempt):
    return re.search(r"serves at (\S+)", job.log_text(task, attempt)).group(1)


def answers(url):
    with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
        return answer.status, answer.read()


def worker_killed():
    """It alone, at its old address, while the chief goes on. Beside it TensorBoard answers, and the evaluator scores the last checkpoint."""
    job = as_written()
    pids = job.pids(["chief:0", "worker:0", "ps:0", "evaluator:0", "tensorboard:0"])
    kill(job, "worker:1")
    job.wait_for_step("chief:0", job.steps("chief:0")[-1] + 1)
    kill(job, "chief:0", signal.SIGSTOP)  # So that the job is not over before all has been looked at.
    job.wait("the second attempt of worker:1", lambda: "serves at" in job.log_text("worker:1", 1))
    check(job.pids(pids) == pids, "another process was restarted")
    job.wait("TensorBoard", lambda: "http://" in job.log_text("tensorboard:0", stream="stderr"))
    url = re.search(r"http://\S+", job.log_text("tensorboard:0", stream="stderr")).group(0)
    status, page = answers(url)
    check(status == 200 and b"TensorBoard" in page, f"{status}: {page[:200]}")
    job.wait("the chief's summaries in TensorBoard", lambda: b'"chief"' in answers(url + "data/runs")[1])
    kill(job, "chief:0", signal.SIGCONT)
    ended_well(job, ["worker:1"], ("worker:1", 137, "killed-external"))
    check(served_at(job, "worker:1", 0) == served_at(job, "worker:1", 1), "it serves elsewhere")
    last = job.steps("chief:0")[-1]
    scored = [int(step) for step in re.findall(r"scored checkpoint (\d+)", job.log_text("evaluator:0"))]
    check(scored and scored[-1] == last, f"scored {scored}, the last checkpoint is {last}")
    check(job.attempts("evaluator:0")[-1]["exit_class"] == "ok", f"{job.attempts('evaluator:0')}")
    job.close()


def ps_killed():
    """The ps and the chief; the workers run on. A chief that is faster than a worker's connection to that ps ends, and starts
    once more at no cost."""
    job = training([*WITHOUT_SERVICES, BY_INFRASTRUCTURE])
    kill(job, "ps:0")
    job.succeed()
    decided = job.am_orders("RestartDecided")
    causes = {(one["cause"]["task"], one["cause"].get("exit"), one["cause"]["exit_class"]) for one in decided}
    check(causes == {("ps:0", 137, "killed-external")}, f"the causes are {causes}")
    paid = [(one["paid"], one["tasks"]) for one in decided]
    once_more = ("none", ["chief:0"])
    check(paid in ([("infrastructure", ["chief:0", "ps:0"])], [("infrastructure", ["chief:0", "ps:0"]), once_more]), f"{paid}")
    attempts = {task: len(job.attempts(task)) for task in TRAINING}
    check(attempts == {"chief:0": 1 + len(decided), "ps:0": 2, "worker:0": 1, "worker:1": 1}, f"attempts {attempts}")
    check(job.steps("chief:0")[-1] >= STEPS, f"steps {job.steps('chief:0')}")
    step = job.resumed("chief:0", len(decided))
    check(step is not None and 0 < step < STEPS, f"chief:0 resumed from {step}")
    print(f"{len(decided)} restarts")
    job.close()


def chief_killed():
    """The chief alone."""
    job = training([*WITHOUT_SERVICES, BY_INFRASTRUCTURE])
    others = job.pids(["worker:0", "worker:1", "ps:0"])
    kill(job, "chief:0")
    job.wait_until_resumed(["chief:0"])
    job.wait_for_step("chief:0", 1, attempt=1)
    check(job.pids(others) == others, "another process was restarted")
    ended_well(job, ["chief:0"], ("chief:0", 137, "killed-external"))
    job.check_resumed("chief:0", 1)
    job.close()


def worker_stopped():
    """TensorFlow waits for it for ever; the watch does not. The chief stalls, and the worker that stands still starts again alone."""
    job = training([*WITHOUT_SERVICES, BY_INFRASTRUCTURE, f"watch.stalled={patience(30):.0f}s"])
    kill(job, "worker:1", signal.SIGSTOP)
    # The chief goes on as soon as the worker is ended, and may be done before its next attempt serves.
    ended_well(job, ["worker:1"], ("worker:1", None, "timeout"))
    why = job.only_restart()["cause"]["detail"]
    check("stopped (state T)" in why and "chief:0 has made no progress" in why, f"the cause is told as: {why}")
    job.close()


CASES = {"worker-killed": worker_killed, "ps-killed": ps_killed, "chief-killed": chief_killed, "worker-stopped": worker_stopped}

if __name__ == "__main__":
    skip_without_tensorflow()
    run_cases(CASES, sys.argv[2:])
