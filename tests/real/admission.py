#!/usr/bin/env python3
"""What this machine lets in. Usage: admission.py BIN_DIR [CASE...]"""
import os
import pathlib
import stat
import sys

from harness import Job, check, run_cases

BIN = sys.argv[1]


def job(task, more=""):
    return Job(BIN, f"""\
name: admission
framework: generic
strategy: independent
{more}
tasks:
  worker: {{{task}, command: [bash, -c, "echo visible=[$CUDA_VISIBLE_DEVICES]; while [ ! -e %s/shared/end ]; do sleep 0.05; done"]}}
""")


def too_large():
    for task, words in (("instances: 2, memory: 900000GiB", ("memory",)), ("instances: 4096, memory: 1MiB", ("vcores",)),
                        ("instances: 1, memory: 64MiB, gpus: 64", ("GPUs",))):
        job(task).refused("--oversubscribe", *words)


def fake_gpus(folder, count):
    """An environment in which nvidia-smi lists so many GPUs."""
    tool = pathlib.Path(folder) / "bin" / "nvidia-smi"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\n" + "".join(f"echo {index}\n" for index in range(count)))
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    return {"PATH": f"{tool.parent}:{os.environ['PATH']}"}


def gpus_are_not_shared():
    first = job("instances: 2, memory: 64MiB, gpus: 1")
    environment = fake_gpus(first.folder, 3)
    first.start("-q", environment=environment)
    first.wait_for_line("worker:0", "visible=")
    first.wait_for_line("worker:1", "visible=")
    seen = sorted(first.log_text(f"worker:{index}").split("[")[1][0] for index in (0, 1))
    check(seen == ["0", "1"], f"GPUs {seen}")

    second = job("instances: 2, memory: 64MiB, gpus: 1")
    code = second.run(environment=environment)
    check(code == 3, f"exit code {code}")
    check(f"process {first.process.pid}" in second.output and "1 of 3" in second.output, second.output)
    second.close()

    third = job("instances: 1, memory: 64MiB, gpus: 1")
    third.start("-q", environment=environment)
    third.wait_for_line("worker:0", "visible=[2]")
    for run in (first, third):
        (run.shared / "end").touch()
        check(run.end() == 0, run.output)
        run.close()


def fields_without_meaning_are_left_out():
    run = job("instances: 1, memory: 64MiB, node_label: gold, placement: {spread: node}")
    (run.shared / "end").touch()
    code = run.run()
    check(code == 0, run.output)
    check("tasks.worker.node_label" in run.output and "tasks.worker.placement" in run.output, run.output)
    run.close()


CASES = {"too-large": too_large, "gpus-are-not-shared": gpus_are_not_shared,
         "fields-without-meaning-are-left-out": fields_without_meaning_are_left_out}

if __name__ == "__main__":
    run_cases(CASES, sys.argv[2:])
