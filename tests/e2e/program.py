"""What the end-to-end tests share: running tfsim as a user's shell does, with its memory and time, in an empty folder."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from patience import patience  # noqa: E402

# A tree with sanitizers is slow and large: there only what the program says is judged.
SANITIZED = bool(os.environ.get("TFYARN_SANITIZED"))
SECONDS = 60 if SANITIZED else 2
MEMORY_MB = None if SANITIZED else 256

BASE = """\
schema: tfsim/v1
name: base
cluster:
  nodes:
    - {name: n, count: 2, resources: {memory: 64GiB, vcores: 16, gpus: 4}}
jobs:
  - name: a
    strategy: multi-worker
    tasks:
      worker: {instances: 2, memory: 8GiB, vcores: 4, gpus: 2}
    training: {steps: 600, step_time: 100ms}
expect:
  - {job: a, status: SUCCEEDED}
"""


class Done:
    """How one call of the program ended."""

    def __init__(self, code, out, err, seconds, memory_mb):
        self.code, self.out, self.err, self.seconds, self.memory_mb = code, out, err, seconds, memory_mb


class Suite:
    """Counts what did not hold; a folder that is gone at the end."""

    def __init__(self, program):
        self.program = str(pathlib.Path(program).resolve())
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tfsim-test-"))
        self.failures = 0
        self.checks = 0
        self.skips = 0

    def skip(self, why):
        """A part cannot be tried on this machine: the test counts as skipped, not as passed."""
        print("skipped:", why)
        self.skips += 1

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def files(self):
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*")}

    def run(self, *words, environment=None, **options):
        """Runs the program in the folder. A code below 0 is a signal."""
        env = {key: value for key, value in os.environ.items() if key not in ("TFSIM_TRACES", "NO_COLOR")}
        env.update(environment or {})
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        options.setdefault("stdin", subprocess.DEVNULL)
        piped = [name for name in ("stdout", "stderr") if options[name] == subprocess.PIPE]
        kept = {name: tempfile.TemporaryFile() for name in piped}
        child = subprocess.Popen([self.program, *words], cwd=self.folder, env=env, **{**options, **kept})
        # Time of the processor, not of the clock: other work on the machine is no fault of the program.
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        texts = {}
        for name, file in kept.items():
            file.seek(0)
            texts[name] = file.read().decode(errors="replace")
        return Done(child.returncode, texts.get("stdout", ""), texts.get("stderr", ""), usage.ru_utime + usage.ru_stime,
                    usage.ru_maxrss // 1024)

    def check(self, holds, what, done=None):
        self.checks += 1
        if holds:
            return
        self.failures += 1
        print("FAIL", what)
        if done is not None:
            print(f"  exit {done.code}\n  stdout: {done.out[:600]!r}\n  stderr:\n{done.err[:1200]}")

    def finish(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        print(f"{self.checks} checks, {self.failures} failed")
        sys.exit(1 if self.failures or not self.checks else 77 if self.skips else 0)


def is_calm(text):
    """No control characters that steer a terminal."""
    return not re.search(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u202a-\u202e\u2066-\u2069]", text)
