#!/usr/bin/env python3
"""Parts of the cluster that are away, or give up on each other, while a job runs. Usage: parts.py BIN_DIR [CASE...]."""
import contextlib
import json
import os
import signal
import time

import fake_cluster  # noqa: F401  (finds tests/hadoop)
import cases
import verdict
from hadoop_processes import wait_until
from history import attempt, read
from losses import away_from_master
from submitted import PATIENCE, all_work, check, pid_of


def unnoticed(part, seconds, more=0):
    """Tasks do not ask it for anything."""
    def case(cluster):
        job = verdict.working(cluster)
        before = verdict.pids(job)
        cluster.order(f"away {part} {seconds}")
        time.sleep(seconds + more)
        check(verdict.pids(job) == before, "tasks have begun again")
        verdict.ended_well(job)
    return case


def rm_away_at_the_end(cluster):
    """The AM has no RM to tell, and tells it later."""
    job = verdict.working(cluster)
    cluster.order("away rm 4")
    verdict.ended_well(job)


def am_expired(cluster):
    """Its successor takes the agents over; training does not notice."""
    job = verdict.told(verdict.working(cluster))
    master = job.masters()
    cluster.order("expire-am")
    wait_until("another AM alone", PATIENCE, lambda: len(job.masters()) == 1 and job.masters() != master)
    cluster.order("clear")
    verdict.ended_well(job, am_attempts=2)


def node_expired(cluster):
    """All of the gang begins again, under a new cluster spec."""
    job = verdict.working(cluster, more="retries: {user: 0}")
    _, _, node = away_from_master(cluster, job)
    cluster.order(f"expire-node {node}")
    all_work(job, 1)
    verdict.ended_well(job, attempts=(2, 2, 2), epochs=2)


def hdfs_away(seconds):
    def case(cluster):
        """What has to be written waits, and a task that fails meanwhile is decided on afterwards."""
        job = verdict.working(cluster)
        cluster.order(f"away hdfs {seconds}")
        os.kill(pid_of(job, 1), signal.SIGKILL)
        all_work(job, 1)
        verdict.ended_well(job, attempts=(2, 2, 2), epochs=2)
    return case


@contextlib.contextmanager
def full_disk(cluster):
    """Not one byte more fits where the nodes keep all that containers write."""
    ballast = cluster.folder / "ballast"
    with open(ballast, "wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12):
            with contextlib.suppress(OSError):
                while True:
                    file.write(b"\0" * size)
    check(os.statvfs(cluster.folder).f_bavail == 0, "the disk is not full")
    try:
        yield
    finally:
        ballast.unlink()


def nothing_missing(cluster, result):
    lines = read(cluster, f"{attempt(cluster, result['application_id'], 1)}/events.jsonl").split("\n")[:-1]
    numbers = [json.loads(line)["seq"] for line in lines]
    check(numbers == list(range(1, len(numbers) + 1)), f"events in HDFS: {numbers}")
    check("VerdictReached" in " ".join(lines), "its verdict is not among the events")


def disks_full(until_the_end):
    def case(cluster):
        """What AM and agents write down of the job waits in memory, and is in HDFS all the same."""
        job = verdict.working(cluster)
        with full_disk(cluster):
            os.kill(pid_of(job, 1), signal.SIGKILL)
            all_work(job, 1)
            if until_the_end:
                return nothing_missing(cluster, verdict.ended_well(job, attempts=(2, 2, 2), epochs=2))
        nothing_missing(cluster, verdict.ended_well(job, attempts=(2, 2, 2), epochs=2))
    return case


# The longest first.
CASES = {"hdfs-away-long": hdfs_away(60), "hdfs-away": hdfs_away(20), "hdfs-away-all-well": unnoticed("hdfs", 20),
         "rm-away": unnoticed("rm", 4, more=1), "rm-away-at-the-end": rm_away_at_the_end, "am-expired": am_expired}
NODES = {"node-expired": node_expired}
DISKS = {"disks-full": disks_full(until_the_end=True), "disks-full-for-a-while": disks_full(until_the_end=False)}

if __name__ == "__main__":
    cases.run((CASES, {}), (NODES, {"nodes": 4, "gpus": (2,)}), (DISKS, {"disk": "512m"}))
