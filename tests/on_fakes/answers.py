#!/usr/bin/env python3
"""Calls and answers that are lost, one kind after the other: the job does not notice, nothing runs twice and nothing is left.
Usage: answers.py BIN_DIR [CASE...]."""
import os
import signal

import fake_cluster  # noqa: F401  (finds tests/hadoop)
import cases
import verdict
from hadoop_processes import wait_until
from submitted import PATIENCE, all_work, waiting


def give(cluster, orders):
    for order in orders:
        cluster.order(order)


def from_the_start(*orders):
    """Faults that are there before the job is."""
    def case(cluster):
        give(cluster, orders)
        job = waiting(cluster).submit()
        all_work(job, 0)
        verdict.ended_well(job)
    return case


def in_mid_run(*orders):
    """Faults that a job meets while it runs."""
    def case(cluster):
        job = verdict.working(cluster)
        give(cluster, orders)
        wait_until("the end of the faults", PATIENCE, lambda: cluster.order("rules") == "")
        verdict.ended_well(job)
    return case


def at_the_end(*orders):
    """Faults that a job meets when it ends."""
    def case(cluster):
        job = verdict.working(cluster)
        give(cluster, orders)
        verdict.ended_well(job)
    return case


def agent_stopped(*orders):
    """The AM replaces an agent that sends nothing, and stops its container."""
    def case(cluster):
        job = verdict.working(cluster)
        give(cluster, orders)
        os.kill(job.processes("tfyarn-agent")[0], signal.SIGSTOP)
        all_work(job, 1)
        verdict.ended_well(job, attempts=(2, 2, 2), epochs=2)
    return case


def am_killed(*orders):
    """Its successor meets them when it takes the journal."""
    def case(cluster):
        job = verdict.told(verdict.working(cluster))
        master = job.masters()
        os.kill(master[0], signal.SIGKILL)
        give(cluster, orders)
        wait_until("another AM", PATIENCE, lambda: job.masters() and job.masters() != master)
        wait_until("the end of the faults", PATIENCE, lambda: cluster.order("rules") == "")
        verdict.ended_well(job, am_attempts=2)
    return case


CASES = {
    "new-application": from_the_start("drop-answers getNewApplication 2"),
    "submission": from_the_start("drop-answers submitApplication 2"),
    "submission-lost": from_the_start("drop-calls submitApplication 2"),
    "report": from_the_start("drop-answers getApplicationReport 3"),
    "registration": from_the_start("drop-answers registerApplicationMaster 1"),
    "registration-lost": from_the_start("drop-calls registerApplicationMaster 2"),
    # The one with the ask among them: its grants come again only to an AM that repeats its response id.
    "allocate": from_the_start("drop-answers allocate 6"),
    "allocate-lost": from_the_start("drop-calls allocate 6"),
    "start": from_the_start("drop-answers startContainers 2"),
    "start-lost": from_the_start("drop-calls startContainers 2"),
    "allocate-later": in_mid_run("drop-answers allocate 3", "drop-calls allocate 3", "delay allocate 2 1"),
    # An AM that asks again may find its attempt over, and is heard no more.
    "finish": at_the_end("drop-answers finishApplicationMaster 1"),
    "finish-lost": at_the_end("drop-calls finishApplicationMaster 2"),
    "stop": agent_stopped("drop-answers stopContainers 1"),
    "stop-lost": agent_stopped("drop-calls stopContainers 1"),
    "file": from_the_start("drop-answers CREATE 2", "drop-answers MKDIRS 1", "drop-answers GETFILESTATUS 1"),
    "journal": from_the_start("drop-answers SETXATTR 4"),
    "journal-lost": from_the_start("drop-calls SETXATTR 4"),
    "journal-taken-over": am_killed("drop-answers RENAME 1", "drop-answers GETXATTRS 1", "drop-answers LISTSTATUS 1",
                                    "drop-answers OPEN 1", "drop-answers CREATE 1"),
    "clean-up": at_the_end("drop-answers DELETE 1"),
}

if __name__ == "__main__":
    cases.run((CASES, {}))
