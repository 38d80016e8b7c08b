#!/usr/bin/env python3
"""A queue of a real cluster takes its share back from a multi-worker job: every process of the gang saves before its container is
taken, the job waits for room, and goes on from what was saved. Usage: preemption.py BIN_DIR [CASE...]; exit code 77 without Hadoop,
and for `tensorflow` without TensorFlow."""
import json
import re
import sys

import contract
import tensorflow
from hadoop_processes import wait_until
from submitted import PATIENCE, Job, check, records, run_groups, tfyarn

WORKERS = range(3)
# So long that no machine is too slow to save: a process that is done gives its container back at once, and the test does not wait that long.
NOTICE = 120
# It counts steps, saves the step at which it is told to leave, and goes on from there. What it says goes through a pipe: neither
# the shell's end nor that of the pipe may cost it the time to save.
COUNT = """\
import os, pathlib, signal, sys, time

folder, attempt = pathlib.Path(sys.argv[1]), os.environ["TFYARN_ATTEMPT"]
saved = folder / ("saved-" + os.environ["TFYARN_TASK_INDEX"])
step = int(saved.read_text()) if saved.exists() else 0
told = []
signal.signal(signal.SIGTERM, lambda *_: told.append(True))
print(f"attempt {attempt} from step {step}", flush=True)
while not (folder / "end").exists():
    time.sleep(0.05)
    step += 1
    if told:
        print(f"attempt {attempt} saves", flush=True)
        time.sleep(0.5)
        saved.write_text(str(step))
        print(f"attempt {attempt} saved step {step}", flush=True)
        sys.exit(75)
"""


def beyond_its_share(cluster, memory, command, more=""):
    """A job in the queue `batch`, which has three tenths of the cluster, and takes more than a half. Submitted."""
    job = Job(cluster, f"""\
name: low
strategy: multi-worker
queue: batch
retries: {{user: 0, infrastructure: 3}}
deadlines: {{stop: {NOTICE}s}}
{more}
tasks:
  worker: {{instances: 3, memory: {memory}MiB, command: [bash, -o, pipefail, -c, '{command}']}}
""")
    (job.folder / "count.py").write_text(COUNT)
    (job.folder / "train.py").write_text((tensorflow.ROOT / "examples/multi-worker/train.py").read_text())
    return job.submit()


def owner(cluster, memory):
    """A job in the other queue that asks for less than that queue's share, and for one container more than there is room for."""
    return Job(cluster, f"""\
name: high
framework: generic
strategy: multi-worker
queue: default
tasks:
  worker:
    instances: 2
    memory: {memory}MiB
    command: [bash, -c, 'touch %s/works-$TFYARN_TASK_INDEX; while [ ! -e %s/end ]; do sleep 0.1; done']
""").submit()


def give_way(cluster, memory, saved):
    """Another job takes its share, and ends when all have `saved`. The id of the one that gave way."""
    application = json.loads(tfyarn(cluster.conf, "list", "--json")[1])[0]["application"]
    high = owner(cluster, memory)
    for index in range(2):
        high.wait_for(f"works-{index}")
    # One has for certain, as its container is the other's; its peers do not need to be as fast.
    wait_until("all to save", PATIENCE, saved)
    high.finish()
    return application


def taken_once(cluster, application):
    """What the job that has ended tells: its containers were given back, and not killed; the cluster pays for the one restart."""
    code, _, err = tfyarn(cluster.conf, "history", application)  # It waits for the AM's last word.
    check(code == 0, err)
    told = records(cluster.conf, application)
    marked = {word for record in told if "to preemption" in record.get("text", "") for word in record["text"].split()}
    freed = [record["exit_status"] for record in told if record["type"] == "ContainerFreed" and record["container"] in marked]
    orders = [record["action"] for record in told if record["type"] == "AmOrdered"]
    restarts = [(order["unit"], order["paid"], order["cause"]["exit_class"]) for order in orders if order["type"] == "RestartDecided"]
    check(freed and -102 not in freed, f"YARN's exit statuses of {marked}: {freed}")
    check(restarts == [("gang", "infrastructure", "preempted")], f"restarts: {restarts}")


def programs(cluster):
    low = beyond_its_share(cluster, 768, "python3 -u count.py %s | cat >> %s/said-$TFYARN_TASK_INDEX",
                           "framework: generic\nfiles: [count.py]")

    def said(index):
        return (low.folder / f"said-{index}").read_text()
    for index in WORKERS:
        low.wait_for(f"said-{index}", "attempt 0 ")
    application = give_way(cluster, 768, lambda: all("attempt 0 saved" in said(index) for index in WORKERS))
    for index in WORKERS:
        resumed = wait_until("attempt 1", PATIENCE, lambda index=index: re.search(r"attempt 1 from step (\d+)\n", said(index)))[1]
        saved = (low.folder / f"saved-{index}").read_text()
        check(resumed == saved, f"worker {index} had saved step {saved}: {said(index)}")
    low.finish()
    taken_once(cluster, application)


def with_tensorflow(cluster):
    """SIGTERM to one rank: all save at one step, and leave with 75."""
    low = beyond_its_share(
        cluster, 1536,
        f"{tensorflow.VENV}/bin/python3 -u train.py --directory %s --steps 100000 --save-every 100000 --pause 0.1 --preemptible "
        "| cat >> %s/said-$TFYARN_TASK_INDEX",
        'framework: tensorflow\nfiles: [train.py]\nenv: {TF_CPP_MIN_LOG_LEVEL: "2", CUDA_VISIBLE_DEVICES: ""}\n'
        "on_exit:\n- {task: worker, exit: [75], do: restart-gang, pays: infrastructure}")

    def found(index, pattern):
        path = low.folder / f"said-{index}"
        return [int(step) for step in re.findall(pattern, path.read_text(), re.MULTILINE)] if path.exists() else []

    def left():
        return {step for index in WORKERS for step in found(index, r"^preempted after step (\d+)")}
    wait_until("steps of all", PATIENCE, lambda: all(len(found(index, r"^step (\d+)")) > 8 for index in WORKERS))
    application = give_way(cluster, 1536, lambda: len(left()) == 1)
    wait_until("all to resume", PATIENCE, lambda: all(found(index, r"^resumed from step (\d+)") for index in WORKERS))
    resumed = {step for index in WORKERS for step in found(index, r"^resumed from step (\d+)")}
    check(resumed == left(), f"they left after {left()}, and resumed from {resumed}")
    code, _, err = tfyarn(cluster.conf, "kill", application)
    check(code == 0 and low.end()[0] == 11, f"kill: {code} {err}")
    taken_once(cluster, application)


SETTINGS = (*contract.SETTINGS, f"{contract.PREEMPTION}.max_wait_before_kill={NOTICE}000")
PROGRAMS = {"programs": programs}
TENSORFLOW = {"tensorflow": with_tensorflow}

if __name__ == "__main__":
    if sys.argv[2:] == ["tensorflow"] and not (tensorflow.VENV / "bin/python3").exists():
        print(f"skipped: no TensorFlow in {tensorflow.VENV}; `./dev setup --tensorflow` installs it")
        sys.exit(77)
    # One node: room that is left on two in parts would be room for the monitor, and for no container.
    run_groups((PROGRAMS, {"nodes": 1, "node_memory_mb": 4096, "settings": SETTINGS}),
               (TENSORFLOW, {"nodes": 1, "node_memory_mb": 8192, "settings": SETTINGS}))
