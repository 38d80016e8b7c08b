#!/usr/bin/env python3
"""What doctor and trials of submissions find on a healthy cluster, one of whose two nodes is an exclusive partition: the same on every
version of Hadoop (TFYARN_HADOOP_VERSION; the versions differ in what they say of queues). Usage: versions.py BIN_DIR [CASE...]; exit
code 77 without that Hadoop."""
from client import asking, doctor, expect
from hadoop_cluster import VERSION
from submitted import check, run_cases, tfyarn

NODE = "8 GiB, 32 vcores"


def a_healthy_cluster(cluster):
    said = doctor(cluster.conf, 0)
    wrong = {subject: line for subject, line in said.items() if line["state"] != "ok"}
    check(not wrong, f"doctor finds {wrong}")
    for subject in ("queue root.default", "queue root.batch", "nodes", "what is scheduled by", "HDFS", "clocks", "logs"):
        check(subject in said, f"no '{subject}' in {sorted(said)}")
    check(said["queue root.batch"]["text"].startswith("30 % of the cluster, at most 100 %"), f"{said['queue root.batch']}")
    check(said["GPUs"]["text"] == "4 on 1 of 2 nodes" and said["node labels"]["text"] == "gpu", f"{said}")


def trials(cluster):
    """Neither what the queue may use at most nor what is free counts the partition for those who cannot use it."""
    def trial(code, file, *words):
        return expect(tfyarn(cluster.conf, "submit", str(file), "--dry-run=cluster", *words), code)

    def says(text, *parts):
        for part in parts:
            check(part in text, f"no '{part}' in: {text}")
    says(trial(0, asking(gpus=0)), "fits now", f"largest container {NODE}; queue 'default' at most {NODE}\n",
         f"of {NODE} that are free")
    says(trial(0, asking(gpus=2, instances=2), "--set", "tasks.worker.node_label=gpu"), "fits now",
         f"largest container {NODE}, 4 GPUs; queue 'default' at most {NODE}, {NODE}, 4 GPUs of partition gpu\n",
         "of 16 GiB, 64 vcores, 4 GPUs that are free")
    says(trial(3, asking(gpus=0, instances=2), "--set", "tasks.worker.memory=5GiB"), "can never fit", "in the default partition")
    says(trial(3, asking()), "can never fit", "largest node of the default partition has 0")
    says(trial(3, asking(more="queue: nowhere")), "queue 'nowhere' does not exist")


CASES = {"healthy": a_healthy_cluster, "trials": trials}

if __name__ == "__main__":
    print(f"Hadoop {VERSION or 'of pom.xml'}", flush=True)
    run_cases(CASES, nodes=2, gpus=(0, 4), partition=1)
