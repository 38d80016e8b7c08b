#!/usr/bin/env python3
"""What the history says of a job whose client has just seen the end: the same as the client, in whatever order it was written, and when
no AM could say the last word. Usage: ended.py BIN_DIR [CASE...]."""
import json
import os
import signal

import fake_cluster  # noqa: F401  (finds tests/hadoop)
import cases
import client
import verdict
from hadoop_processes import wait_until
from history import home, names
from submitted import PATIENCE, Job, check, records, tfyarn

VERDICTS = {0: "passed", 10: "failed", 11: "failed"}


def told(conf, application):
    """result.json, as `tfyarn history ID --json` prints it."""
    code, out, err = tfyarn(conf, "history", application, "--json")
    check(code == 0, f"history: {code} {err}")
    return json.loads(out)


def same(conf, application, code, status, diagnostics):
    result = told(conf, application)
    seen = (result["exit_code"], result["verdict"], result["jobs"][0]["status"], result["jobs"][0]["diagnostics"])
    check(seen == (code, VERDICTS[code], status.upper(), diagnostics), f"{seen}, and the client {(code, status, diagnostics)}")
    code, out, err = tfyarn(conf, "history", application)
    check(code == 0 and f"status       {status}" in out, f"history ID: {code} {out} {err}")
    return result


def as_waited(job, code, status):
    """Right after `submit --wait` has ended."""
    found, said = job.end()
    check((found, said["status"]) == (code, status), f"exit code {found}: {said}")
    return said["application"], same(job.cluster.conf, said["application"], code, status, said["diagnostics"])


def without_yarn(cluster, application, code, status, diagnostics):
    """When the ResourceManager has forgotten the application: here it is not there."""
    with client.changed(cluster, {"yarn.resourcemanager.address": "127.0.0.1:1"}) as conf:
        same(conf, application, code, status, diagnostics)


def small(cluster, command, more=""):
    return Job(cluster, f"name: small\nframework: generic\n{more}\nretries: {{user: 0}}\n"
                        f"tasks: {{worker: {{memory: 128MiB, command: [bash, -c, '{command}']}}}}\n").submit()


def succeeded(cluster):
    _, result = as_waited(small(cluster, "true"), 0, "succeeded")
    exits = [each["exit"] for task in result["jobs"][0]["tasks"] for each in task["attempts"]]
    check(exits == [0], f"ends of tasks: {exits}")


def failed(cluster):
    _, result = as_waited(small(cluster, "exit 7"), 10, "failed")
    check(result["jobs"][0]["cause"]["exit"] == 7, f"{result['jobs'][0]['cause']}")


def last_word_late(cluster):
    """HDFS takes what the AM writes at its end only seconds later."""
    job = verdict.working(cluster)
    cluster.order("delay CREATE 4 2")
    (job.folder / "end").touch()
    as_waited(job, 0, "succeeded")
    cluster.order("clear")


def last_events_late(cluster):
    """`events` has all lines of a job whose client has just seen the end."""
    job = verdict.working(cluster)
    cluster.order("delay APPEND 3 4")
    (job.folder / "end").touch()
    code, said = job.end()
    check(code == 0, f"exit code {code}: {said}")
    seen = records(cluster.conf, said["application"])
    cluster.order("clear")
    same(cluster.conf, said["application"], code, "succeeded", said["diagnostics"])
    missing = len(records(cluster.conf, said["application"])) - len(seen)
    check(missing == 0, f"{missing} lines were missing")


def history_begun_late(cluster):
    """`events` has all lines of a job whose AM has not begun its history when its client sees the end."""
    job = verdict.working(cluster)
    cluster.order("drop-calls MKDIRS 2")
    (job.folder / "end").touch()
    code, said = job.end()
    check(code == 0, f"exit code {code}: {said}")
    seen = records(cluster.conf, said["application"])
    cluster.order("clear")
    check(seen[-1]["type"] == "AmOrdered" and seen[-1]["action"]["type"] == "ExitAm", f"the last line of {len(seen)}: {seen[-1]}")


def kill_each_am(job, count):
    """As soon as it is there."""
    killed = set()
    while len(killed) < count:
        wait_until("the next AM", PATIENCE, lambda: set(job.masters()) - killed)
        for pid in set(job.masters()) - killed:
            os.kill(pid, signal.SIGKILL)
            killed.add(pid)


def ams_killed(cluster):
    """While tasks run. What YARN says of the end stays, when YARN has forgotten it."""
    job = verdict.told(verdict.working(cluster, more="am: {attempts: 2}"))
    kill_each_am(job, 2)
    application, result = as_waited(job, 10, "failed")
    check(len(result["jobs"][0]["tasks"]) == 3, f"{result['jobs'][0]['tasks']}")
    without_yarn(cluster, application, 10, "failed", result["jobs"][0]["diagnostics"])


def ams_killed_at_once(cluster):
    """Before one of them has written a word: YARN alone tells of the job."""
    job = small(cluster, "sleep 600", "am: {attempts: 2}")
    kill_each_am(job, 2)
    application, result = as_waited(job, 10, "failed")
    check(result["jobs"][0]["name"] == "small", f"{result['jobs'][0]}")
    without_yarn(cluster, application, 10, "failed", result["jobs"][0]["diagnostics"])


def killed(cluster):
    """By another client, in a directory of the job's own; the first to see the end keeps it."""
    place = f"/user/{cluster.plan['user']}/kept"
    job = verdict.working(cluster, more=f"history: {{dir: {place}}}")
    application, = names(cluster, f"{home(cluster)}/staging")
    client.expect(tfyarn(cluster.conf, "kill", application), 0)
    code, said = job.end()
    check((code, said["status"]) == (11, "killed"), f"{code} {said}")
    kept = names(cluster, f"{place}/{application}")
    check({"result.json", "report.html"} <= set(kept), f"files: {set(kept)}")
    check(all(kept[name]["permission"] == "600" for name in ("result.json", "report.html")), f"rights: {kept}")
    code, out, err = tfyarn(cluster.conf, "history", application, "--dir", place, "--json")
    result = json.loads(out)
    check(code == 0 and result["exit_code"] == 11 and result["jobs"][0]["diagnostics"] == said["diagnostics"], f"{code} {out} {err}")
    listed = client.expect(tfyarn(cluster.conf, "history", "--dir", place, "--status", "killed"), 0)
    check(application in listed, f"{listed}")


CASES = {"ams-killed": ams_killed, "ams-killed-at-once": ams_killed_at_once, "killed": killed, "last-word-late": last_word_late,
         "last-events-late": last_events_late, "history-begun-late": history_begun_late, "succeeded": succeeded, "failed": failed}

if __name__ == "__main__":
    cases.run((CASES, {}))
