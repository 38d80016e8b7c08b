"""What the tests of jobs on a real cluster share: a job in a folder of its own, `tfyarn submit` on it, its processes on the
cluster's nodes, and the run of a script's cases on one cluster.

The first argument of a script that uses this is the programs' folder; further ones name cases.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import hadoop_cluster
from hadoop_processes import ClusterError, owned, wait_until

BIN = pathlib.Path(sys.argv[1])
PATIENCE = hadoop_cluster.PATIENCE


def check(holds, what):
    if not holds:
        raise ClusterError(what)


def tfyarn(conf, *words, **more):
    """(exit code, stdout, stderr). `conf`: None for a user without HADOOP_CONF_DIR; `more`: variables."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("HADOOP_")} | more
    if conf is not None:
        environment["HADOOP_CONF_DIR"] = str(conf)
    done = subprocess.run([str(BIN / "tfyarn"), *words], text=True, capture_output=True, timeout=PATIENCE, check=False,
                          env=environment)
    return done.returncode, done.stdout, done.stderr


def records(conf, application):
    """What its AMs have told of it so far, as docs/yarn.md describes events.jsonl."""
    code, out, err = tfyarn(conf, "events", application, "--json")
    check(code == 0, err)
    return [json.loads(line) for line in out.splitlines()]


def variable_of(pid, name):
    """A variable of a process's environment, which it must have."""
    return re.search(rb"(?:^|\0)" + name.encode() + rb"=([^\0]*)", pathlib.Path(f"/proc/{pid}/environ").read_bytes())[1].decode()


def application_of(pid):
    """(start of the RM, number) of the application in whose container this process runs; zeros once it is gone."""
    try:
        container = variable_of(pid, "CONTAINER_ID")
    except (OSError, TypeError):
        return 0, 0
    # container_e17_1410901177871_0001_01_000005: the epoch is left out before the first restart of an RM.
    start, number = container.removeprefix("container_").split("_")[-4:-2]
    return int(start), int(number)


class Job:
    """A job in a folder of its own. A lone %s in its text is the folder."""

    def __init__(self, cluster, text):
        self.cluster = cluster
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tfyarn-submit-"))
        (self.folder / "job.yaml").write_text("schema: tfyarn.job/v1\n" + text.replace("%s", str(self.folder)))
        self.process = None

    def submit(self, *words):
        self.process = subprocess.Popen(
            [str(BIN / "tfyarn"), "submit", str(self.folder / "job.yaml"), "--wait", "--json", *words], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "HADOOP_CONF_DIR": str(self.cluster.conf)})
        return self

    def end(self):
        """(exit code, what --json says)."""
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, json.loads(out) if out else {"diagnostics": err}

    def processes(self, word):
        """Pids of processes of the cluster's containers with `word` on their command line."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                argv = (entry / "cmdline").read_bytes().split(b"\0")
                environment = (entry / "environ").read_bytes()
            except OSError:
                continue
            mine = str(self.cluster.folder).encode() in environment
            if mine and any(word.encode() in part for part in argv) and not any(b"launch_container" in part for part in argv) \
                    and not (argv[0].endswith(b"bash") and b"-c" in argv and b"runtime/" in argv[2]):
                found.append(int(entry.name))
        return sorted(found)

    def masters(self):
        """Its AMs, where it is the newest application: that of the job before may still put its history away."""
        of = {pid: application_of(pid) for pid in self.processes("tfyarn-am")}
        return [pid for pid, application in of.items() if application == max(of.values())]

    def wait_for(self, name, content=None):
        """Until a task has written its file."""
        path = self.folder / name
        wait_until(f"{name} of a task", PATIENCE,
                   lambda: path.exists() and (content is None or content in path.read_text()), self.said)

    def said(self):
        """How the submission has ended, if it has."""
        if self.process is None or self.process.poll() is None:
            return ""
        return f"; submit has ended with {self.process.returncode}: {' '.join(self.process.communicate())}"

    def finish(self, restarts=None):
        (self.folder / "end").touch()
        code, result = self.end()
        check(code == 0 and result["status"] == "succeeded", f"exit code {code}: {result}")
        if restarts is not None:
            check(self.attempts() == restarts, f"attempts: {self.attempts()}")

    def attempts(self):
        """How often each worker of `waiting` was started."""
        return [path.read_text().count("attempt") for path in sorted(self.folder.glob("worker-*"))]


def waiting(cluster, instances=3, more=""):
    """Workers, one on each node, that write down each attempt and work until told to end."""
    return Job(cluster, f"""\
name: waiting
framework: generic
strategy: multi-worker
{more}
tasks:
  worker:
    instances: {instances}
    memory: 128MiB
    gpus: 2
    placement: {{spread: node}}
    command:
    - bash
    - -c
    - 'echo attempt $TFYARN_ATTEMPT pid $$ >> %s/worker-$TFYARN_TASK_INDEX; while [ ! -e %s/end ]; do sleep 0.1; done'
""")


def all_work(job, attempt, instances=3):
    for index in range(instances):
        job.wait_for(f"worker-{index}", f"attempt {attempt} ")


def pid_of(job, index):
    return int(re.findall(r"pid (\d+)", (job.folder / f"worker-{index}").read_text())[-1])


def run_case(cluster, name, case):
    """Whether it went well, which is said."""
    begun = time.monotonic()
    try:
        case(cluster)
    except (ClusterError, subprocess.TimeoutExpired, KeyError, OSError, ValueError) as failure:
        print(f"{name}: FAILED: {failure}", flush=True)
        return False
    print(f"{name}: ok, {time.monotonic() - begun:.1f} s", flush=True)
    return True


def prepare(groups, missing):
    """Exits where the command line names a case that is in no group, and with 77 where there can be no cluster: `missing` says why."""
    known = {name for cases, _ in groups for name in cases}
    if unknown := set(sys.argv[2:]) - known:
        sys.exit(f"no such case: {', '.join(sorted(unknown))}; there are {', '.join(sorted(known))}")
    if missing:
        print(f"skipped: {missing}")
        sys.exit(77)


def count_failed(cases, **cluster_options):
    """Runs those of the cases that the command line names (all, without names) on one cluster, each with the cluster as the one
    before has left it; how many failed. Without any there is no cluster either."""
    names = [name for name in cases if not sys.argv[2:] or name in sys.argv[2:]]
    if not names:
        return 0
    with hadoop_cluster.Cluster.up(**cluster_options) as cluster:
        failed = sum(not run_case(cluster, name, cases[name]) for name in names)
    check(not owned(cluster.folder), f"processes are left: {owned(cluster.folder)}")
    return failed


def run_groups(*groups):
    """Each group is (cases, the options of their cluster). Exits: 1 when a case failed, 77 without Hadoop."""
    prepare(groups, hadoop_cluster.missing())
    sys.exit(1 if sum(count_failed(cases, **options) for cases, options in groups) else 0)


def run_cases(cases, **cluster_options):
    run_groups((cases, cluster_options))
