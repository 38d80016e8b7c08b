#!/usr/bin/env python3
"""The cluster of the tests is a Hadoop cluster: its nodes, GPUs, label and files are there, what is killed comes back, and
nothing is left behind. Exit code 77 where Hadoop is not installed."""
import os
import pathlib
import sys

import hadoop_cluster
import hadoop_web
from hadoop_processes import ClusterError, owned, patience, wait_until


def check(holds, what):
    if not holds:
        raise ClusterError(what)


def gpus(node):
    resources = node["totalResource"]["resourceInformations"]["resourceInformation"]
    return next((entry["value"] for entry in resources if entry["name"] == "yarn.io/gpu"), 0)


def check_nodes(cluster):
    nodes = {node["id"]: node for node in cluster.running_nodes()}
    check(set(nodes) == {cluster.node_id("nm1"), cluster.node_id("nm2")}, f"nodes are {sorted(nodes)}")
    check([gpus(nodes[cluster.node_id(name)]) for name in ("nm1", "nm2")] == [0, 4], f"GPUs: {nodes}")
    labels = {name: nodes[cluster.node_id(name)].get("nodeLabels", []) for name in ("nm1", "nm2")}
    check(labels == {"nm1": [], "nm2": ["gpu"]}, f"labels: {labels}")


def check_files(cluster):
    user = cluster.plan["user"]
    content = bytes(range(256)) * 1000
    path = "/checked/a file"
    status, answer = hadoop_web.webhdfs("PUT", cluster.webhdfs, path, "CREATE", content, **{"user.name": user})
    check(status == 201, f"CREATE: {status} {answer[:500]!r}")
    status, answer = hadoop_web.webhdfs("GET", cluster.webhdfs, path, "OPEN", **{"user.name": user})
    check(status == 200 and answer == content, f"OPEN: {status}, {len(answer)} bytes")


def check_restarts(cluster):
    cluster.kill("nm1")
    check(cluster.daemons["nm1"].pid() is None, "a killed NodeManager still runs")
    cluster.start("nm1")
    check_nodes(cluster)
    first = hadoop_web.get(f"{cluster.rm_web}/info")["clusterInfo"]["startedOn"]
    cluster.kill("rm")
    wait_until("the ResourceManager's silence", patience(10), lambda: not hadoop_web.get(f"{cluster.rm_web}/info"))
    cluster.start("rm")
    check(hadoop_web.get(f"{cluster.rm_web}/info")["clusterInfo"]["startedOn"] > first, "the ResourceManager is the old one")
    check_nodes(cluster)


def main():
    if what := hadoop_cluster.missing():
        print(f"skipped: {what}")
        return 77
    with hadoop_cluster.Cluster.up(nodes=2, gpus=(0, 4), partition=1) as cluster:
        folder = cluster.folder
        check_nodes(cluster)
        check_files(cluster)
        check_restarts(cluster)
        # As a container leaves one: it stands in a NodeManager's directory, and no process waits for it.
        inside = pathlib.Path(folder) / "nm1" / "local"
        if os.fork() == 0:
            os.setsid()
            os.chdir(inside)
            os.execvpe("sleep", ["sleep", "600"], {"PATH": os.environ["PATH"]})
        wait_until("a process in a container's place", patience(10), lambda: len(owned(folder)) == len(cluster.daemons) + 1)
    check(not owned(folder), f"processes are left: {owned(folder)}")
    check(not folder.exists(), f"{folder} is left")
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
