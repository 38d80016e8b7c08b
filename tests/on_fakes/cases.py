"""Runs a script's cases, some at a time, as a cluster mostly waits: each worker has clusters of its own, and takes one case after the
other."""
import contextlib
import json
import queue
import sys
import threading

import fake_cluster
from hadoop_processes import ClusterError, owned
from submitted import prepare, run_case, tfyarn

WORKERS = 4


@contextlib.contextmanager
def while_it_is(cluster, order, end):
    """Between two orders to the cluster: one that breaks a part of it, and one that repairs it."""
    cluster.order(order)
    try:
        yield
    finally:
        cluster.order(end)


def clean(cluster):
    """Without what an earlier case that failed has left of faults and jobs."""
    cluster.order("clear")
    # One that refuses every client has no job.
    for application in json.loads(tfyarn(cluster.conf, "list", "--json")[1] or "[]"):
        tfyarn(cluster.conf, "kill", application["application"])


def take_down(cluster, keep):
    cluster.down()
    if left := owned(cluster.folder):
        raise ClusterError(f"processes are left: {left}")
    if keep:
        print(f"what there is of it: {cluster.folder}", flush=True)
    else:
        cluster.remove()


def work(waiting, failed):
    """Until no case waits any more. Cases with the same options of a cluster come one after the other."""
    cluster, of_cluster, bad = None, None, False
    try:
        while True:
            try:
                name, case, options = waiting.get_nowait()
            except queue.Empty:
                return
            if cluster and options != of_cluster:
                take_down(cluster, bad)
                cluster, bad = None, False
            if cluster is None:
                cluster, of_cluster = fake_cluster.Cluster.up(**options), options
            if not run_case(cluster, name, lambda cluster, case=case: (clean(cluster), case(cluster))):
                bad = True
                failed.append(name)
    except ClusterError as failure:
        print(f"FAILED: {failure}", flush=True)
        failed.append("a cluster")
    finally:
        if cluster:
            try:
                take_down(cluster, bad)
            except ClusterError as failure:
                print(f"FAILED: {failure}", flush=True)
                failed.append("a cluster")


def run(*groups):
    """Each group is (cases, the options of their clusters). The command line may name cases. Exits: 1 when one failed, 77 where there can be
    no cluster."""
    prepare(groups, fake_cluster.missing())
    waiting = queue.Queue()
    for cases, options in groups:
        for name, case in cases.items():
            if not sys.argv[2:] or name in sys.argv[2:]:
                waiting.put((name, case, options))
    failed = []
    threads = [threading.Thread(target=work, args=(waiting, failed)) for _ in range(min(WORKERS, waiting.qsize()))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.exit(1 if failed else 0)
