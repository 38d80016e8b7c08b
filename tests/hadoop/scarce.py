#!/usr/bin/env python3
"""Jobs that want the same GPUs, by count and by label, on a real cluster: two nodes of 4 GPUs, and a third in the exclusive
partition `gpu`. Usage: scarce.py BIN_DIR [CASE...]; exit code 77 without Hadoop."""
import pathlib

from hadoop_processes import patience, wait_until
from hadoop_sites import LABEL
from submitted import Job, check, run_cases


def greedy(cluster, name):
    """Six of the eight GPUs: two such jobs never have room beside each other."""
    return Job(cluster, f"""\
name: {name}
framework: generic
strategy: multi-worker
gang: {{hold: 3s, backoff: {{first: 1s, max: 5s}}}}
tasks:
  worker:
    instances: 3
    memory: 128MiB
    gpus: 2
    command: [bash, -c, 'cut -d " " -f 1 /proc/uptime >> %s/began; sleep 3; cut -d " " -f 1 /proc/uptime >> %s/ended']
""").submit()


def times(job, name):
    return sorted(map(float, (job.folder / name).read_text().split()))


def two_gangs(cluster):
    """Both get half of what they need when they hold on to it; neither waits for ever here."""
    jobs = [greedy(cluster, "first"), greedy(cluster, "second")]
    for job in jobs:
        code, result = job.end()
        check(code == 0, f"exit code {code}: {result}")
        check(len(times(job, "began")) == 3, f"attempts: {times(job, 'began')}")
    first, second = sorted(jobs, key=lambda job: times(job, "began"))
    check(times(first, "ended")[-1] < times(second, "began")[0], "both ran at once on 8 GPUs")


def by_label(cluster):
    """A task type with a label runs there, and only there; one without runs elsewhere."""
    job = Job(cluster, f"""\
name: labelled
framework: generic
success: "ok(chief) and ok(worker)"
tasks:
  chief: {{memory: 128MiB, gpus: 2, node_label: {LABEL}, command: [bash, -c, 'echo $NM_HOST > %s/chief']}}
  worker: {{instances: 2, memory: 128MiB, gpus: 2, command: [bash, -c, 'echo $NM_HOST > %s/worker-$TFYARN_TASK_INDEX']}}
""").submit()
    code, result = job.end()
    check(code == 0, f"exit code {code}: {result}")
    labelled = {node["nodeHostName"] for node in cluster.nodes() if LABEL in node.get("nodeLabels", [])}
    where = {path.name: path.read_text().strip() for path in pathlib.Path(job.folder).glob("[cw]*-*")}
    where["chief"] = (job.folder / "chief").read_text().strip()
    check({where["chief"]} == labelled, f"the chief ran at {where['chief']}, the label is at {labelled}")
    check(not labelled & {where["worker-0"], where["worker-1"]}, f"{where}, the label is at {labelled}")


def never(cluster):
    """More in the partition than it has: refused with the reason. Submitted all the same, its AM says so as soon as nodes that might
    come have had their time, and has held nothing until then."""
    job = Job(cluster, f"""\
name: never
framework: generic
deadlines: {{nodes: 3s}}
tasks:
  worker: {{instances: 5, memory: 128MiB, gpus: 1, node_label: {LABEL}, command: ['true']}}
""")
    for words, wanted in (((), 3), (("--no-check",), 10)):
        code, result = job.submit(*words).end()
        check(code == wanted and "needs 5 GPUs" in result["diagnostics"], f"exit code {code}: {result}")
    wait_until("the release of all containers", patience(30), lambda: all(node["numContainers"] == 0 for node in cluster.nodes()))


def no_such_label(cluster):
    """The RM refuses it, and no node that comes changes that."""
    job = Job(cluster, """\
name: no-label
framework: generic
tasks: {worker: {memory: 128MiB, node_label: nowhere, command: ['true']}}
""")
    for words, wanted in (((), 3), (("--no-check", "--set", "deadlines.nodes=1s"), 10)):
        code, result = job.submit(*words).end()
        check(code == wanted and "nowhere" in result["diagnostics"], f"exit code {code}: {result}")


CASES = {"two-gangs": two_gangs, "by-label": by_label, "never": never, "no-such-label": no_such_label}

if __name__ == "__main__":
    run_cases(CASES, nodes=3, gpus=(4,), partition=1)
