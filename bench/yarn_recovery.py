#!/usr/bin/env python3
"""How soon a job on a real YARN is whole again: from the end of a node with all that ran on it to the AM's decision to start its
tasks elsewhere, and from the AM's own end to the moment at which the next attempt holds all agents again. YARN's own patience
with a node is Hadoop's default of 600 s, its heartbeat 1 s.

Usage: yarn_recovery.py BIN_DIR [REPEATS]; prints NAME <tab> CASE <tab> UNIT <tab> MEDIAN <tab> LEAST <tab> MOST, as the other
measuring programs do; ends with 77 without Hadoop. Moments are those of the AM's own records.
"""
import os
import pathlib
import signal
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "hadoop"))
# pylint: disable=wrong-import-position
import hadoop_cluster  # noqa: E402
import hadoop_web  # noqa: E402
from history import running_application  # noqa: E402
from losses import away_from_master, kill_node  # noqa: E402
from submitted import all_work, records, waiting  # noqa: E402

REPEATS = int(sys.argv[2]) if len(sys.argv) > 2 else 10
WORKERS = 3


def show(case, unit, values):
    print(f"tfyarn on YARN\t{case}\t{unit}\t{statistics.median(values):.6g}\t{min(values):.6g}\t{max(values):.6g}", flush=True)


def submitted_at(cluster, application):
    """Seconds since the epoch: the zero of the AM's records."""
    return hadoop_web.get(f"{cluster.rm_web}/apps/{application}")["app"]["startedTime"] / 1000


def ended(job):
    (job.folder / "end").touch()
    code, result = job.end()
    assert code == 0, result


def node_lost(cluster):
    job = waiting(cluster, WORKERS, "retries: {user: 0}").submit()
    all_work(job, 0)
    application = running_application(cluster)
    _, _, node = away_from_master(cluster, job)
    struck = time.time() - submitted_at(cluster, application)
    kill_node(cluster, node)
    all_work(job, 1)
    ended(job)
    decided = next(each["at"] for each in records(cluster.conf, application)
                   if each["type"] == "AmOrdered" and each["action"]["type"] == "RestartDecided" and each["at"] > struck)
    cluster.start(node)
    return decided - struck


def master_lost(cluster):
    job = waiting(cluster, WORKERS).submit()
    all_work(job, 0)
    application = running_application(cluster)
    struck = time.time() - submitted_at(cluster, application)
    os.kill(job.masters()[0], signal.SIGKILL)

    def accepted():
        """When the second attempt took each agent."""
        return {each["action"]["message"]["fence"]["container"]: each["at"] for each in records(cluster.conf, application)
                if each["type"] == "AmOrdered" and each["am_attempt"] == 2 and each["action"]["type"] == "SendToAgent" and
                each["action"]["message"]["type"] == "AgentAccepted"}
    give_up = time.monotonic() + 60
    while len(accepted()) < WORKERS:
        assert time.monotonic() < give_up, "the second attempt does not hold all agents"
        time.sleep(0.5)
    ended(job)
    assert job.attempts() == [1] * WORKERS, f"tasks were started again: {job.attempts()}"
    return max(accepted().values()) - struck


def main():
    if what := hadoop_cluster.missing():
        print(what, file=sys.stderr)
        sys.exit(77)
    with hadoop_cluster.Cluster.up(nodes=4, gpus=(2,), heartbeat_ms=1000, nm_expiry_ms=600000) as cluster:
        show("AM killed until the next attempt holds all agents", "s", [master_lost(cluster) for _ in range(REPEATS)])
        show("a node and all on it killed until the AM decides", "s", [node_lost(cluster) for _ in range(REPEATS)])


if __name__ == "__main__":
    main()
