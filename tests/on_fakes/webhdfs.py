#!/usr/bin/env python3
"""The cases of tests/hadoop/webhdfs_on_hadoop.cc, that a real HDFS passes, on the fake one. The only argument is the folder of our
programs."""
import os
import subprocess
import sys

import fake_cluster
from hadoop_processes import patience


def main():
    if what := fake_cluster.missing():
        print(f"skipped: {what}")
        return 77
    with fake_cluster.Cluster.up(nodes=1) as cluster:
        around = os.environ | {"HADOOP_CLUSTER_WEBHDFS": cluster.webhdfs, "HADOOP_CLUSTER_USER": cluster.plan["user"]}
        program = fake_cluster.program().parent / "webhdfs_on_hadoop"
        return subprocess.run([program, "--gtest_brief=1"], env=around, timeout=patience(200), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
