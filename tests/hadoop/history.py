#!/usr/bin/env python3
"""What a job on a real cluster shows of itself: its page through YARN's web proxy, its history in HDFS, and the commands that read it.
Usage: history.py BIN_DIR [CASE...]; exit code 77 without Hadoop."""
import http.client
import json
import os
import pathlib
import re
import subprocess
import signal
import tempfile
import urllib.error
import urllib.request

import hadoop_web
from hadoop_processes import wait_until
from submitted import BIN, PATIENCE, Job, all_work, check, run_cases, tfyarn, waiting


def running_application(cluster):
    """The id of the one that runs."""
    def look():
        answer = hadoop_web.get(f"{cluster.rm_web}/apps?states=RUNNING") or {}
        return [each["id"] for each in (answer.get("apps") or {}).get("app", [])]
    return wait_until("a running application", PATIENCE, look)[0]


def get(url, method="GET"):
    """(status, headers, text); redirects are followed."""
    try:
        with hadoop_web.OPENER.open(urllib.request.Request(url, method=method), timeout=PATIENCE) as answer:
            return answer.status, answer.headers, answer.read().decode(errors="replace")
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode(errors="replace")


def proxied(cluster, application, name=""):
    return get(f"{cluster.rm_web.split('/ws/')[0]}/proxy/{application}/{name}")


def page(cluster):
    """YARN's tracking URL shows the job as it stands."""
    job = waiting(cluster).submit()
    all_work(job, 0)
    application = running_application(cluster)
    key = names(cluster, f"{home(cluster)}/staging/{application}")["authority.pem"]
    check(key["permission"] == "600", f"others may read the key: {key}")
    status, _, text = proxied(cluster, application)
    check(status == 200 and "live.js" in text, f"the page: {status} {text[:200]}")
    for name, word in (("live.js", "state.json"), ("live.css", "#log"), ("report.html", "application/json")):
        status, _, text = proxied(cluster, application, name)
        check(status == 200 and word in text, f"{name}: {status} {text[:200]}")
    status, _, text = proxied(cluster, application, "state.json")
    state = json.loads(text)
    check(state["name"] == "waiting" and state["state"] == "running" and state["am_attempt"] == 1, f"{state}")
    check([row["state"] for row in state["tasks"]] == ["running"] * 3, f"tasks: {state['tasks']}")
    check(state["logs_elsewhere"] and 0 < state["seconds"] < 600, f"{state}")
    check(any("the gang is complete: 3 containers" in event["text"] for event in state["events"]), f"events: {state['events']}")
    for row in state["tasks"]:
        status, _, text = get(f"{row['logs']}/{row['task'].replace(':', '-')}.attempt-0.stdout/?start=-65536")
        check(status == 200 and "Cannot find this log" not in text, f"{row['logs']}: {status} {text[:300]}")
    # A client that asks the AM itself needs its secret, and YARN's proxy changes nothing.
    answers = [get_plain(host, port) for host, port in listening(job.masters()[0])]
    check([each for each in answers if each] == [404], f"the page without its secret: {answers}")
    status, _, _ = get(f"{cluster.rm_web.split('/ws/')[0]}/proxy/{application}/state.json", "PUT")
    check(status == 405, f"PUT through the proxy: {status}")
    job.finish(restarts=[1, 1, 1])


def listening(pid):
    """(host, port) of the sockets at which a process listens."""
    inodes = {match.group(1) for link in pathlib.Path(f"/proc/{pid}/fd").iterdir()
              if (match := re.fullmatch(r"socket:\[(\d+)\]", os.readlink(link)))}
    rows = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return [("127.0.0.1", int(row[1].split(":")[1], 16)) for row in rows if row[3] == "0A" and row[9] in inodes]


def get_plain(host, port):
    """The status for /state.json; None where no HTTP is spoken."""
    try:
        return get(f"http://{host}:{port}/state.json")[0]
    except (OSError, http.client.HTTPException):
        return None


# ---- history

def home(cluster):
    return f"/user/{cluster.plan['user']}/.tfyarn"


def read(cluster, path):
    """A file of HDFS; None while there is none."""
    status, body = hadoop_web.webhdfs("GET", cluster.webhdfs, path, "OPEN", **{"user.name": cluster.plan["user"]})
    return body.decode() if status == 200 else None


def names(cluster, path):
    status, body = hadoop_web.webhdfs("GET", cluster.webhdfs, path, "LISTSTATUS", **{"user.name": cluster.plan["user"]})
    return {each["pathSuffix"]: each for each in json.loads(body)["FileStatuses"]["FileStatus"]} if status == 200 else {}


