#!/usr/bin/env python3
"""Real TensorFlow on a real cluster: three workers on three nodes, their GPUs asked for by count and one of them by label, train
to the end. Usage: tensorflow.py BIN_DIR [CASE...]; exit code 77 without Hadoop or TensorFlow."""
import os
import pathlib
import re
import sys

from hadoop_sites import LABEL
from submitted import Job, check, run_cases

ROOT = pathlib.Path(__file__).resolve().parents[2]
# As in tests/real: where `./dev setup --tensorflow` puts it, unless somebody says otherwise.
VENV = pathlib.Path(os.environ.get("TFYARN_TENSORFLOW", ROOT / "build/tensorflow"))
TASKS = ("chief-0", "worker-0", "worker-1")


def training(cluster):
    """The example's script. Each task keeps what it says in a file of its own, where the test reads it."""
    command = f"{VENV}/bin/python3 -u train.py --directory %s --steps 40 --save-every 5 --pause 0.05"
    each = f"command: [bash, -c, '{command} > %s/$TFYARN_TASK_TYPE-$TFYARN_TASK_INDEX.$TFYARN_ATTEMPT']"
    job = Job(cluster, f"""\
name: train
framework: tensorflow
strategy: multi-worker
files: [train.py]
retries: {{user: 0, infrastructure: 1}}
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


def succeeds(job, attempt):
    code, result = job.end()
    check(code == 0 and result["status"] == "succeeded", f"exit code {code}: {result}")
    for task in TASKS:
        check(max(steps(job, task, attempt)) == 40, f"{task} did {steps(job, task, attempt)[-1:]}")


def trains(cluster):
    succeeds(training(cluster), 0)


CASES = {"trains": trains}

if __name__ == "__main__":
    if not (VENV / "bin/python3").exists():
        print(f"skipped: no TensorFlow in {VENV}; `./dev setup --tensorflow` installs it")
        sys.exit(77)
    run_cases(CASES, nodes=3, gpus=(4,), partition=1)
