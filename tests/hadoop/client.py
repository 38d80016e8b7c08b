#!/usr/bin/env python3
"""The client's commands on a real cluster: logs of jobs that run and that have ended, what doctor finds, trials of submissions,
attach, and a message and exit code of its own for each way in which a cluster refuses. Usage: client.py BIN_DIR [CASE...]; exit code
77 without Hadoop."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

import hadoop_web
from hadoop_processes import wait_until
from submitted import BIN, PATIENCE, check, run_groups, tfyarn


def expect(result, code, *texts):
    """Each of `texts` is in what was said."""
    said = result[1] + result[2]
    check(result[0] == code, f"exit code {result[0]}, expected {code}: {said}")
    for text in texts:
        check(text in said, f"no '{text}' in: {said}")
    return said


def job_file(text, folder=None):
    """A lone %s in the text is the job's folder."""
    folder = folder or pathlib.Path(tempfile.mkdtemp(prefix="tfyarn-client-"))
    (folder / "job.yaml").write_text("schema: tfyarn.job/v1\n" + text.replace("%s", str(folder)))
    return folder / "job.yaml"


def talking(instances=2):
    """Workers that write a line to stdout and one to stderr each tenth of a second, until told to end."""
    return job_file(f"""\
name: talking
framework: generic
tasks:
  worker:
    instances: {instances}
    memory: 128MiB
    placement: {{spread: node}}
    command:
    - bash
    - -c
    - 'i=0; while [ ! -e %s/end ]; do i=$((i+1)); echo out $i; echo err $i >&2; sleep 0.1; done; printf "the end"'
""")


def asking(gpus=1, instances=1, more=""):
    return job_file(f"""\
name: asking
framework: generic
{more}
tasks:
  worker: {{instances: {instances}, memory: 128MiB, gpus: {gpus}, command: [sleep, "600"]}}
""")


def submitted(cluster, file):
    return expect(tfyarn(cluster.conf, "submit", str(file), "-q"), 0).strip()


def has_lines(cluster, application, count=3):
    def seen():
        lines = tfyarn(cluster.conf, "logs", application)[1].splitlines()
        return all(sum(line.startswith(f"worker:{index}") for line in lines) >= count for index in range(2))
    wait_until("lines of both workers", PATIENCE, seen)


def ended(cluster):
    """A job that has written, and succeeded."""
    file = talking()
    application = submitted(cluster, file)
    has_lines(cluster, application)
    (file.parent / "end").touch()
    expect(tfyarn(cluster.conf, "wait", application), 0)
    return application


def numbers(text, task, word):
    return [int(each) for each in re.findall(rf"^{task} *\| {word} (\d+)$", text, re.M)]


def whole(text):
    """Each worker's lines are there, in order, none twice."""
    for task in ("worker:0", "worker:1"):
        for word in ("out", "err"):
            found = numbers(text, task, word)
            check(found and found == list(range(1, len(found) + 1)), f"{word} of {task}: {found}")
        check(f"{task}   | the end" in text, f"the unfinished line of {task} is not there")


# ---- logs

def logs_of_a_running_job(cluster):
    file = talking()
    application = submitted(cluster, file)
    has_lines(cluster, application)
    follower = subprocess.Popen([str(BIN / "tfyarn"), "logs", application, "-f"], text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env={**os.environ, "HADOOP_CONF_DIR": str(cluster.conf)})
    code, out, err = tfyarn(cluster.conf, "logs", application, "--task", "worker:1", "--stream", "stdout", "--tail", "2")
    check(code == 0 and re.fullmatch(r"worker:1   \| out \d+\nworker:1   \| out \d+\n", out), f"{code} {out} {err}")
    code, out, err = tfyarn(cluster.conf, "logs", application, "--json", "--tail", "1", "--task", "worker", "--stream", "stderr")
    lines = [json.loads(line) for line in out.splitlines()]
    check(code == 0 and [(line["task"], line["attempt"], line["stream"]) for line in lines]
          == [("worker:0", 0, "stderr"), ("worker:1", 0, "stderr")], f"{code} {out} {err}")
    expect(tfyarn(cluster.conf, "logs", application, "--stream", "am"), 0, "started container_")
    expect(tfyarn(cluster.conf, "logs", application, "--stream", "agent"), 0)
    expect(tfyarn(cluster.conf, "logs", application, "--task", "ps"), 7, "worker:0, worker:1")
    expect(tfyarn(cluster.conf, "logs", application, "--attempt", "3"), 7)
    (file.parent / "end").touch()
    out, err = follower.communicate(timeout=PATIENCE)
    check(follower.returncode == 0, f"{follower.returncode} {err}")
    whole(out)


