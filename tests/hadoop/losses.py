#!/usr/bin/env python3
"""Jobs on a real cluster of four nodes that loses parts of itself: a container, a NodeManager alone (its containers' processes run
on), a node with everything on it, HDFS for a minute, all room in HDFS. Usage: losses.py BIN_DIR [CASE...]; exit code 77 without Hadoop."""
import os
import pathlib
import signal
import time

import hadoop_web
from hadoop_processes import send, started, wait_until
from submitted import PATIENCE, all_work, check, pid_of, run_cases, variable_of, waiting

NO_LIMIT = -1


def node_of(cluster, pid):
    """The NodeManager that a process's container belongs to."""
    return next(name for name in cluster.of_kind("nm") if f"{cluster.folder}/{name}/" in variable_of(pid, "LOCAL_DIRS") + "/")


def away_from_master(cluster, job):
    """A worker whose node is not its AM's, as (index, pid, NodeManager)."""
    of_master = node_of(cluster, job.masters()[0])
    for index in range(3):
        pid = pid_of(job, index)
        if (node := node_of(cluster, pid)) != of_master:
            return index, pid, node
    raise AssertionError("three workers on three nodes, and the AM on all of them")


def kill_node(cluster, name):
    """As when the power fails: the NodeManager, and every process of its containers."""
    cluster.kill(name)
    kill_containers(cluster, name)


def kill_containers(cluster, name):
    """Every process of a NodeManager's containers."""
    inside = f"{cluster.folder}/{name}/local"
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if inside in (entry / "environ").read_bytes().decode(errors="replace"):
                send(int(entry.name), signal.SIGKILL)
        except OSError:
            pass


def ended(pid, began):
    wait_until(f"the end of process {pid}", PATIENCE, lambda: started(pid) != began)


def working(cluster):
    job = waiting(cluster, more="retries: {user: 0}").submit()
    all_work(job, 0)
    return job


def container_killed(cluster):
    job = working(cluster)
    _, pid, _ = away_from_master(cluster, job)
    began = started(pid)
    cluster.kill(variable_of(pid, "CONTAINER_ID"))
    all_work(job, 1)
    ended(pid, began)
    job.finish(restarts=[2, 2, 2])


def node_manager_killed(cluster):
    """-100 comes when the RM has waited long enough; the process that runs on is another's then, and has to go."""
    job = working(cluster)
    _, pid, node = away_from_master(cluster, job)
    began = started(pid)
    cluster.kill(node)
    all_work(job, 1)
    ended(pid, began)
    job.finish(restarts=[2, 2, 2])
    cluster.start(node)


def node_killed(cluster):
    """Only the AM misses it so soon: the RM waits for 15 s here, and for ten minutes where nothing else is configured."""
    job = working(cluster)
    index, _, node = away_from_master(cluster, job)
    other = pid_of(job, (index + 1) % 3)
    began = started(other)
    since = time.monotonic()
    kill_node(cluster, node)
    wait_until("the end of the other workers", PATIENCE, lambda: started(other) != began)
    print(f"  a dead node is noticed after {time.monotonic() - since:.1f} s", flush=True)
    all_work(job, 1)
    job.finish(restarts=[2, 2, 2])
    cluster.start(node)


def node_of_master_killed(cluster):
    """The AM goes with its node, and a worker perhaps; the RM starts another when it has missed the node."""
    job = working(cluster)
    node = node_of(cluster, job.masters()[0])
    lost = [index for index in range(3) if node_of(cluster, pid_of(job, index)) == node]
    master = job.masters()
    kill_node(cluster, node)
    wait_until("another AM", PATIENCE, lambda: job.masters() and job.masters() != master)
    if lost:
        all_work(job, 1)
    job.finish(restarts=[2, 2, 2] if lost else [1, 1, 1])
    cluster.start(node)


def hdfs_away(cluster):
    """Who trains does not ask it; what has to be written waits, and a task that fails meanwhile is decided on afterwards."""
    job = working(cluster)
    cluster.kill("nn")
    os.kill(pid_of(job, 1), signal.SIGKILL)
    time.sleep(60)
    check(job.attempts() == [1, 1, 1], f"a decision that was not written: {job.attempts()} attempts")
    cluster.start("nn")
    all_work(job, 1)
    job.finish(restarts=[2, 2, 2])


def hdfs_full(cluster):
    """What is decided needs no room; of what does, the AM says what is wrong."""
    job = working(cluster)
    limit_space(cluster, 1)
    os.kill(pid_of(job, 1), signal.SIGKILL)
    all_work(job, 1)
    said = pathlib.Path(variable_of(job.masters()[0], "LOG_DIRS"), "stderr")
    wait_until("a word of the AM on the quota", PATIENCE, lambda: "quota" in said.read_text())
    limit_space(cluster, NO_LIMIT)
    job.finish(restarts=[2, 2, 2])


def limit_space(cluster, size):
    """A space quota on what the user has there, in bytes."""
    user = cluster.plan["user"]
    status, answer = hadoop_web.webhdfs("PUT", cluster.webhdfs, f"/user/{user}/.tfyarn", "SETQUOTA", storagespacequota=size,
                                        **{"user.name": user})
    check(status == 200, f"SETQUOTA: {status} {answer}")


CASES = {"container-killed": container_killed, "node-manager-killed": node_manager_killed, "node-killed": node_killed,
         "node-of-master-killed": node_of_master_killed, "hdfs-away": hdfs_away,
         "hdfs-full": hdfs_full}

if __name__ == "__main__":
    run_cases(CASES, nodes=4, gpus=(2,))
