#!/usr/bin/env python3
"""`tfyarn init`: the files it writes, and what the job says where TensorFlow is missing. Usage: init.py BIN_DIR [CASE...]"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from harness import PATIENCE, check, run_cases

PROGRAM = str(pathlib.Path(sys.argv[1]) / "tfyarn")


class Folder:
    def __enter__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="tfyarn-init-"))
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def run(self, *words, environment=None):
        return subprocess.run([PROGRAM, *words], cwd=self.path, capture_output=True, text=True, timeout=PATIENCE,
                              stdin=subprocess.DEVNULL, env={**os.environ, **(environment or {})})


def writes_a_good_job():
    with Folder() as folder:
        done = folder.run("init", "my")
        check(done.returncode == 0 and "tfyarn run my/job.yaml" in done.stdout, f"{done}")
        checked = folder.run("validate", "my/job.yaml")
        check(checked.returncode == 0 and "2 tasks" in checked.stdout, f"{checked}")
        compile((folder.path / "my/train.py").read_text(), "train.py", "exec")


def replaces_nothing_unasked():
    with Folder() as folder:
        (folder.path / "train.py").write_text("mine")
        done = folder.run("init")
        check(done.returncode == 3 and "train.py is there already; --force replaces it" in done.stderr, f"{done}")
        check(not (folder.path / "job.yaml").exists() and (folder.path / "train.py").read_text() == "mine", "something was written")
        check(folder.run("init", "--force").returncode == 0, "--force")
        check((folder.path / "train.py").read_text() != "mine", "--force left it")


def says_what_to_install():
    """A python3 that finds no TensorFlow, whatever this machine has."""
    with Folder() as folder:
        folder.run("init")
        python = folder.path / "bin/python3"
        python.parent.mkdir()
        python.write_text(f"#!/bin/sh\nexec {sys.executable} -I -S \"$@\"\n")
        python.chmod(0o755)
        done = folder.run("run", "job.yaml", "--oversubscribe", "--set", "retries.user=0",
                          environment={"PATH": f"{python.parent}:{os.environ['PATH']}"})
        check(done.returncode == 10 and "pip install tensorflow-cpu" in done.stdout, f"{done.returncode}: {done.stdout}{done.stderr}")


def is_in_the_help():
    with Folder() as folder:
        done = folder.run("--help")
        check(done.returncode == 0 and "init" in done.stdout and "a job that trains" in done.stdout, f"{done}")


CASES = {"writes-a-good-job": writes_a_good_job, "replaces-nothing-unasked": replaces_nothing_unasked,
         "says-what-to-install": says_what_to_install, "is-in-the-help": is_in_the_help}

if __name__ == "__main__":
    run_cases(CASES, sys.argv[2:])
