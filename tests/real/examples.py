#!/usr/bin/env python3
"""The examples that need nothing but Python end well, each in one attempt. Those with TensorFlow are in tensorflow_*.py.
Usage: examples.py BIN_DIR [CASE...]"""
import sys

from harness import Job, check, run_cases
from tensorflow_rig import ROOT

BIN = sys.argv[1]


def example(name, script):
    folder = ROOT / "examples" / name
    text = (folder / "job.yaml").read_text().replace("schema: tfyarn.job/v1\n", "")
    job = Job(BIN, text, {script: (folder / script).read_text()})
    code = job.run("-q")
    result = job.job()
    check(code == 0 and result["status"] == "SUCCEEDED", f"exit code {code}: {job.output}")
    check(result["restarts"] == {"task": 0, "gang": 0, "job": 0}, f"{result['restarts']}")
    return job


def one_task():
    job = example("one-task", "estimate.py")
    check("step 10 pi is about 3.1" in job.log_text("worker:0"), job.log_text("worker:0"))
    check((job.out / "shared/count.json").exists(), "its count is not in the shared directory")
    job.close()


def pytorch_env():
    job = example("pytorch-env", "rendezvous.py")
    for rank in range(3):
        check(f"rank {rank} of 3 met all others" in job.log_text(f"worker:{rank}"), job.log_text(f"worker:{rank}"))
    job.close()


CASES = {"one-task": one_task, "pytorch-env": pytorch_env}

if __name__ == "__main__":
    run_cases(CASES, sys.argv[2:])
