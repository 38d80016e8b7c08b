"""Jobs with real TensorFlow: the examples' own job files and scripts, made short.

TensorFlow is looked for in the virtual environment that TFYARN_TENSORFLOW names, else in the one that `./dev setup
--tensorflow` makes. Without it the cases are skipped.
"""
import atexit
import os
import pathlib
import re
import sys

from harness import Job, check, patience, wait_for

ROOT = pathlib.Path(__file__).resolve().parents[2]
VENV = pathlib.Path(os.environ.get("TFYARN_TENSORFLOW", ROOT / "build/tensorflow"))
# Importing TensorFlow alone takes seconds, and six do so at once on two cores.
PATIENCE = patience(140)


def skip_without_tensorflow():
    if not (VENV / "bin/tensorboard").exists():
        print(f"skipped: no TensorFlow in {VENV}; `./dev setup --tensorflow` installs it")
        sys.exit(77)


class TrainingJob(Job):
    """An example by its folder's name or path. `options`: of its script. `more`: further --set words. Without both it runs as it is
    written."""

    def __init__(self, programs, example, options=(), more=()):
        folder = ROOT / "examples" / example
        text = (folder / "job.yaml").read_text().replace("schema: tfyarn.job/v1\n", "")
        super().__init__(programs, text, {"train.py": (folder / "train.py").read_text()})
        self.command = "[python3, train.py, " + ", ".join(options) + "]"
        self.words = [word for setting in more for word in ("--set", setting.replace("COMMAND", self.command))]

    def start(self, *words, environment=None):
        path = f"{VENV / 'bin'}:{os.environ['PATH']}"
        super().start("-q", *self.words, *words, environment={"PATH": path, **(environment or {})})
        atexit.register(self.process.kill)  # A case that failed leaves nothing behind that takes the cores of the next.
        return self

    def wait(self, what, look):
        """As wait_for, but no longer than the job runs."""
        def look_while_it_runs():
            ended = self.process.poll() is not None
            value = look()
            check(value or not ended, f"the job ended before {what}:\n{(self.folder / 'output.txt').read_text(errors='replace')}")
            return value
        return wait_for(what, look_while_it_runs, PATIENCE)

    def wait_for_step(self, task, step, attempt=None):
        """Until the task has said so high a step."""
        self.wait(f"step {step} of {task}", lambda: max(self.steps(task, attempt), default=0) >= step)

    def wait_until_resumed(self, tasks):
        """Until the second attempts of them have read a checkpoint."""
        for task in tasks:
            self.wait(f"a second attempt of {task}", lambda: self.resumed(task, 1))

    def steps(self, task, attempt=None):
        """The steps that a task said it has done."""
        return [int(step) for step in re.findall(r"^step (\d+)", self.log_text(task, attempt), re.MULTILINE)]

    def resumed(self, task, attempt):
        """The step from which an attempt of a task says it went on; None: from none."""
        found = re.search(r"^resumed from step (\d+)", self.log_text(task, attempt), re.MULTILINE)
        return int(found.group(1)) if found else None

    def pids(self, tasks):
        """Of the tasks' own processes."""
        return {task: self.process_of(task) for task in tasks}

    def agents_of(self, tasks):
        return {task: self.agent_of(task) for task in tasks}

    def succeed(self):
        """Waits for the end; it must be success. The job as result.json has it."""
        code = self.end(PATIENCE)
        result = self.job()
        check(code == 0 and result["status"] == "SUCCEEDED",
              f"{result['status']}, exit code {code}: {result['diagnostics']}\n{self.output}")
        return result

    def only_restart(self):
        """The one decision that there may be."""
        decided = self.am_orders("RestartDecided")
        check(len(decided) == 1, f"{len(decided)} restarts were decided: {decided}")
        return decided[0]

    def check_resumed(self, task, attempt, savers=None):
        """It goes on after a checkpoint, within what the attempts before of those who save had done (None: it alone). Each
        says a step before it saves it; a process killed between its peers' line and its own has said one less."""
        step = self.resumed(task, attempt)
        before = max((done for saver in savers or [task] for done in self.steps(saver, attempt - 1)), default=0)
        check(step is not None and 0 < step <= before, f"{task} resumed from {step}, after {before}")
        after = self.steps(task, attempt)
        check(after and min(after) > step, f"{task} resumed from {step} and did {after[:3]}")
        return step
