#!/usr/bin/env python3
"""The WebHDFS client on a real HDFS; and again while one of its DataNodes is dead, and its NameNode starts again.

The only argument is the folder of the test programs. Exit code 77 where Hadoop is not installed.
"""
import os
import pathlib
import subprocess
import sys

import hadoop_cluster
from hadoop_processes import ClusterError, patience

PROGRAM = pathlib.Path(sys.argv[1]).resolve() / "webhdfs_on_hadoop"


def start(cluster, cases="*"):
    around = os.environ | cluster.environment() | {"HADOOP_CLUSTER_USER": cluster.plan["user"]}
    return subprocess.Popen([PROGRAM, f"--gtest_filter={cases}", "--gtest_brief=1"], env=around)


def check(what, process):
    if process.wait(patience(200)):
        raise ClusterError(f"{what}: the client's tests fail")
    print(f"{what}: ok", flush=True)


def main():
    if what := hadoop_cluster.missing():
        print(f"skipped: {what}")
        return 77
    with hadoop_cluster.Cluster.up(nodes=0, datanodes=2) as cluster:
        check("HDFS at rest", start(cluster))
        # The NameNode takes it for alive for some seconds, and sends its clients to it.
        cluster.kill("dn1")
        check("a DataNode is dead", start(cluster, "*Known:*Fences*"))
        cluster.start("dn1")
        cluster.kill("nn")
        running = start(cluster, "*Known:*Fences*")
        cluster.start("nn")
        check("the NameNode starts again", running)
    return 0


if __name__ == "__main__":
    sys.exit(main())
