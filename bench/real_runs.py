#!/usr/bin/env python3
"""What real runs on this machine cost: start to exit, an agent's memory and time to register, from a dead process to the AM's
decision, many tasks at once, a task that writes 1 GiB of log, and what a run costs in which nothing happens. Usage: real_runs.py BIN_DIR [REPEATS [PART...]], PART
being one of the names at the end of this file; without one it takes all. It prints NAME <tab> CASE <tab> UNIT <tab> MEDIAN <tab> LEAST <tab> MOST, as the
other measuring programs do.

Times between processes are taken from the run's own records, which all count from one clock.
"""
import os
import pathlib
import resource
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
# So many tasks, each for so many seconds.
SLEEPERS = """\
name: bench
framework: generic
strategy: independent
tasks:
  worker: {instances: %d, memory: 64MiB, command: [sleep, "%d"]}
"""
# A process that writes a GiB; a file says when it was done.
FLOOD = """\
name: bench
framework: generic
strategy: independent
tasks:
  worker: {instances: 1, memory: 64MiB, command: [bash, -c, "yes 0123456789012345678901234567890123456789 | head -c 1G; touch %s/shared/done"]}
"""
IDLE_SECONDS = 10


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


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def sleepers(tasks=500):
    """Many tasks of one second at once: how long, and how much of the processors all of it takes."""
    walls, processor = [], []
    for _ in range(REPEATS):
        job = Job(BIN, SLEEPERS % (tasks, 1))
        before, begin = cpu_of_children(), time.monotonic()
        code = job.start("-q").end(600)
        walls.append(time.monotonic() - begin)
        processor.append(cpu_of_children() - before)
        assert code == 0, job.output
        job.close()
    show("tfyarn run", f"{tasks} tasks of sleep 1, start to exit", "s", walls)
    show("tfyarn run", f"{tasks} tasks of sleep 1, CPU time of all processes", "s", processor)


def flood():
    """A GiB of log from one task, followed into a file: from the end of the task's process to that of the run."""
    walls = []
    for _ in range(REPEATS):
        job = Job(BIN, FLOOD)
        code = job.start().end(600)
        walls.append(time.time() - (job.shared / "done").stat().st_mtime)
        assert code == 0, job.output[-2000:]
        job.close()
    show("tfyarn run", "1 GiB of log, end of the task to exit", "s", walls)


def cpu_seconds(pid):
    words = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def opens_of_proc(pid):
    """How often a process opens something below /proc in IDLE_SECONDS; None without strace."""
    try:
        traced = subprocess.run(["timeout", "-s", "INT", str(IDLE_SECONDS), "strace", "-f", "-e", "trace=openat,open", "-p", str(pid)],
                                stderr=subprocess.PIPE, text=True, check=False)
    except FileNotFoundError:
        return None
    return traced.stderr.count('"/proc')


def idle(counts=(1, 40)):
    """Nothing happens: what the run's own processes take of one core meanwhile."""
    for tasks in counts:
        shares, masters, agents, opens = [], [], [], []
        for _ in range(REPEATS):
            job = Job(BIN, SLEEPERS % (tasks, 1000))
            job.start("-q")
            while len(job.find("1000")) < tasks:
                time.sleep(0.2)
            time.sleep(2)
            own, master, mine = [job.runner(), job.process.pid], job.masters(), job.agents()
            before, begin = [[cpu_seconds(pid) for pid in pids] for pids in (own, master, mine)], time.monotonic()
            time.sleep(IDLE_SECONDS)
            after, passed = [[cpu_seconds(pid) for pid in pids] for pids in (own, master, mine)], time.monotonic() - begin
            spent = [100 * (sum(now) - sum(then)) / passed for now, then in zip(after, before)]
            shares.append(spent[0])
            masters.append(spent[1])
            agents.append(spent[2] / tasks)
            count = opens_of_proc(job.runner())
            opens += [] if count is None else [count / IDLE_SECONDS]
            job.process.send_signal(2)
            job.end()
            job.close()
        case = f"nothing happens, {tasks} task" + ("s" if tasks > 1 else "")
        show("tfyarn run", case, "% of a core", shares)
        show("tfyarn-am", case, "% of a core", masters)
        show("tfyarn-agent", case + ", each", "% of a core", agents)
        if opens:
            show("tfyarn run", case + ", opens of /proc", "1/s", opens)


PARTS = {"true": run_of_true, "kills": agents_and_kills, "sleepers": sleepers, "flood": flood, "idle": idle}

if __name__ == "__main__":
    subprocess.run([str(pathlib.Path(BIN) / "tfyarn"), "--version"], check=True, stdout=subprocess.DEVNULL)
    for name in sys.argv[3:] or PARTS:
        PARTS[name]()
