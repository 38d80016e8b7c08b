#!/usr/bin/env python3
"""What this machine lets in. Usage: admission.py BIN_DIR [CASE...]"""
import os
import pathlib
import stat
import subprocess
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


def dry_run(task, *words):
    """What `tfyarn run --dry-run` prints."""
    this = job(task)
    done = subprocess.run([this.program, "run", "job.yaml", "--dry-run", *words], cwd=this.folder, capture_output=True, text=True,
                          check=False)
    check(done.returncode == 0, f"exit code {done.returncode}: {done.stderr}")
    this.close()
    return done.stdout


def a_dry_run_invents_no_machine():
    small = dry_run("instances: 1, memory: 64MiB, vcores: 1", "--oversubscribe")
    large = dry_run("instances: 4000, memory: 64MiB, vcores: 1", "--oversubscribe")
    machine = small.split("this machine has ")[1].strip()
    check("too little" not in small, small)
    check(f"this machine has {machine}: too little" in large and "4000 vcores" in large, large)


def names_fit_into_file_names():
    """A name that no file can have is refused at once; the longest ones run."""
    text = """\
name: {name}
framework: generic
strategy: independent
tasks:
  {task}: {{instances: 1, memory: 64MiB, command: ["true"]}}
"""
    for name, task, words in (("n" * 240, "worker", "at most 100"), ("n", "t" * 240, "at most 64")):
        Job(BIN, text.format(name=name, task=task)).refused(words)
    this = Job(BIN, text.format(name="n" * 100, task="t" * 64))
    done = subprocess.run([this.program, "run", "job.yaml", "--oversubscribe", "-q"], cwd=this.folder, capture_output=True,
                          text=True, check=False)
    this.close()
    check(done.returncode == 0, f"exit code {done.returncode}: {done.stderr}{done.stdout}")


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
    for field in ("node_label", "placement"):
        check(f"note: `tasks.worker.{field}` is ignored on one machine: " in run.output, run.output)
    run.close()


def notes_are_for_people():
    """Each command that reads a job says once what this machine ignores of it; with --json it prints the document alone."""
    this = Job(BIN, """\
name: noted
framework: generic
strategy: independent
queue: ml
tasks:
  worker: {instances: 1, memory: 64MiB, command: ["true"], node_label: gold}
  ps: {instances: 1, memory: 64MiB, command: ["true"], node_label: gold}
""")
    for words, notes in ((["run", "job.yaml", "--dry-run", "--oversubscribe"], 2), (["validate", "job.yaml"], 2),
                         (["run", "job.yaml", "--dry-run", "--oversubscribe", "-q"], 0),
                         (["run", "job.yaml", "--dry-run", "--oversubscribe", "--json"], 0)):
        done = subprocess.run([this.program, *words], cwd=this.folder, capture_output=True, text=True, check=False)
        check(done.returncode == 0, f"{words}: exit code {done.returncode}: {done.stderr}")
        check(done.stderr.count("is ignored on one machine") == notes, f"{words}: {done.stderr}")
        check(not notes or "note: `queue` is ignored on one machine: it has no queues" in done.stderr, f"{words}: {done.stderr}")
    this.close()


def pipes_are_noted():
    """Each command that reads a job file tells of a line in which a program's failure counts for nothing, and goes on."""
    text = """\
name: piped
framework: generic
strategy: independent
tasks:
  worker: {{instances: 1, memory: 64MiB, shell: "{line}"}}
"""
    for line, noted in (("exit 7 | tee log", True), ("false || exit 0", False)):
        this = Job(BIN, text.format(line=line))
        for words in (["run", "job.yaml", "--dry-run", "--oversubscribe"], ["render", "job.yaml"], ["validate", "job.yaml"]):
            done = subprocess.run([this.program, *words], cwd=this.folder, capture_output=True, text=True, check=False)
            check(done.returncode == 0, f"{words}: exit code {done.returncode}: {done.stderr}")
            check(("job.yaml: note: `shell` of worker" in done.stderr and "`tee`" in done.stderr) == noted, f"{words} {line}: {done.stderr}")
        this.close()


CASES = {"pipes-are-noted": pipes_are_noted, "too-large": too_large, "gpus-are-not-shared": gpus_are_not_shared,
         "fields-without-meaning-are-left-out": fields_without_meaning_are_left_out, "notes-are-for-people": notes_are_for_people,
         "dry-run": a_dry_run_invents_no_machine, "names": names_fit_into_file_names}

if __name__ == "__main__":
    run_cases(CASES, sys.argv[2:])
