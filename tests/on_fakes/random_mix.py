#!/usr/bin/env python3
"""Jobs that meet several faults at random moments, each of which alone a job does not notice: it still ends well, no task began twice, and
nothing is left. Usage: random_mix.py BIN_DIR [RUNS [SEED]]; the seed is printed."""
import functools
import random
import sys
import time

import fake_cluster  # noqa: F401  (finds tests/hadoop)
import cases
import verdict
from hadoop_processes import ClusterError, wait_until
from history import names
from submitted import PATIENCE, all_work, waiting

RUNS = int(sys.argv[2]) if len(sys.argv) > 2 else 3
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randrange(1 << 30)

CALLS = ("getApplicationReport", "registerApplicationMaster", "allocate", "finishApplicationMaster", "startContainers",
         "stopContainers", "submitApplication", "getNewApplication")
FILES = ("CREATE", "APPEND", "SETXATTR", "GETXATTRS", "RENAME", "GETFILESTATUS", "LISTSTATUS", "MKDIRS", "DELETE", "OPEN")


def draw_call(draw, names):
    """The AM repeats for 3 s in one place, which is four calls at least."""
    kind = draw.choice(["drop-calls", "drop-answers", "delay"])
    order = f"{kind} {draw.choice(names)} {draw.randrange(1, 4)}"
    return f"{order} {draw.randrange(1, 3)}" if kind == "delay" else order


def draw_fault(draw):
    kind = draw.choice(["call", "call", "file", "rm", "hdfs", "nm"])
    if kind in ("rm", "hdfs"):
        return f"away {kind} {draw.randrange(1, 5)}"
    if kind == "nm":
        return f"away nm{draw.randrange(1, 4)} 1"
    return draw_call(draw, CALLS if kind == "call" else FILES)


class Case:
    """Two faults before the submission, one while the tasks run, one at the end: that one is not HDFS's, for which an AM that ends waits
    for 5 s only."""

    def __init__(self, draw):
        self.early = [draw_fault(draw), draw_fault(draw)]
        self.after = draw.random()
        self.late = draw_fault(draw)
        self.last = draw.choice([draw_call(draw, CALLS), f"away rm {draw.randrange(1, 5)}"])

    def __str__(self):
        return f"{'; '.join(self.early)}; after {self.after:.2f} s {self.late}; at the end {self.last}"


def answers(cluster):
    """Whether HDFS is there."""
    try:
        return bool(names(cluster, "/"))
    except ClusterError:
        return False


def run(cluster, case):
    job = waiting(cluster)
    for order in case.early:
        cluster.order(order)
    job.submit()
    all_work(job, 0)
    time.sleep(case.after)  # When it strikes is what is random, not what the test waits for.
    cluster.order(case.late)
    time.sleep(1)
    cluster.order("clear")
    wait_until("HDFS", PATIENCE, lambda: answers(cluster))
    cluster.order(case.last)
    # What no call meets is no fault.
    verdict.ended_well(job, all_met=False)


if __name__ == "__main__":
    print(f"seed {SEED}, {RUNS} runs; again: random_mix.py BIN_DIR {RUNS} {SEED}", flush=True)
    source = random.Random(SEED)
    drawn = [Case(source) for _ in range(RUNS)]
    sys.argv[2:] = []
    cases.run(({f"run {number}: {case}": functools.partial(run, case=case) for number, case in enumerate(drawn)}, {}))
