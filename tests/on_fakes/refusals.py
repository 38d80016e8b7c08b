#!/usr/bin/env python3
"""What keeps a job from running on a cluster of fakes, each with its own words and exit code, and what holds a running one up; nothing is
left of any. Usage: refusals.py BIN_DIR [CASE...]."""
import json
import os
import signal
import subprocess

import fake_cluster  # noqa: F401  (finds tests/hadoop)
import cases
import client
import verdict
from hadoop_processes import wait_until
from history import home, names
from submitted import BIN, PATIENCE, Job, all_work, check, pid_of, records, tfyarn, waiting

SMALL = "name: a\ntasks: {worker: {memory: 128MiB, command: ['true']}}\n"


def no_files(cluster):
    left = list(names(cluster, f"{home(cluster)}/staging")) + verdict.unfinished(cluster)
    check(not left, f"left in HDFS: {left}")


def refused(cluster, code, *words):
    """A submission that ends so."""
    verdict.ended_badly(waiting(cluster).submit(), code, *words)
    no_files(cluster)


def queue(cluster):
    verdict.ended_badly(Job(cluster, "queue: nowhere\n" + SMALL).submit(), 3, "queue 'nowhere' does not exist")
    no_files(cluster)


def never_fits(cluster):
    """What no node can hold is refused before anything is uploaded. Submitted all the same it holds nothing while nodes may come, and says so."""
    text = "name: large\ntasks: {worker: {memory: 128MiB, gpus: 5, command: ['true']}}\n"
    verdict.ended_badly(Job(cluster, text).submit(), 3, "worker needs 5 GPUs", "--no-check")
    no_files(cluster)
    code, out, err = tfyarn(cluster.conf, "submit", str(Job(cluster, text).folder / "job.yaml"), "-q", "--no-check")
    check(code == 0, err)
    application = out.strip()
    # Before its AM has started it has no events.
    wait_until("the word of its AM", PATIENCE,
               lambda: "nothing is asked for meanwhile" in tfyarn(cluster.conf, "events", application, "--json")[1])
    check(not any("GangReleased" in json.dumps(line) for line in records(cluster.conf, application)), "it has held something")
    client.expect(tfyarn(cluster.conf, "kill", application), 0)


def waits_for_nodes(cluster):
    """Where the job is asked for it says which nodes it waits for; it begins when they come, and says that, too."""
    # A ResourceManager that begins again has never seen a node that is away.
    for order in ("kill nm3", "kill rm", "start rm"):
        cluster.order(order)
    job = waiting(cluster).submit("--no-check")
    application, = wait_until("its staging", PATIENCE, lambda: list(names(cluster, f"{home(cluster)}/staging")))

    def status(*words):
        return client.expect(tfyarn(cluster.conf, "status", application, *words), 0)
    wait_until("the word of its status", PATIENCE, lambda: "waits for" in status())
    said = json.loads(status("--json"))["waits_for"]
    check(said.startswith("nodes: ") and "worker" in said, f"status --json: {said}")
    with open(job.folder / "attached", "w") as told:
        attached = subprocess.Popen([str(BIN / "tfyarn"), "attach", application], stdout=told, stderr=told,
                                    env={**os.environ, "HADOOP_CONF_DIR": str(cluster.conf)})
    begins, ends = "running: waits for nodes that may still come: worker", "running: no longer waits for nodes"
    job.wait_for("attached", begins)
    cluster.order("start nm3")
    all_work(job, 0)
    job.wait_for("attached", ends)
    wait_until("the end of the wait", PATIENCE, lambda: json.loads(status("--json"))["waits_for"] == "")
    check("waits for" not in status(), "status still says it")
    (job.folder / "end").touch()
    _, told = job.process.communicate(timeout=PATIENCE)
    # The end of the job may come before it looks again.
    check(job.process.returncode == 0 and begins in told, f"submit --wait says: {told}")
    check(attached.wait(PATIENCE) == 0, "attach ends otherwise")


def no_room(cluster):
    user = f"/user/{cluster.plan['user']}"
    with cases.while_it_is(cluster, f"full {user}", f"room {user}"):
        refused(cluster, 5, "quota")


def no_room_for_a_file(cluster):
    """The job file fits, one of the job's files does not: it is named, and the ResourceManager is not blamed."""
    job = Job(cluster, "files: [data.bin]\n" + SMALL)
    (job.folder / "data.bin").write_bytes(b"\0" * (2 << 20))
    staging = f"{home(cluster)}/staging"
    with cases.while_it_is(cluster, f"quota {staging} 1", f"room {staging}"):
        verdict.ended_badly(job.submit(), 5, "cannot be staged", "data.bin", "quota")
        no_files(cluster)


def no_room_for_the_running(cluster):
    """What is decided needs none; what needs some is refused."""
    job = verdict.working(cluster)
    user = f"/user/{cluster.plan['user']}"
    with cases.while_it_is(cluster, f"full {user}", f"room {user}"):
        os.kill(pid_of(job, 1), signal.SIGKILL)
        more = Job(cluster, "files: [data.bin]\n" + SMALL)
        (more.folder / "data.bin").write_bytes(b"\0")
        client.expect(tfyarn(cluster.conf, "submit", str(more.folder / "job.yaml"), "-q"), 5, "data.bin", "quota")
        all_work(job, 1)
    verdict.ended_well(job, attempts=(2, 2, 2), epochs=2)