def logs_of_an_ended_job(cluster):
    """While they are on the nodes, while they move, and when they are in HDFS."""
    application = ended(cluster)
    ends = time.monotonic() + 10
    while time.monotonic() < ends:
        code, out, err = tfyarn(cluster.conf, "logs", application)
        check(code == 0, f"{code} {err}")
        whole(out)
    state = hadoop_web.get(f"{cluster.rm_web}/apps/{application}")["app"]["logAggregationStatus"]
    check(state == "SUCCEEDED", f"logs are not collected: {state}")
    code, out, err = tfyarn(cluster.conf, "logs", application, "--tail", "1", "--task", "worker:0", "--stream", "stdout")
    check(code == 0 and out == "worker:0   | the end\n", f"{code} {out} {err}")
    expect(tfyarn(cluster.conf, "logs", application[:-4] + "9999"), 3, "9999")
    expect(tfyarn(cluster.conf, "logs", "job_1"), 3, "application_1700000000000_0007")


# ---- attach

def attached(cluster):
    file = talking()
    application = submitted(cluster, file)
    has_lines(cluster, application)

    def attach(*words):
        return subprocess.Popen([str(BIN / "tfyarn"), "attach", application, *words], text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env={**os.environ, "HADOOP_CONF_DIR": str(cluster.conf)})
    leaver = attach()
    check("running" in leaver.stderr.readline(), "attach does not say that the job runs")
    leaver.send_signal(signal.SIGINT)
    _, err = leaver.communicate(timeout=PATIENCE)
    check(leaver.returncode == 130 and "goes on" in err, f"{leaver.returncode} {err}")
    expect(tfyarn(cluster.conf, "status", application), 0, "running")
    stayer = attach("--json")
    (file.parent / "end").touch()
    out, err = stayer.communicate(timeout=PATIENCE)
    result = json.loads(out)
    check(stayer.returncode == 0 and result["status"] == "succeeded" and result["application"] == application,
          f"{stayer.returncode} {out} {err}")


def run_is_submit_and_wait(cluster):
    file = job_file("name: short\nframework: generic\ntasks: {worker: {memory: 128MiB, command: [bash, -c, 'exit 3']}}\n"
                    "retries: {user: 0}\n")
    expect(tfyarn(cluster.conf, "run", "--yarn", str(file)), 10, "short failed")
    expect(tfyarn(cluster.conf, "run", "--yarn", "--oversubscribe", str(file)), 2)


# ---- trials

def trials(cluster):
    def trial(file, *words):
        return tfyarn(cluster.conf, "submit", str(file), "--dry-run=cluster", *words)
    expect(trial(asking(gpus=4, instances=3)), 0, "asking: fits now")
    expect(trial(asking(gpus=5)), 3, "asking: can never fit", "5 GPUs", "largest node has 4")
    expect(trial(asking(gpus=3, instances=4)), 3, "can never fit", "hold 3 such containers")
    expect(trial(asking(more="queue: nowhere")), 3, "queue 'nowhere' does not exist")
    expect(trial(asking(), "--set", "am.memory=64GiB"), 3, "the ApplicationMaster asks for")
    expect(trial(asking(), "--set", "tasks.worker.node_label=tpu"), 3, "partition tpu")
    expect(trial(asking(), "--set", "am.attempts=9"), 0, "fits now", "allows 4")
    expect(tfyarn(cluster.conf, "submit", str(asking()), "--dry-run"), 0, "was not asked")
    expect(tfyarn(cluster.conf, "submit", str(asking()), "--dry-run=all"), 2, "--dry-run")

    def containers():
        return sum(node["numContainers"] for node in cluster.nodes())
    # Those of jobs before leave with the next heartbeats.
    wait_until("the end of other containers", PATIENCE, lambda: containers() == 0)
    application = submitted(cluster, asking(gpus=4))
    try:
        wait_until("the job", PATIENCE, lambda: containers() == 2)
        code, out, err = trial(asking(gpus=4, instances=3), "--json")
        check(code == 0 and json.loads(out)["verdict"] == "fits when others leave", f"{code} {out} {err}")
    finally:
        expect(tfyarn(cluster.conf, "kill", application), 0)
    listed = json.loads(expect(tfyarn(cluster.conf, "list", "--all", "--json"), 0))
    check(sum(entry["name"] == "asking" for entry in listed) == 1, "a trial has submitted something")


