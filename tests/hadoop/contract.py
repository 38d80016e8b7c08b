#!/usr/bin/env python3
"""The contract suite (docs/fakes.md) against a real Hadoop, configured as the suite's fake cluster is. Usage: contract.py
TESTS_DIR [ARGUMENT of yarn_contract...]; exit code 77 without Hadoop."""
import os
import pathlib
import shlex
import subprocess
import sys

import hadoop_cluster

PREEMPTION = "yarn.resourcemanager.monitor.capacity.preemption"
# tests/contract/subject.h has the same numbers.
SETTINGS = (
    "yarn.resourcemanager.am.max-attempts=2",
    "yarn.resourcemanager.rm.container-allocation.expiry-interval-ms=30000",
    "yarn.nodemanager.sleep-delay-before-sigkill.ms=500",
    "yarn.resourcemanager.scheduler.monitor.enable=true",
    f"{PREEMPTION}.monitoring_interval=500",
    f"{PREEMPTION}.max_wait_before_kill=1500",
    f"{PREEMPTION}.total_preemption_per_round=1",
    f"{PREEMPTION}.natural_termination_factor=1",
)


def main():
    if what := hadoop_cluster.missing():
        print(f"skipped: {what}")
        return 77
    program = pathlib.Path(sys.argv[1]) / "yarn_contract"
    control = shlex.join([sys.executable, hadoop_cluster.__file__])
    with hadoop_cluster.Cluster.up(nodes=3, gpus=(0, 2, 4), partition=1, node_memory_mb=2048, node_vcores=8, heartbeat_ms=100,
                                   nm_expiry_ms=30000, am_expiry_ms=30000, settings=SETTINGS) as cluster:
        done = subprocess.run([program, "--gtest_brief=1", *sys.argv[2:]], check=False, env=os.environ | cluster.environment() | {
            "TFYARN_CONTRACT_RM": cluster.address("rm"), "TFYARN_CONTRACT_SCHEDULER": cluster.address("rm-scheduler"),
            "TFYARN_CONTRACT_CONTROL": control})
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