def staging_denied(cluster):
    with cases.while_it_is(cluster, f"deny {home(cluster)}/staging", f"allow {home(cluster)}/staging"):
        refused(cluster, 5, "Permission denied")


def home_denied(cluster):
    with cases.while_it_is(cluster, f"deny {home(cluster)}", f"allow {home(cluster)}"):
        verdict.ended_badly(waiting(cluster).submit(), 5, "Permission denied", "tfyarn doctor")


def not_ones_own(cluster):
    """The rights of files, which a real HDFS has, too."""
    file = client.asking()
    client.expect(tfyarn(cluster.conf, "submit", str(file), HADOOP_USER_NAME="stranger"), 5, "Permission denied")


def no_resource_manager(cluster):
    with client.changed(cluster, {"yarn.resourcemanager.address": "127.0.0.1:1"}) as conf:
        for words in (("list",), ("status", "application_1_0001"), ("kill", "application_1_0001")):
            client.expect(tfyarn(conf, *words), 5, "127.0.0.1:1")
        client.waits_and_says(conf, "the ResourceManager gives no answer: ")


def no_hdfs(cluster):
    with client.changed(cluster, {"dfs.namenode.http-address": "127.0.0.1:1"}) as conf:
        client.waits_and_says(conf, "HDFS gives no answer: ")


def kerberos(cluster):
    """A configuration without Kerberos for a cluster with it: every command says so, and nothing else."""
    application = "application_1700000000000_0007"
    file = str(client.asking())
    for words in (("submit", file), ("submit", file, "--wait", "--json"), ("submit", file, "--dry-run=cluster"), ("run", "--yarn", file),
                  ("list",), ("list", "--all"), ("status", application), ("wait", application), ("kill", application),
                  ("attach", application), ("logs", application), ("events", application), ("history",),
                  ("history", application)):
        said = client.expect(tfyarn(cluster.conf, *words), 4, "the cluster wants Kerberos", "accepts TOKEN, KERBEROS")
        check(said.count("\n") == 1, f"{words} says more: {said}")
    said = client.doctor(cluster.conf, 4)
    check(list(said) == ["security"] and said["security"]["state"] == "problem", f"doctor says more: {said}")
    check("the cluster wants Kerberos" in said["security"]["text"], f"{said}")
    # That one asks no server.
    client.expect(tfyarn(cluster.conf, "submit", file, "--dry-run"), 0)


def watched_without_resource_manager(cluster):
    """Who watches a job is told that the ResourceManager is away, and goes on when it is back."""
    job = waiting(cluster).submit()
    all_work(job, 0)
    application, = names(cluster, f"{home(cluster)}/staging")
    watchers = [subprocess.Popen([str(BIN / "tfyarn"), verb, application], text=True, stdout=subprocess.DEVNULL,
                                 stderr=open(job.folder / verb, "w"), env={**os.environ, "HADOOP_CONF_DIR": str(cluster.conf)})
                for verb in ("wait", "attach")]
    job.wait_for("attach", "running")
    cluster.order("kill rm")
    for verb in ("wait", "attach"):
        job.wait_for(verb, "the ResourceManager has not answered the question about the job for ")
    cluster.order("start rm")
    verdict.ended_well(job)
    check([watcher.wait(PATIENCE) for watcher in watchers] == [0, 0], "they end otherwise")


def given_up(cluster):
    """Ctrl-C at a submission that waits: nothing has been started, and nothing is."""
    cluster.order("kill rm")
    process = subprocess.Popen([str(BIN / "tfyarn"), "submit", str(client.asking())], text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env={**os.environ, "HADOOP_CONF_DIR": str(cluster.conf)})
    line = process.stderr.readline()
    check("Ctrl-C" in line, f"it says: {line}")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    check(process.returncode in (-signal.SIGINT, 130), f"exit code {process.returncode}")
    cluster.order("start rm")
    listed = json.loads(client.expect(tfyarn(cluster.conf, "list", "--json"), 0))
    check(not listed, f"it has been submitted: {listed}")
    no_files(cluster)


CASES = {"queue": queue, "never-fits": never_fits, "waits-for-nodes": waits_for_nodes, "no-room": no_room, "no-room-for-a-file": no_room_for_a_file,
         "no-room-for-the-running": no_room_for_the_running, "staging-denied": staging_denied,
         "home-denied": home_denied, "not-ones-own": not_ones_own, "no-configuration": client.no_configuration,
         "no-resource-manager": no_resource_manager, "no-hdfs": no_hdfs, "given-up": given_up,
         "watched-without-resource-manager": watched_without_resource_manager}

if __name__ == "__main__":
    cases.run((CASES, {}), ({"kerberos": kerberos}, {"kerberos": True}))