# ---- errors, and the programs that report them

@contextlib.contextmanager
def changed(cluster, values):
    """A copy of the client's configuration with other values of keys that are there."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "conf"
        shutil.copytree(cluster.conf, copy, ignore=shutil.ignore_patterns("webapps"))
        for key, value in values.items():
            for path in copy.glob("*-site.xml"):
                path.write_text(re.sub(rf"(<name>{re.escape(key)}</name>\s*<value>)[^<]*", rf"\g<1>{value}", path.read_text()))
        yield copy


def found(result):
    """What doctor says, by subject."""
    return {line["subject"]: line for line in json.loads(result[1])}


def doctor(conf, code, *words, **environment):
    result = tfyarn(conf, "doctor", "--json", *words, **environment)
    check(result[0] == code, f"doctor: {result}")
    return found(result)


def a_good_cluster(cluster):
    said = doctor(cluster.conf, 0)
    for subject in ("configuration", "nodes", "GPUs", "queue root.default", "queue root.batch", "what is scheduled by", "HDFS",
                    "clocks", "attempts of an AM", "memory checks", "logs", "smallest container"):
        check(said[subject]["state"] == "ok", f"{said[subject]}")
    check("12 on 3 of 3 nodes" in said["GPUs"]["text"], said["GPUs"]["text"])
    expect(tfyarn(cluster.conf, "doctor"), 0, "ok           HDFS")
    code, _, _ = tfyarn(cluster.conf, "list")
    check(code == 0, "list after doctor")


def no_configuration(cluster):
    expect(tfyarn(None, "doctor"), 3, "HADOOP_CONF_DIR is not set")
    expect(tfyarn(None, "list"), 3, "HADOOP_CONF_DIR is not set")
    expect(tfyarn("/nowhere", "doctor"), 3, "'/nowhere', which is no directory")
    with changed(cluster, {"fs.defaultFS": "file:///"}) as conf:
        expect(tfyarn(conf, "doctor"), 3, "fs.defaultFS")
        expect(tfyarn(conf, "submit", str(asking())), 3, "fs.defaultFS")


def waits_and_says(conf, text):
    """A submission waits for a daemon that is away, and tells its user so."""
    waiter = subprocess.Popen([str(BIN / "tfyarn"), "submit", str(asking())], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env={**os.environ, "HADOOP_CONF_DIR": str(conf)})
    line = waiter.stderr.readline()
    waiter.kill()
    waiter.communicate(timeout=PATIENCE)
    check(text in line and "127.0.0.1:1" in line and "Ctrl-C" in line, f"it says: {line}")


def no_resource_manager(cluster):
    with changed(cluster, {"yarn.resourcemanager.address": "127.0.0.1:1"}) as conf:
        said = doctor(conf, 5)
        check(said["ResourceManager 127.0.0.1:1"]["state"] == "problem", f"{said}")
        check(said["nodes"]["state"] == "not checked" and said["HDFS"]["state"] == "ok", f"{said}")
        # `wait` and `attach` wait for a ResourceManager that starts again.
        for words in (("list",), ("logs", "application_1_0001"), ("submit", str(asking()), "--dry-run=cluster")):
            expect(tfyarn(conf, *words), 5, "127.0.0.1:1")
        waits_and_says(conf, "the ResourceManager gives no answer: ")


def no_hdfs(cluster):
    with changed(cluster, {"dfs.namenode.http-address": "127.0.0.1:1"}) as conf:
        said = doctor(conf, 5)
        check(said["HDFS"]["state"] == "problem" and "127.0.0.1:1" in said["HDFS"]["text"], f"{said['HDFS']}")
        check(said["nodes"]["state"] == "ok", f"{said['nodes']}")
        waits_and_says(conf, "HDFS gives no answer: ")


def no_right_to_write(cluster):
    said = doctor(cluster.conf, 5, HADOOP_USER_NAME="stranger")
    check(said["HDFS"]["state"] == "problem" and "-chown stranger" in said["HDFS"]["advice"], f"{said['HDFS']}")
    expect(tfyarn(cluster.conf, "submit", str(asking()), HADOOP_USER_NAME="stranger"), 5, "Permission denied")


def safe_mode(cluster):
    def mode(verb):
        done = subprocess.run(cluster.command("nn")[:-1] + ["org.apache.hadoop.hdfs.tools.DFSAdmin", "-safemode", verb],
                              text=True, capture_output=True, check=False, env=cluster.daemon_environment())
        check(done.returncode == 0, f"dfsadmin: {done.stdout} {done.stderr}")
    mode("enter")
    try:
        said = doctor(cluster.conf, 5)
        check(said["HDFS"]["state"] == "problem" and "safemode" in said["HDFS"]["advice"], f"{said['HDFS']}")
    finally:
        mode("leave")


CASES = {"running": logs_of_a_running_job, "ended": logs_of_an_ended_job, "attached": attached,
         "run-yarn": run_is_submit_and_wait, "trials": trials, "good-cluster": a_good_cluster,
         "no-configuration": no_configuration, "no-resource-manager": no_resource_manager, "no-hdfs": no_hdfs,
         "no-right-to-write": no_right_to_write, "safe-mode": safe_mode}


# ---- a cluster that is set up in another way

def logs_stay_on_nodes(cluster):
    application = ended(cluster)
    time.sleep(3)
    code, out, err = tfyarn(cluster.conf, "logs", application)
    check(code == 0, f"{code} {err}")
    whole(out)
    said = doctor(cluster.conf, 0)
    check(said["logs"]["state"] == "warning", f"{said['logs']}")
    for name in cluster.of_kind("nm"):
        cluster.kill(name)
    expect(tfyarn(cluster.conf, "logs", application), 7, "does not answer", "yarn.log-aggregation-enable")


def memory_alone_counts(cluster):
    said = doctor(cluster.conf, 0)
    check(said["what is scheduled by"]["state"] == "warning", f"{said['what is scheduled by']}")
    check("DominantResourceCalculator" in said["what is scheduled by"]["advice"], f"{said['what is scheduled by']}")
    check("does not know yarn.io/gpu" in said["GPUs"]["text"], f"{said['GPUs']}")
    expect(tfyarn(cluster.conf, "submit", str(asking()), "--dry-run=cluster"), 3, "yarn.io/gpu")


def a_stopped_queue(cluster):
    said = doctor(cluster.conf, 0)
    check(said["queue root.batch"]["state"] == "warning" and "STOPPED" in said["queue root.batch"]["text"], f"{said}")
    check(said["queue root.default"]["state"] == "ok", f"{said}")
    for words, verdict in (((), "failed"), (("--dry-run=cluster",), "would be refused")):
        expect(tfyarn(cluster.conf, "submit", str(asking(gpus=0, more="queue: batch")), *words), 3, "'batch' is STOPPED", verdict)
    expect(tfyarn(cluster.conf, "submit", str(asking(gpus=0)), "--dry-run=cluster"), 0, "fits now")


# The last one stops the nodes.
OTHER_CASES = {"memory-alone": memory_alone_counts, "stopped-queue": a_stopped_queue, "logs-on-nodes": logs_stay_on_nodes}
# Without a resource type for GPUs a ResourceManager takes the calculator that counts memory only; with one it does not start.
OTHER_SETTINGS = ("yarn.log-aggregation-enable=false", "yarn.resource-types=", "yarn.scheduler.capacity.root.batch.state=STOPPED",
                  "yarn.scheduler.capacity.resource-calculator="
                  "org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator")


if __name__ == "__main__":
    run_groups((CASES, {"nodes": 3, "gpus": (4,)}), (OTHER_CASES, {"nodes": 3, "gpus": (0,), "settings": OTHER_SETTINGS}))
