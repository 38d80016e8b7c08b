"""What the tests with real processes share: a job in an empty folder, `tfyarn run` on it, a look at what it does while it
runs, and what it left behind.

Nothing here waits for a time: a test waits for a fact (a record, a line, a process), with a limit after which it fails.
"""
import atexit
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from patience import patience  # noqa: E402

# A tree with sanitizers: an agent alone takes more memory than the tests' small containers have.
SANITIZED = bool(os.environ.get("TFYARN_SANITIZED"))
# Longest wait for any one fact, in seconds.
PATIENCE = patience(40)


class Failure(Exception):
    """What did not hold."""


class Skipped(Exception):
    """Why a case cannot be tried on this machine."""


def check(holds, what):
    if not holds:
        raise Failure(what)


def wait_for(what, look, patience=None, every=0.02):
    """The first true value of look(), asked every so many seconds."""
    end = time.monotonic() + (patience or PATIENCE)
    while time.monotonic() < end:
        value = look()
        if value:
            return value
        time.sleep(every)
    raise Failure(f"waited in vain for {what}")


def processes():
    """Every process as (pid, parent, argv), without those that have ended."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            stat = (entry / "stat").read_text(errors="replace")
            after = stat[stat.rindex(")") + 2:].split()
            if after[0] in "ZX":
                continue
            argv = (entry / "cmdline").read_bytes().split(b"\0")[:-1]
            found.append((int(entry.name), int(after[1]), [word.decode(errors="replace") for word in argv]))
    return found


def is_running(pid):
    """Whether a process has not ended yet; a zombie has."""
    return any(running == pid for running, _, _ in processes())


# Jobs that were started and not closed yet. A case that fails does not come to close its own.
_open = []


@atexit.register
def abandon_open():
    """Ends whatever jobs have left: no process outlives a test, however that ends."""
    while _open:
        _open.pop().abandon()


class Job:
    """One job in a folder of its own. `text`: job.yaml without its schema line; a lone %s in it is the folder."""

    def __init__(self, programs, text, files=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tfyarn-real-"))
        self.out = self.folder / "run"
        self.shared = self.folder / "shared"
        self.shared.mkdir()
        self.program = str(pathlib.Path(programs).resolve() / "tfyarn")
        text = textwrap.dedent(text).replace("%s", str(self.folder))
        if SANITIZED:
            text = text.replace("memory: 64MiB", "memory: 1GiB").replace("memory: 128MiB", "memory: 1GiB")
        self.write_job(text)
        for name, content in (files or {}).items():
            (self.folder / name).write_text(textwrap.dedent(content))
        self.process = None
        self.output = ""

    def write_job(self, text):
        self.text = text
        (self.folder / "job.yaml").write_text("schema: tfyarn.job/v1\n" + text)

    def tfyarn(self, *words):
        """A command of tfyarn, to its end."""
        return subprocess.run([self.program, *words], cwd=self.folder, capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL)

    # ---- running it

    def start(self, *words, environment=None):
        command = [self.program, "run", "job.yaml", "--out", str(self.out), "--oversubscribe", *words]
        self.log = open(self.folder / "output.txt", "w+", encoding="utf-8", errors="replace")
        self.process = subprocess.Popen(command, cwd=self.folder, stdout=self.log, stderr=subprocess.STDOUT,
                                        stdin=subprocess.DEVNULL, env={**os.environ, **(environment or {})})
        if self not in _open:
            _open.append(self)
        return self

    def end(self, patience=None):
        """Waits for the program's end; its exit code."""
        try:
            code = self.process.wait(patience or PATIENCE)
        except subprocess.TimeoutExpired:
            raise Failure("tfyarn run did not end") from None
        self.output = (self.folder / "output.txt").read_text(errors="replace")
        return code

    def run(self, *words, environment=None, patience=None):
        return self.start(*words, environment=environment).end(patience)

    def finish(self, status="SUCCEEDED"):
        """Tells the tasks of a job that waits for shared/end to end, and waits for that; the job's part of result.json."""
        (self.shared / "end").touch()
        code = self.end()
        result = self.job()
        check(result["status"] == status, f"{result['status']}, exit code {code}: {result['diagnostics']}\n{self.output}")
        return result

    def refused(self, *words):
        """`tfyarn run` ends with 3 before anything is started, and says all these words."""
        done = subprocess.run([self.program, "run", "job.yaml", "--out", str(self.out)], cwd=self.folder, capture_output=True,
                              text=True, check=False)
        check(done.returncode == 3, f"exit code {done.returncode}: {done.stderr}")
        for word in words:
            check(word in done.stderr, f"no '{word}' in: {done.stderr}")
        check(not self.out.exists(), "a run directory was made")
        self.close()

    # ---- while it runs

    def descendants(self):
        """Of tfyarn: (pid, argv)."""
        table = processes()
        mine = {self.process.pid}
        while True:
            more = {pid for pid, parent, _ in table if parent in mine} - mine
            if not more:
                return [(pid, argv) for pid, _, argv in table if pid in mine and pid != self.process.pid]
            mine |= more

    def find(self, word):
        """Processes of ours with `word` in their command line, by pid."""
        return sorted(pid for pid, argv in self.descendants() if any(word in part for part in argv))

    def runner(self):
        """Pid of the child of tfyarn that does its work; tfyarn itself waits for it."""
        return next((pid for pid, parent, argv in processes() if parent == self.process.pid and "run" in argv), None)

    def masters(self):
        return self.find("tfyarn-am")

    def agents(self):
        return self.find("tfyarn-agent")

    def agent_of(self, task):
        """Pid of the agent that now serves a task."""
        for pid in self.agents():
            with contextlib.suppress(OSError):
                environment = (pathlib.Path("/proc") / str(pid) / "environ").read_bytes().split(b"\0")
                if f"TFYARN_TASK={task}".encode() in environment:
                    return pid
        return None

    def process_of(self, task):
        """Pid of a task's own process, the agent's child; None while there is none."""
        agent = self.agent_of(task)
        return next((pid for pid, parent, _ in processes() if parent == agent), None) if agent else None

    def log_text(self, task, attempt=None, stream="stdout"):
        """What a task wrote: of one attempt, or of all of them in order."""
        stem = task.replace(":", "-")
        paths = sorted((self.out / "logs").glob(f"{stem}.attempt-*.{stream}"),
                       key=lambda path: int(path.name.split(".attempt-")[1].split(".")[0]))
        if attempt is not None:
            paths = [path for path in paths if f".attempt-{attempt}." in path.name]
        return "".join(path.read_text(errors="replace") for path in paths)

    def wait_for_line(self, task, text, attempt=None, patience=None):
        def look():
            # What was written before the end is there after it.
            ended = self.process.poll() is not None
            if text in self.log_text(task, attempt):
                return True
            if ended:
                said = (self.folder / "output.txt").read_text(errors="replace")
                raise Failure(f"tfyarn run ended with {self.process.returncode} before '{text}' of {task}: {said}")
            return False

        wait_for(f"'{text}' of {task}", look, patience)

    # ---- what it left

    def result(self):
        return json.loads((self.out / "result.json").read_text())

    def job(self):
        return self.result()["jobs"][0]

    def events(self):
        # Not splitlines(): bytes of the journal may look like one of Unicode's other ends of a line.
        return [json.loads(line) for line in (self.out / "events.jsonl").read_text(encoding="utf-8").split("\n") if line]

    def am_orders(self, kind):
        return [event["action"] for event in self.events()
                if event["type"] == "AmOrdered" and event["action"]["type"] == kind]

    def am_messages(self, kind):
        """What the AM said to agents."""
        return [order["message"] for order in self.am_orders("SendToAgent") if order["message"]["type"] == kind]

    def attempts(self, task):
        """Attempts of a task as result.json has them."""
        for entry in self.job()["tasks"]:
            if entry["task"] == task:
                return entry["attempts"]
        return []

    def replays(self):
        """The machines of the run, stepped again with what they were told, order the same."""
        done = subprocess.run([str(pathlib.Path(self.program).parent / "tfsim"), "replay", str(self.out)], capture_output=True,
                              text=True, check=False)
        check(done.returncode == 0, f"replay: {done.stdout}{done.stderr}")

    def members(self):
        """Pids of its processes, also of those that have another parent by now: by what they were started with, or where they are."""
        table = processes()
        mine = {pid for pid, _, argv in table if any(str(self.folder) in part for part in argv)}
        for pid, _, _ in table:
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{pid}/cwd").startswith(str(self.folder)):
                    mine.add(pid)
        if self.process and self.process.poll() is None:
            mine |= {self.process.pid} | {pid for pid, _ in self.descendants()}
        return mine - {os.getpid()}

    def abandon(self):
        """Kills all that is left of it. The folder stays, to look for the reason in."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            left = self.members()
            if not left:
                break
            for pid in left:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            if self.process:
                self.process.poll()
            time.sleep(0.05)

    def close(self, keep=False):
        if self in _open:
            _open.remove(self)
        if self.process and self.process.poll() is None:
            mine = [self.process.pid] + [pid for pid, _ in self.descendants()]
            for pid in mine:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            self.process.wait()
            wait_for("the end of what was killed", lambda: not [pid for pid, _, _ in processes() if pid in mine])
        if (self.out / "result.json").exists():
            self.replays()
        left = [(pid, argv) for pid, _, argv in processes() if any(str(self.folder) in part for part in argv)]
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)
        check(not left, f"processes are left: {left}")


@contextlib.contextmanager
def small_disk(job, size):
    """A file system of its own for the run directory."""
    folder = job.folder / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)], capture_output=True, check=False)
    if mounted.returncode != 0:
        job.close()
        raise Skipped("no file system can be mounted here")
    job.out = folder / "run"
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def run_cases(cases, names):
    """Runs the named cases (all, without names), prints what failed, and exits 1 when one did; 77 when one was skipped."""
    failed = skipped = 0
    for name, case in cases.items():
        if names and name not in names:
            continue
        begin = time.monotonic()
        try:
            case()
        except Failure as failure:
            failed += 1
            print(f"{name}: FAILED: {failure}", flush=True)
        except Skipped as why:
            skipped += 1
            print(f"{name}: skipped: {why}", flush=True)
        else:
            print(f"{name}: ok, {time.monotonic() - begin:.1f} s", flush=True)
        finally:
            abandon_open()
    sys.exit(1 if failed else 77 if skipped else 0)
