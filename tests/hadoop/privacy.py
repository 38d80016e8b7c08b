#!/usr/bin/env python3
"""What a job on a cluster keeps from others: its files in HDFS and on nodes from other users, its secrets from all.
Usage: privacy.py BIN_DIR [CASE...]; exit code 77 without Hadoop."""
import hashlib
import json
import os
import pathlib
import stat
import tempfile

import hadoop_web
from hadoop_processes import wait_until
from history import attempt, home, names, no_staging, whole
from submitted import PATIENCE, Job, check, run_cases, tfyarn

STRANGER = "stranger"
# By the variable that holds each: in `env`, in a task type's, in `secrets` from the environment and from a file.
PLANTED = {"API_TOKEN": "planted-env-4711", "db_password": "planted-type-4712", "SESSION": "planted-variable-4713",
           "CERTIFICATE": "planted-file-4714"}
# NodeManagers keep these from other users: the credentials of a container, and what its program itself has written.
MAY_HOLD = ("container_tokens", ".tokens", ".attempt-0.stderr")
TEXT = """\
name: private
framework: generic
strategy: independent
retries: {user: 1}
env: {API_TOKEN: planted-env-4711}
files: [data.txt]
secrets:
  SESSION: {env: SUBMITTED_SESSION}
  CERTIFICATE: {file: certificate.txt}
tasks:
  worker:
    memory: 128MiB
    env: {db_password: planted-type-4712}
    command:
    - bash
    - -c
    - 'words="$API_TOKEN $db_password $SESSION $CERTIFICATE"; echo "$words" | sha256sum > %s/seen-$TFYARN_ATTEMPT.part;
       mv %s/seen-$TFYARN_ATTEMPT.part %s/seen-$TFYARN_ATTEMPT;
       if [ $TFYARN_ATTEMPT = 0 ]; then echo "refused: $words" >&2; exit 1; fi;
       while [ ! -e %s/end ]; do sleep 0.1; done'
"""


def planted_in(data):
    return [value for value in PLANTED.values() if value.encode() in data]


def check_hidden(data, where):
    data = data.encode() if isinstance(data, str) else data
    check(not planted_in(data), f"{where} has {planted_in(data)}")


def in_hdfs(cluster, folder):
    """Every file and directory below it, as (path, whether it is a directory)."""
    for name, status in names(cluster, folder).items():
        path = f"{folder}/{name}"
        yield path, status["type"] == "DIRECTORY"
        if status["type"] == "DIRECTORY":
            yield from in_hdfs(cluster, path)


def ask(cluster, user, path, operation, **more):
    return hadoop_web.webhdfs("GET", cluster.webhdfs, path, operation, **{"user.name": user, **more})


def check_hdfs(cluster, wanted):
    """The owner finds no secret, and another user finds nothing. `wanted`: ends of paths that are there."""
    found = list(in_hdfs(cluster, home(cluster)))
    for end in wanted:
        check(any(path.endswith(end) for path, _ in found), f"no {end} among {found}")
    for path, is_directory in found:
        operation = "LISTSTATUS" if is_directory else "OPEN"
        status, body = ask(cluster, STRANGER, path, operation)
        # One that is gone by now tells nothing either.
        check(status in (403, 404), f"{STRANGER} may {operation} {path}: {status}")
        if not is_directory and "/runtime/" not in path:
            check_hidden(ask(cluster, cluster.plan["user"], path, operation)[1], path)
        check_attributes(cluster, path)


def check_attributes(cluster, path):
    """The journal is in them, and so are the files that a start needs."""
    status, body = ask(cluster, cluster.plan["user"], path, "GETXATTRS", encoding="hex")
    if status == 404:
        return
    check(status == 200, f"attributes of {path}: {status}")
    for attribute in json.loads(body)["XAttrs"]:
        value = attribute.get("value") or "0x"
        check_hidden(bytes.fromhex(value.removeprefix("0x")), f"attribute {attribute['name']} of {path}")


