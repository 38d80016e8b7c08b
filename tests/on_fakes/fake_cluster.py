"""A cluster of fakes for tests, with the face of hadoop_cluster.Cluster: what a case asks of a real one it can ask of this.

The program is tests/fake-hadoop of the build tree; it needs no Java, and starts in no time.
"""
import getpass
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "hadoop"))
import hadoop_web  # noqa: E402
from hadoop_processes import MARK, ClusterError, end_all, owned, patience, send, started, wait_until  # noqa: E402

# Daemons as a real cluster names them: HDFS is one thing here.
PARTS = {"nn": "hdfs", "rm": "rm"}


def program():
    """Beside the folder of our programs, which is a script's first argument."""
    return pathlib.Path(sys.argv[1]).resolve().parent / "tests" / "fake-hadoop"


def missing():
    return "" if program().exists() else f"{program()} is not built"


def mounted(folder, size):
    return subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)], capture_output=True,
                          check=False).returncode == 0


class Cluster:
    """Also a context, at whose end it is taken down and, if all went well, removed."""

    def __init__(self, folder, process, user):
        self.folder = folder
        self.process = process
        self.plan = {"user": user}
        self.webhdfs = ""
        self.nodes = []
        self.has_disk = False

    @classmethod
    def up(cls, nodes=3, gpus=(4,), node_expiry=5, am_expiry=None, node_memory_mb=8192, preemption_notice=0, disk="", kerberos=False):
        """`am_expiry`: seconds, counted from the launch as YARN does: the node unpacks the runtime in that time. By default as many as a busy
        machine needs for it; no case waits for them, as there is `expire-am`. `disk`: how large a file system of their own all nodes share,
        "512m"; "" = none. `preemption_notice`: in seconds; 0 = no queue takes back. Errors: ClusterError."""
        am_expiry = am_expiry or round(patience(20))
        folder = pathlib.Path(tempfile.mkdtemp(prefix="tfyarn-fakes-")).resolve()
        if disk and not mounted(folder, disk):
            folder.rmdir()
            raise ClusterError("no file system can be mounted here")
        command = [program(), "--dir", folder, "--nodes", nodes, "--gpus", ",".join(map(str, gpus)), "--node-expiry", node_expiry,
                   "--am-expiry", am_expiry, "--node-memory-mb", node_memory_mb, "--preemption-notice", preemption_notice, *(["--kerberos"] if kerberos else [])]
        with open(folder / "fake-hadoop.log", "wb") as log:
            process = subprocess.Popen([str(word) for word in command], text=True, bufsize=1, stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=log, env={**os.environ, MARK: str(folder)})
        cluster = cls(folder, process, getpass.getuser())
        cluster.has_disk = bool(disk)
        cluster.nodes = [f"nm{index + 1}" for index in range(nodes)]
        process.stdout.readline()
        said = process.stdout.readline()
        if "http://" not in said:
            raise ClusterError(f"fake-hadoop does not start: {(folder / 'fake-hadoop.log').read_text()}")
        cluster.webhdfs = "http://" + said.split("http://")[1].split("/")[0] + "/webhdfs/v1"
        if not kerberos:
            # As the administrator of a cluster makes it. A job's own directories are for their owner alone, and so were this.
            hadoop_web.webhdfs("PUT", cluster.webhdfs, "/user", "MKDIRS", permission="755", **{"user.name": cluster.plan["user"]})
        return cluster

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.down()
        if kind is None:
            self.remove()

    def remove(self):
        if self.has_disk:
            subprocess.run(["umount", "-l", str(self.folder)], check=True)
        shutil.rmtree(self.folder)

    @property
    def conf(self):
        return self.folder / "conf"

    def of_kind(self, kind):
        return self.nodes if kind == "nm" else []

    # ---- orders

    def order(self, text):
        """What it answers. Errors: ClusterError."""
        self.process.stdin.write(text + "\n")
        said = self.process.stdout.readline().strip()
        if said != "ok" and not said.startswith("ok "):
            raise ClusterError(f"{text}: {said or 'fake-hadoop has ended: ' + (self.folder / 'fake-hadoop.log').read_text()}")
        return said[3:]

    def kill(self, target, number=signal.SIGKILL):
        """A daemon alone, or the processes of a container_..."""
        if not target.startswith("container_"):
            self.order(f"kill {PARTS.get(target, target)}")
            return
        pid = self.leader_of(target)
        began = started(pid)
        os.killpg(pid, number)
        wait_until(f"the end of {target}", patience(30), lambda: started(pid) != began)

    def start(self, *names):
        for name in names:
            self.order(f"start {PARTS.get(name, name)}")

    def leader_of(self, container):
        """Of the session that the NodeManager has made for it: the process that has the container's own variables first."""
        variable = f"CONTAINER_ID={container}".encode()
        for pid in sorted(owned(self.folder)):
            try:
                if variable in pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0") and os.getsid(pid) == pid:
                    return pid
            except OSError:
                pass
        raise ClusterError(f"no process of {container} runs")

    def down(self):
        """Ends every process of the cluster, those of containers too. Errors: ClusterError when it does not end well itself."""
        for pid in owned(self.folder):
            send(pid, signal.SIGCONT)
        if self.process.poll() is None:
            self.process.stdin.close()
        try:
            code = self.process.wait(60)
        finally:
            end_all(self.folder, grace=5)
        if code != 0:
            raise ClusterError(f"fake-hadoop ends with {code}: {(self.folder / 'fake-hadoop.log').read_text()}")
