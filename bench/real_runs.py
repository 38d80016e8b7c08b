#!/usr/bin/env python3
"""What real runs on this machine cost: start to exit, an agent's memory and time to register, from a dead process to the AM's
decision. Usage: real_runs.py BIN_DIR [REPEATS]; prints NAME <tab> CASE <tab> UNIT <tab> MEDIAN <tab> LEAST <tab> MOST, as the
other measuring programs do.

Times between processes are taken from the run's own records, which all count from one clock.
"""
import pathlib
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "real"))
from harness import Job  # noqa: E402  pylint: disable=wrong-import-position

BIN = sys.argv[1]
REPEATS = int(sys.argv[2]) if len(sys.argv) > 2 else 10

TRUE = """\
name: bench
framework: generic
strategy: independent
tasks:
  worker: {instances: 4, memory: 64MiB, command: ["true"]}
"""
KILLED = """\
name: bench
framework: generic
strategy: multi-worker
retries: {infrastructure: 3}
tasks:
  worker: {instances: 2, memory: 64MiB, command: [bash, -c, "while [ ! -e %s/shared/end ]; do sleep 0.05; done"]}
"""


def show(name, case, unit, values):
    print(f"{name}\t{case}\t{unit}\t{statistics.median(values):.6g}\t{min(values):.6g}\t{max(values):.6g}", flush=True)


def run_of_true():
    walls = []
    for _ in range(REPEATS):
        job = Job(BIN, TRUE)
        begin = time.monotonic()
        code = job.run("-q")
        walls.append((time.monotonic() - begin) * 1e3)
        assert code == 0, job.output
        job.close()
    show("tfyarn run", "4 tasks of true, start to exit", "ms", walls)


def resident(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def agents_and_kills():
    memory, registered, decided = [], [], []
    for _ in range(REPEATS):
        job = Job(BIN, KILLED)
        (job.folder / "faults.yaml").write_text(
            'faults: [{kind: container_signal, when: {job: bench, state: running}, after: 300ms, '
            'target: {job: bench, task: "worker:1"}, signal: SIGKILL}]\n')
        job.start("-q", "--faults", "faults.yaml")
        while not all(job.log_text(f"worker:{index}", 1, "stdout") is not None and
                      (job.out / "logs" / f"worker-{index}.attempt-1.stdout").exists() for index in (0, 1)):
            time.sleep(0.02)
        memory += [resident(pid) for pid in job.agents()]
        (job.shared / "end").touch()
        assert job.end() == 0, job.output
        launched, struck = {}, None
        for event in job.events():
            kind = event["type"]
            if kind == "ContainerLaunched":
                launched[event["container"]] = event["at"]
            elif kind == "FaultBegan":
                struck = event["at"]
            elif kind == "AmTold" and event["event"]["type"] == "AgentSaid" and \
                    event["event"]["message"]["type"] == "RegisterAgent":
                container = event["event"]["message"]["fence"]["container"]
                if container in launched:
                    registered.append((event["at"] - launched.pop(container)) * 1e3)
            elif kind == "AmOrdered" and event["action"]["type"] == "RestartDecided":
                decided.append((event["at"] - struck) * 1e3)
        job.close()
    show("tfyarn-agent", "resident memory", "MiB", memory)
    show("tfyarn-agent", "start to registered", "ms", registered)
    show("ApplicationMaster", "dead process to decision", "ms", decided)


if __name__ == "__main__":
    subprocess.run([str(pathlib.Path(BIN) / "tfyarn"), "--version"], check=True, stdout=subprocess.DEVNULL)
    run_of_true()
    agents_and_kills()
