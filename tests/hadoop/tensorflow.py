#!/usr/bin/env python3
"""Real TensorFlow on a real cluster: three workers on three nodes, their GPUs asked for by count and one of them by label, train
to the end, whatever is killed. Usage: tensorflow.py BIN_DIR [CASE...]; exit code 77 without Hadoop or TensorFlow."""
import os
import pathlib
import re
import signal
import sys

from hadoop_processes import ClusterError, started, wait_until
from hadoop_sites import LABEL
from history import running_application, whole
from losses import ended, kill_node, node_of
from submitted import PATIENCE, Job, check, run_cases, variable_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
# As in tests/real: where `./dev setup --tensorflow` puts it, unless the environment names another place.
VENV = pathlib.Path(os.environ.get("TFYARN_TENSORFLOW", ROOT / "build/tensorflow"))
TASKS = ("chief-0", "worker-0", "worker-1")


def training(cluster, steps):
    """The example's script. Each task keeps its pid and what it says in files of its own, where the test reads them."""
    own = "%s/$TFYARN_TASK_TYPE-$TFYARN_TASK_INDEX"
    train = f"exec {VENV}/bin/python3 -u train.py --directory %s --steps {steps} --save-every 5 --pause 0.1"
    each = f"command: [bash, -c, 'echo $$ > {own}.pid; {train} > {own}.$TFYARN_ATTEMPT']"
    job = Job(cluster, f"""\
name: train
framework: tensorflow
strategy: multi-worker
files: [train.py]
retries: {{user: 0, infrastructure: 5}}
# TensorFlow hears SIGTERM and trains on.
deadlines: {{stop: 2s}}
env: {{TF_CPP_MIN_LOG_LEVEL: "2", CUDA_VISIBLE_DEVICES: ""}}
tasks:
  chief: {{memory: 1GiB, gpus: 1, node_label: {LABEL}, {each}}}
  worker: {{instances: 2, memory: 1GiB, gpus: 3, {each}}}
""")
    (job.folder / "train.py").write_text((ROOT / "examples/multi-worker/train.py").read_text())
    return job.submit()


def said(job, task, attempt):
    path = job.folder / f"{task}.{attempt}"
    return path.read_text() if path.exists() else ""


def steps(job, task, attempt):
    return [int(step) for step in re.findall(r"^step (\d+)", said(job, task, attempt), re.MULTILINE)]


def go_on(job, attempt):
    """Until each task has done some steps more in this attempt, past a checkpoint."""
    before = [len(steps(job, task, attempt)) for task in TASKS]

    def look():
        if job.process.poll() is not None:
            raise ClusterError(f"the job has ended: {job.end()}")
        return all(len(steps(job, task, attempt)) >= done + 6 for task, done in zip(TASKS, before))
    wait_until(f"steps of attempt {attempt}", PATIENCE, look,
               lambda: "".join(f"\n{task}: {said(job, task, attempt)[-300:]}" for task in TASKS))


def pid_of(job, task):
    return int((job.folder / f"{task}.pid").read_text())


def pids(job):
    return {task: (pid_of(job, task), started(pid_of(job, task))) for task in TASKS}


def succeeds(job, last_step, restarts=0, am_attempts=1):
    """All have done all steps, and those who came after a restart none that was saved before it."""
    application = running_application(job.cluster)
    code, result = job.end()
    check(code == 0 and result["status"] == "succeeded", f"exit code {code}: {result}")
    for task in TASKS:
        check(max(steps(job, task, restarts)) == last_step, f"{task} did {steps(job, task, restarts)[-1:]}")
    for attempt in range(1, restarts + 1):
        resumed = {int(re.search(r"^resumed from step (\d+)", said(job, task, attempt), re.MULTILINE)[1]) for task in TASKS}
        most = max(steps(job, task, attempt - 1)[-1] for task in TASKS)
        check(len(resumed) == 1 and most - 10 <= min(resumed) <= most, f"attempt {attempt} resumed from {resumed}, after {most}")
    told = whole(job.cluster, application, am_attempts)
    counts = (told["epochs"], told["restarts"]["gang"], told["am_attempts"])
    check(counts == (restarts + 1, restarts, am_attempts), f"epochs, restarts, AM attempts: {counts}")


def trains(cluster):
    succeeds(training(cluster, 40), 40)


def processes_killed(cluster):
    """A worker's process: all start again from the checkpoint. The AM, the ResourceManager: no training process notices."""
    job = training(cluster, 300)
    go_on(job, 0)
    os.kill(pid_of(job, "worker-1"), signal.SIGKILL)
    go_on(job, 1)
    trainers, master = pids(job), job.masters()
    os.kill(master[0], signal.SIGKILL)
    wait_until("another AM", PATIENCE, lambda: job.masters() and job.masters() != master)
    go_on(job, 1)
    cluster.kill("rm")
    go_on(job, 1)
    cluster.start("rm")
    go_on(job, 1)
    check(pids(job) == trainers, f"{pids(job)}, and before the AM was killed {trainers}")
    succeeds(job, 300, restarts=1, am_attempts=2)


def nodes_killed(cluster):
    """A container; a NodeManager alone, whose trainer runs on; a NodeManager with all of its processes."""
    job = training(cluster, 300)
    go_on(job, 0)
    cluster.kill(variable_of(pid_of(job, "worker-0"), "CONTAINER_ID"))
    go_on(job, 1)
    pid, node = on_other_node(cluster, job)
    began = started(pid)
    cluster.kill(node)
    go_on(job, 2)
    ended(pid, began)
    cluster.start(node)
    _, node = on_other_node(cluster, job)
    kill_node(cluster, node)
    go_on(job, 3)
    cluster.start(node)
    succeeds(job, 300, restarts=3)


def on_other_node(cluster, job):
    """A worker's pid and NodeManager, which is not the AM's."""
    of_master = node_of(cluster, job.masters()[0])
    return next((pid, node) for pid in (pid_of(job, "worker-0"), pid_of(job, "worker-1"))
                if (node := node_of(cluster, pid)) != of_master)


CASES = {"trains": trains, "processes-killed": processes_killed, "nodes-killed": nodes_killed}

if __name__ == "__main__":
    if not (VENV / "bin/python3").exists():
        print(f"skipped: no TensorFlow in {VENV}; `./dev setup --tensorflow` installs it")
        sys.exit(77)
    run_cases(CASES, nodes=4, gpus=(4,), partition=1, nm_expiry_ms=8000)