def attempt(cluster, application, number):
    return f"{home(cluster)}/history/{application}/attempt-{number}"


def result_of(cluster, application, number=1):
    """What it says of the job; nothing while it is being written."""
    text = read(cluster, f"{attempt(cluster, application, number)}/result.json")
    return json.loads(text)["jobs"][0] if text and text.endswith("}\n") else {}


def no_staging(cluster, application):
    wait_until("the end of the staging directory", PATIENCE, lambda: application not in names(cluster, f"{home(cluster)}/staging"))


def whole(cluster, application, number=1):
    """Until the AM has written its last word."""
    wait_until("the whole history", PATIENCE,
               lambda: result_of(cluster, application, number).get("status", "UNFINISHED") != "UNFINISHED")
    # The result is the last that is written.
    kept = names(cluster, attempt(cluster, application, number))
    check(set(kept) == {"events.jsonl", "journal", "result.json", "report.html", "job.yaml"}, f"files: {set(kept)}")
    check({each["permission"] for each in kept.values()} == {"600"}, f"permissions: {kept}")
    return result_of(cluster, application, number)


def submitted(job):
    """Without --wait: only the AM cleans up."""
    code, out, err = tfyarn(job.cluster.conf, "submit", str(job.folder / "job.yaml"), "-q")
    check(code == 0, f"submit: {code} {err}")
    return out.strip()


def until_told(cluster, application):
    """Until the history of the first attempt has each of three workers running. The AM hears of them in any order, and writes to the history
    later: of an AM that is killed earlier, the history lacks what it had not written."""
    def look():
        events = read(cluster, f"{attempt(cluster, application, 1)}/events.jsonl") or ""
        return all(f"worker:{index} runs" in events for index in range(3))
    wait_until("events of a running job", PATIENCE, look)


def told(cluster):
    """A job whose first attempt's history has it running, and its application."""
    job = waiting(cluster)
    application = submitted(job)
    all_work(job, 0)
    until_told(cluster, application)
    return job, application


def after_success(cluster):
    """Readable while it runs, whole at the end, and nothing else is left in HDFS."""
    job, application = told(cluster)
    code, out, _ = tfyarn(cluster.conf, "history", application)
    check(code == 0 and re.search(r"status +running", out) and re.search(r"name +waiting", out), f"history ID: {out}")
    code, out, _ = tfyarn(cluster.conf, "events", application)
    check(code == 0 and "worker:1 runs, attempt 0" in out, f"events: {code} {out}")
    follow = subprocess.Popen([str(BIN / "tfyarn"), "events", application, "-f"], text=True, stdout=subprocess.PIPE,
                              env={**os.environ, "HADOOP_CONF_DIR": str(cluster.conf)})
    (job.folder / "end").touch()
    check(tfyarn(cluster.conf, "wait", application)[0] == 0, "the job")
    result = whole(cluster, application)
    check(result["status"] == "SUCCEEDED" and result["application_id"] == application, f"{result}")
    no_staging(cluster, application)
    text = follow.communicate(timeout=PATIENCE)[0]
    check(follow.returncode == 0 and "succeeded" in text and text.count("AM attempt 1 starts") == 1, f"events -f: {text}")
    # YARN's own link leads to the report.
    status, _, text = get(f"{cluster.rm_web.split('/ws/')[0]}/proxy/{application}/")
    check(status == 200 and '"SUCCEEDED"' in text, f"the link after the end: {status} {text[:300]}")
    commands(cluster, application)


