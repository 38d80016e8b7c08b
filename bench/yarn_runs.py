#!/usr/bin/env python3
"""What a small job costs on a real YARN of three nodes with Hadoop's own heartbeat of 1 s: from the submission to the last of its 4
user processes, from the last grant to that, from the last one's end to the client's exit, CPU time and memory, of `tfyarn submit
--wait` and, in turn with it on the same cluster, of Skein (all but the grants, which it keeps to itself).

Usage: yarn_runs.py BIN_DIR [REPEATS [TASKS]]; prints NAME <tab> CASE <tab> UNIT <tab> MEDIAN <tab> LEAST <tab> MOST, as the other measuring
programs do. Skein runs where TFYARN_SKEIN names a Python that has it (`python3 -m venv V; V/bin/pip install skein setuptools`).
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

BIN = pathlib.Path(sys.argv[1]).resolve()
REPEATS = int(sys.argv[2]) if len(sys.argv) > 2 else 10
TASKS = int(sys.argv[3]) if len(sys.argv) > 3 else 4
SKEIN = os.environ.get("TFYARN_SKEIN")

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "hadoop"))
# pylint: disable=wrong-import-position
import hadoop_cluster  # noqa: E402
from submitted import records  # noqa: E402

WARM_UP = 5  # Jobs until the daemons' machine code is made.
TICK = os.sysconf("SC_CLK_TCK")
WORK = "cut -d ' ' -f 1 /proc/uptime >> {0}/began; sleep 2; cut -d ' ' -f 1 /proc/uptime >> {0}/ended"

JOB = """\
schema: tfyarn.job/v1
name: bench
framework: generic
strategy: independent
tasks:
  worker:
    instances: {1}
    memory: 64MiB
    command:
    - bash
    - -c
    - "{0}"
"""

SKEIN_CLIENT = """\
import sys, time, skein
service = skein.Service(instances=int(sys.argv[2]), resources=skein.Resources(memory='64 MiB', vcores=1), script=sys.argv[1])
master = skein.Master(resources=skein.Resources(memory='512 MiB', vcores=1))
with skein.Client() as client:
    app = client.submit(skein.ApplicationSpec(name='bench', services={'worker': service}, master=master))
    while client.application_report(app).final_status == 'undefined':
        time.sleep(0.2)
"""


def show(name, case, unit, values):
    if values:
        print(f"{name}\t{case}\t{unit}\t{statistics.median(values):.6g}\t{min(values):.6g}\t{max(values):.6g}", flush=True)


class Sampler(threading.Thread):
    """CPU time and memory of the processes that `kind_of(argv)` names, looked at 20 times a second until stop()."""

    def __init__(self, kind_of):
        super().__init__(daemon=True)
        self.kind_of = kind_of
        self.seen = {}  # pid: (kind, seconds, MiB)
        self.ended = threading.Event()

    def run(self):
        while not self.ended.wait(0.05):
            for entry in pathlib.Path("/proc").glob("[0-9]*"):
                try:
                    argv = [word.decode(errors="replace") for word in (entry / "cmdline").read_bytes().split(b"\0")]
                    kind = self.kind_of(argv)
                    if not kind:
                        continue
                    fields = (entry / "stat").read_text().rpartition(")")[2].split()
                    status = (entry / "status").read_text()
                    peak = int(status.split("VmHWM:")[1].split()[0]) / 1024
                    self.seen[entry.name] = (kind, (int(fields[11]) + int(fields[12])) / TICK, peak)
                except (OSError, IndexError):
                    continue

    def stop(self):
        self.ended.set()
        self.join()
        return self.seen.values()


def of_tfyarn(argv):
    if argv[0].endswith(("bash", "container-executor")):
        return None
    # AM and agents show their name alone; for a moment, until they do, that of their loader with its words.
    names = ("tfyarn", "tfyarn-am", "tfyarn-agent")
    return next((pathlib.Path(word).name for word in argv[:6] if pathlib.Path(word).name in names and ("/" in word or word == argv[0])),
                None)


def of_skein(argv):
    if argv[0].endswith("java") and any("skein" in word for word in argv):
        return "am" if any("ApplicationMaster" in word for word in argv) else "driver"
    return "client" if any("skein.Service" in word for word in argv) else None


def uptime():
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def times(folder, name):
    return [float(line) for line in (folder / name).read_text().split()]


def one_run(command, environment, folder, kind_of):
    """Seconds to the last process and from the last one's end to the exit, and what the sampler saw."""
    sampler = Sampler(kind_of)
    sampler.start()
    begun = uptime()
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    ended = uptime()
    seen = sampler.stop()
    assert done.returncode == 0 and len(times(folder, "began")) == TASKS, done.stdout + done.stderr
    return max(times(folder, "began")) - begun, ended - max(times(folder, "ended")), seen, done.stdout


