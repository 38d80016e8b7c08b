#!/usr/bin/env python3
"""kill -9 of a task, an agent or the AM of real jobs, and what becomes of each. Usage: kills.py BIN_DIR [CASE...]"""
import os
import signal
import sys

from harness import Job, check, run_cases, wait_for

BIN = sys.argv[1]

# Two workers that work until a file appears; what they write says in which attempt they are.
WORKER = "echo attempt $TFYARN_ATTEMPT epoch $TFYARN_EPOCH port $TFYARN_PORT; while [ ! -e %s/shared/end ]; do sleep 0.05; done"


def two_workers(strategy, more=""):
    return Job(BIN, f"""\
name: kills
framework: generic
strategy: {strategy}
retries: {{user: 5}}
deadlines: {{blame: 1s, stop: 2s}}
{more}
tasks:
  worker: {{instances: 2, memory: 64MiB, command: [bash, -c, "{WORKER}"]}}
""")


def running(job, attempts):
    """Waits until every task writes from that attempt."""
    for task, attempt in attempts.items():
        job.wait_for_line(task, f"attempt {attempt} ")


def kill(pid):
    check(pid is not None, "nothing to kill")
    os.kill(pid, signal.SIGKILL)


def task_independent():
    """That process again, in its container, at its port; no other."""
    job = two_workers("independent").start("-q")
    running(job, {"worker:0": 0, "worker:1": 0})
    agents = job.agents()
    kill(job.process_of("worker:1"))
    running(job, {"worker:1": 1})
    check(job.agents() == agents, "the agents are others")
    result = job.finish()
    first, second = job.attempts("worker:1")
    check(first["exit"] == 137 and first["exit_class"] == "killed-external", f"{first}")
    check(first["container"] == second["container"], "another container")
    check(len(job.attempts("worker:0")) == 1, "worker:0 was disturbed")
    check(result["restarts"] == {"task": 1, "gang": 0, "job": 0}, f"{result['restarts']}")
    ports = {line.split()[-1] for line in job.log_text("worker:1").splitlines() if line.startswith("attempt")}
    check(len(ports) == 1, f"ports {ports}")
    job.close()


def task_multi_worker():
    """All again, in one epoch, in the same containers."""
    job = two_workers("multi-worker").start("-q")
    running(job, {"worker:0": 0, "worker:1": 0})
    agents = job.agents()
    kill(job.process_of("worker:1"))
    running(job, {"worker:0": 1, "worker:1": 1})
    check(job.agents() == agents, "the agents are others")
    result = job.finish()
    check(result["restarts"]["gang"] == 1 and result["epochs"] == 2, f"{result['restarts']}, epoch {result['epochs']}")
    causes = [order["cause"]["task"] for order in job.am_orders("RestartDecided")]
    check(causes == ["worker:1"], f"causes {causes}")
    check(job.attempts("worker:0")[0]["exit_class"] == "killed-by-us", f"{job.attempts('worker:0')[0]}")
    job.close()


def agent_independent():
    """Another container; the task's orphaned process is ended first."""
    job = two_workers("independent").start("-q")
    running(job, {"worker:0": 0, "worker:1": 0})
    orphan = job.process_of("worker:1")
    kill(job.agent_of("worker:1"))
    running(job, {"worker:1": 1})
    check(orphan not in [pid for pid, _ in job.descendants()], "the orphan lives beside its successor")
    job.finish()
    first, second = job.attempts("worker:1")
    check(first["container"] != second["container"], "the same container")
    check(len(job.attempts("worker:0")) == 1, "worker:0 was disturbed")
    job.close()


def master():
    """A new AM finds journal and agents; training does not notice."""
    job = two_workers("multi-worker").start("-q")
    running(job, {"worker:0": 0, "worker:1": 0})
    workers = [job.process_of("worker:0"), job.process_of("worker:1")]
    old = job.masters()
    kill(old[0])
    wait_for("another AM", lambda: job.masters() and job.masters() != old)
    check([job.process_of("worker:0"), job.process_of("worker:1")] == workers, "the workers are others")
    result = job.finish()
    check(result["am_attempts"] == 2, f"{result['am_attempts']} AM attempts")
    check(result["restarts"] == {"task": 0, "gang": 0, "job": 0}, f"{result['restarts']}")
    accepted = {event["container"] for event in job.events() if event["type"] == "AgentTold" and
                event["event"]["type"] == "AmSaid" and event["event"]["am_attempt"] == 2 and
                event["event"]["message"]["type"] == "AgentAccepted"}
    check(len(accepted) == 2, f"the second AM accepted {accepted}")
    job.close()


def master_too_often():
    """The attempts are spent: the job fails, and nothing is left."""
    job = two_workers("independent", "am: {attempts: 1}").start("-q")
    running(job, {"worker:0": 0, "worker:1": 0})
    kill(job.masters()[0])
    code = job.end()
    result = job.job()
    check(code == 10 and result["status"] == "FAILED", f"exit code {code}, {result['status']}")
    job.close()


def master_while_allocating():
    """Killed before it has asked for anything."""
    job = two_workers("multi-worker").start("-q")
    wait_for("an AM", job.masters)
    kill(job.masters()[0])
    running(job, {"worker:0": 0, "worker:1": 0})
    result = job.finish()
    check(result["am_attempts"] == 2, f"{result['am_attempts']} AM attempts")
    job.close()


def stopped_agent():
    """An agent that is stopped is missed after `missed` heartbeats and replaced."""
    job = two_workers("independent", "heartbeat: {every: 200ms, missed: 5}").start("-q")
    running(job, {"worker:0": 0, "worker:1": 0})
    os.kill(job.agent_of("worker:1"), signal.SIGSTOP)
    running(job, {"worker:1": 1})
    result = job.finish()
    check(job.attempts("worker:1")[0]["exit_class"] == "heartbeat-lost", f"{job.attempts('worker:1')[0]}")
    check(result["restarts"]["task"] == 1, f"{result['restarts']}")
    job.close()


CASES = {
    "task-independent": task_independent,
    "task-multi-worker": task_multi_worker,
    "agent-independent": agent_independent,
    "master": master,
    "master-too-often": master_too_often,
    "master-while-allocating": master_while_allocating,
    "stopped-agent": stopped_agent,
}

if __name__ == "__main__":
    run_cases(CASES, sys.argv[2:])