def commands(cluster, application):
    code, out, _ = tfyarn(cluster.conf, "history", "--json")
    first = json.loads(out)[0]
    check(code == 0 and (first["application"], first["status"], first["name"]) == (application, "succeeded", "waiting"), out)
    for words, there in ((("--status", "failed"), False), (("--name", "wait"), True), (("--name", "x"), False),
                         (("--since", "1"), True), (("--dir", f"{home(cluster)}/history/"), True)):
        code, out, _ = tfyarn(cluster.conf, "history", *words)
        check(code == 0 and (application in out) == there, f"history {words}: {code} {out}")
    with tempfile.TemporaryDirectory() as folder:
        code, out, err = tfyarn(cluster.conf, "history", application, "--out", f"{folder}/kept")
        files = {str(path.relative_to(f"{folder}/kept")) for path in pathlib.Path(f"{folder}/kept").rglob("*.*")}
        check(code == 0 and {"report.html", "result.json", "attempt-1/events.jsonl", "attempt-1/job.yaml"} <= files, f"{files} {err}")
    code, out, _ = tfyarn(cluster.conf, "events", application, "--json")
    lines = [json.loads(line) for line in out.splitlines()]
    check([line["seq"] for line in lines] == list(range(1, len(lines) + 1)) and (lines[0]["type"], lines[0]["name"]) == ("JobRunStarted", "waiting"), out[:300])
    code, _, err = tfyarn(cluster.conf, "history", application[:-4] + "9999")
    check(code == 3 and "no such history" in err, f"an unknown one: {code} {err}")
    code, _, err = tfyarn(cluster.conf, "history", "--user", "nobody-here")
    check(code == 3 and "/user/nobody-here/" in err, f"an unknown user: {code} {err}")


def after_failure(cluster):
    """And in a directory that the job names."""
    job = Job(cluster, """\
name: bad
framework: generic
retries: {user: 0}
history: {dir: /kept/here/}
tasks:
  worker: {memory: 128MiB, command: [bash, -c, 'exit 7']}
""")
    application = submitted(job)
    check(tfyarn(cluster.conf, "wait", application)[0] == 10, "the job")
    wait_until("the report", PATIENCE, lambda: "report.html" in names(cluster, f"/kept/here/{application}/attempt-1"))
    code, out, err = tfyarn(cluster.conf, "history", application, "--dir", "/kept/here", "--json")
    result = json.loads(out)["jobs"][0]
    check(code == 0 and result["status"] == "FAILED" and result["cause"]["exit"] == 7, f"{code} {result} {err}")
    no_staging(cluster, application)


def after_kill(cluster):
    """No AM says the last word; YARN knows how it ended, and the events say what was."""
    job, application = told(cluster)
    check(tfyarn(cluster.conf, "kill", application)[0] == 0, "kill")
    check(application not in names(cluster, f"{home(cluster)}/staging"), "its staging directory is left")
    code, out, _ = tfyarn(cluster.conf, "history", application)
    check(code == 0 and re.search(r"status +killed", out) and re.search(r"name +waiting", out), f"history ID: {out}")
    code, out, _ = tfyarn(cluster.conf, "history", "--status", "killed")
    check(code == 0 and application in out, f"history: {out}")
    with tempfile.TemporaryDirectory() as folder:
        code, _, err = tfyarn(cluster.conf, "history", application, "--out", folder)
        tasks = json.loads(pathlib.Path(folder, "result.json").read_text())["jobs"][0]["tasks"]
        check(code == 0 and len(tasks) == 3 and pathlib.Path(folder, "report.html").exists(), f"{code} {err} {tasks}")


def after_am_killed(cluster):
    """What the first attempt wrote stays; the second one's documents are of both."""
    job, application = told(cluster)
    wait_until("its first result", PATIENCE, lambda: read(cluster, f"{attempt(cluster, application, 1)}/result.json"))
    master = job.masters()
    os.kill(master[0], signal.SIGKILL)
    wait_until("another AM", PATIENCE, lambda: job.masters() and job.masters() != master)

    def page_of_both():
        status, _, text = proxied(cluster, application, "state.json")
        state = json.loads(text) if status == 200 and text.startswith("{") else {"events": [], "tasks": []}
        said = [event["text"] for event in state["events"]]
        return "AM attempt 1 starts" in said and "AM attempt 2 starts" in said and \
            [row["state"] for row in state["tasks"]] == ["running"] * 3
    wait_until("a page of both attempts", PATIENCE, page_of_both)
    (job.folder / "end").touch()
    check(tfyarn(cluster.conf, "wait", application)[0] == 0, "the job")
    result = whole(cluster, application, 2)
    check(result["status"] == "SUCCEEDED" and result["am_attempts"] == 2, f"{result}")
    check([len(task["attempts"]) for task in result["tasks"]] == [1, 1, 1], f"{result['tasks']}")
    check(result["started"] < result["finished"], f"{result}")
    check(result_of(cluster, application, 1)["status"] == "UNFINISHED", "the first attempt's own result")
    no_staging(cluster, application)


CASES = {"page": page, "after-success": after_success, "after-failure": after_failure, "after-kill": after_kill,
         "after-am-killed": after_am_killed}

if __name__ == "__main__":
    run_cases(CASES, nodes=3, gpus=(4,))