def run_tfyarn(environment):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tfyarn-bench-"))
    (folder / "job.yaml").write_text(JOB.format(WORK.format(folder).replace("\\", "\\\\"), TASKS))
    return one_run([str(BIN / "tfyarn"), "submit", str(folder / "job.yaml"), "--wait", "--json"], environment, folder, of_tfyarn)


def settled(run, environment):
    """Once what the job before has left to NodeManagers and JVMs is done."""
    time.sleep(3)
    return run(environment)


def run_skein(environment):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tfyarn-bench-"))
    return one_run([SKEIN, "-c", SKEIN_CLIENT, WORK.format(folder), str(TASKS)], environment, folder, of_skein)


def from_grant_to_start(cluster, run):
    """Seconds from the last container's grant to the AM's knowledge that the last process runs."""
    told = [each for each in records(cluster.conf, json.loads(run[3])["application"]) if each["type"] == "AmOrdered"]
    granted = [each["at"] for each in told if each["action"]["type"] == "GangCompleted"]
    started = [each["at"] for each in told if each["action"]["type"] == "TaskAttemptStarted"]
    return max(started) - max(granted)


def report(name, runs):
    show(name, f"submission to the last of {TASKS} processes", "s", [run[0] for run in runs])
    show(name, "last process's end to the client's exit", "s", [run[1] for run in runs])
    show(name, "CPU of client, AM and agents", "s", [sum(cpu for _, cpu, _ in run[2]) for run in runs])
    for kind in sorted({kind for run in runs for kind, _, _ in run[2]}):
        show(name, f"{kind}: most resident", "MiB", [max((mib for each, _, mib in run[2] if each == kind), default=0) for run in runs])


def main():
    if what := hadoop_cluster.missing():
        sys.exit(what)
    with hadoop_cluster.Cluster.up(nodes=3, heartbeat_ms=1000) as cluster:
        environment = {**os.environ, **cluster.environment()}
        if SKEIN:
            # Skein's driver asks the command of that name for its class path.
            tools = cluster.folder / "tools"
            tools.mkdir()
            (tools / "yarn").write_text(f"#!/bin/sh\nfor jar in {cluster.plan['jars']}/*.jar; do path=$path:$jar; done\n"
                                        f"echo {cluster.conf}$path\n")
            (tools / "yarn").chmod(0o755)
            environment["PATH"] = f"{tools}:{environment['PATH']}"
        ours, theirs = [], []
        for number in range(WARM_UP + REPEATS):
            ours.append(settled(run_tfyarn, environment))
            if SKEIN and number >= WARM_UP - 1:
                theirs.append(settled(run_skein, environment))
        ours, theirs = ours[WARM_UP:], theirs[1:]
        report("tfyarn submit --wait", ours)
        show("tfyarn submit --wait", f"last grant to the last of {TASKS} processes", "s", [from_grant_to_start(cluster, run) for run in ours])
        report("Skein", theirs)


if __name__ == "__main__":
    main()