def others_reach(path, top):
    """Whether a user who is neither owner nor of the group can read it, from `top` down."""
    if not path.lstat().st_mode & stat.S_IROTH:
        return False
    while path != top:
        path = path.parent
        if not path.stat().st_mode & stat.S_IXOTH:
            return False
    return True


def check_nodes(cluster, application):
    """Files of the job on its nodes."""
    seen = 0
    for path in cluster.folder.rglob("*"):
        # The ResourceManager keeps an application's credentials in its state store (docs/yarn.md).
        if path.relative_to(cluster.folder).parts[0].startswith("rm"):
            continue
        if application not in str(path) or path.is_symlink() or not path.is_file():
            continue
        try:
            data = path.read_bytes()
            reached = others_reach(path, cluster.folder)
        except FileNotFoundError:
            continue
        seen += 1
        check(not reached, f"others may read {path}")
        check(path.name.endswith(MAY_HOLD) or not planted_in(data), f"{path} has {planted_in(data)}")
    check(seen >= 4, f"{seen} files of {application} on nodes")


def check_processes(job):
    for word in ("tfyarn-am", "tfyarn-agent"):
        found = job.processes(word)
        check(found, f"no {word} runs")
        for pid in found:
            for name in ("cmdline", "environ"):
                check_hidden(pathlib.Path(f"/proc/{pid}/{name}").read_bytes(), f"{name} of {word}")


def check_words(cluster, application):
    """Of every command that tells of a job."""
    for words in (("status", application, "--json"), ("events", application), ("events", application, "--json"), ("list", "--json"),
                  ("history", application, "--json"), ("logs", application, "--stream", "agent"), ("logs", application, "--stream", "am")):
        code, out, err = tfyarn(cluster.conf, *words)
        check(code in (0, 7), f"{words}: {code} {err}")
        check_hidden(out + err, " ".join(words))
    with tempfile.TemporaryDirectory() as folder:
        code, _, err = tfyarn(cluster.conf, "history", application, "--out", f"{folder}/kept")
        check(code == 0, err)
        files = [path for path in pathlib.Path(folder).rglob("*") if path.is_file()]
        check(len(files) >= 5, f"{files}")
        for path in files:
            check_hidden(path.read_bytes(), path.name)


def private(cluster):
    os.environ["SUBMITTED_SESSION"] = PLANTED["SESSION"]
    job = Job(cluster, TEXT)
    (job.folder / "certificate.txt").write_text(PLANTED["CERTIFICATE"] + "\n")
    (job.folder / "data.txt").write_text("of the user\n")
    code, out, err = tfyarn(cluster.conf, "render", str(job.folder / "job.yaml"))
    check(code == 0 and "SESSION=***" in out, f"render: {out} {err}")
    check_hidden(out + err, "render")
    job.submit()
    job.wait_for("seen-1")
    application, = names(cluster, f"{home(cluster)}/staging")
    wait_until("the process's words in the history", PATIENCE, lambda: b"refused: ***" in ask(
        cluster, cluster.plan["user"], f"{attempt(cluster, application, 1)}/events.jsonl", "OPEN")[1])
    check_hdfs(cluster, ("/job.yaml", "/files/data.txt", "/cluster-facts", "/authority.pem", "/events.jsonl"))
    check_nodes(cluster, application)
    check_processes(job)
    (job.folder / "end").touch()
    code, said = job.end()
    check(code == 0 and said["status"] == "succeeded", f"exit code {code}: {said}")
    check_hidden(json.dumps(said), "submit --wait --json")
    result = whole(cluster, application)
    no_staging(cluster, application)
    check(len(result["tasks"][0]["attempts"]) == 2, f"{result['tasks']}")
    seen = {(job.folder / f"seen-{number}").read_text() for number in (0, 1)}
    check(len(seen) == 1, f"attempts have seen different values: {seen}")
    check(hashlib.sha256((" ".join(PLANTED.values()) + "\n").encode()).hexdigest() in seen.pop(), "the task has found other values")
    check_hdfs(cluster, ("/report.html", "/result.json"))
    check_words(cluster, application)


CASES = {"private": private}

if __name__ == "__main__":
    run_cases(CASES)
