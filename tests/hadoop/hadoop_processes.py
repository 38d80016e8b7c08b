"""Processes of one cluster on this machine: which are its own, whether they still run, and their end.

A process is told from a later one with the same pid by its start time. Daemons carry MARK in their environment. Containers do
not, as a NodeManager gives them an environment of its own making: they are known by the directory that they were given or stand
in, even when they have outlived their NodeManager.
"""
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from patience import patience  # noqa: E402

MARK = "TFYARN_TEST_CLUSTER"


class ClusterError(Exception):
    """What went wrong with the cluster, with all that its reader needs to see."""


def started(pid):
    """When a process began, in clock ticks since boot; None when it has ended."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def owned(folder):
    """Processes of the cluster that lives in `folder`, as {pid: start time}."""
    daemon = f"{MARK}={folder}".encode()
    container = f"LOCAL_DIRS={folder}/nm".encode()
    inside = f"{folder}/nm"
    found = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            variables = (entry / "environ").read_bytes().split(b"\0")
            is_own = any(each == daemon or each.startswith(container) for each in variables)
            if not is_own and not os.readlink(entry / "cwd").startswith(inside):
                continue
        except OSError:  # It has just ended, or is another user's.
            continue
        if (began := started(int(entry.name))) is not None:
            found[int(entry.name)] = began
    return found


def send(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def wait_until(what, seconds, look, explain=lambda: ""):
    """The first true value of look(). Errors: ClusterError after `seconds`, with explain()."""
    end = time.monotonic() + seconds
    while not (value := look()):
        if time.monotonic() > end:
            raise ClusterError(f"waited {seconds:g} s in vain for {what}{explain()}")
        time.sleep(0.05)
    return value


def end_all(folder, grace):
    """SIGTERM to every process of the cluster, SIGKILL after `grace` seconds to what is left; returns when all have ended."""
    for pid in owned(folder):
        send(pid, signal.SIGTERM)
    gentle_until = time.monotonic() + grace
    while owned(folder) and time.monotonic() < gentle_until:
        time.sleep(0.05)

    def killed():
        # A process may start others until it is killed itself.
        left = owned(folder)
        for pid in left:
            send(pid, signal.SIGKILL)
        return not left

    wait_until("the end of the cluster's processes", patience(30), killed, lambda: f"; left: {sorted(owned(folder))}")


class Daemon:
    """One daemon of a cluster: its log, and the process that runs now, which another program may have started."""

    def __init__(self, folder, name):
        self.name = name
        self.folder = pathlib.Path(folder)
        self.log = self.folder / "logs" / f"{name}.log"
        self.record = self.folder / "pids" / name

    def read_record(self):
        """(pid, start time, size of the log when it began) of the process that was started last."""
        try:
            pid, began, offset = map(int, self.record.read_text().split())
        except (OSError, ValueError):
            return None
        return pid, began, offset

    def pid(self):
        """None when it does not run."""
        known = self.read_record()
        return known[0] if known and started(known[0]) == known[1] else None

    def start(self, command, environment):
        with open(self.log, "ab") as log:
            offset = log.tell()
            process = subprocess.Popen(command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=log,
                                       stderr=log, start_new_session=True)
        # The child may have ended already: then its start time is not known, and pid() says so.
        self.record.write_text(f"{process.pid} {started(process.pid) or 0} {offset}\n")

    def output(self):
        """What the process that was started last has logged."""
        known = self.read_record()
        if not known:
            return b""
        with open(self.log, "rb") as log:
            log.seek(known[2])
            return log.read()

    def last_lines(self, count=15):
        """From its last error on, or else the last lines: behind an error stands only how it shut down."""
        lines = self.output().decode(errors="replace").splitlines()
        errors = [i for i, line in enumerate(lines) if " ERROR " in line or " FATAL " in line]
        lines = lines[errors[-1]:][:count] if errors else lines[-count:]
        return "\n".join([f"\nlast lines of {self.log}:", *(f"  {line[:300]}" for line in lines)])

    def kill(self, number=signal.SIGKILL):
        """Errors: ClusterError when it does not run, or survives a deadly signal."""
        pid = self.pid()
        if not pid:
            raise ClusterError(f"{self.name} is not running{self.last_lines()}")
        send(pid, number)
        if number in (signal.SIGKILL, signal.SIGTERM):
            wait_until(f"the end of {self.name}", patience(30), lambda: self.pid() is None, self.last_lines)
