#!/usr/bin/env python3
"""Secrets of a job reach its processes, and nothing that a run shows or leaves. Usage: kept_secrets.py BIN_DIR [CASE...]"""
import hashlib
import json
import pathlib
import subprocess
import sys
import urllib.request

from harness import Job, check, run_cases, wait_for

BIN = sys.argv[1]
# By the variable that holds each: in `env`, in a task type's, in `secrets` from the environment and from a file.
PLANTED = {"API_TOKEN": "planted-env-4711", "db_password": "planted 'type\" $4712", "SESSION": "planted-variable-4713",
           "CERTIFICATE": "planted-file-4714\nsecond planted line 4715"}
TEXT = """\
name: kept
framework: generic
strategy: independent
retries: {user: 1}
env: {API_TOKEN: planted-env-4711, PLAIN: seen}
secrets:
  SESSION: {env: SUBMITTED_SESSION}
  CERTIFICATE: {file: certificate.txt}
tasks:
  worker:
    memory: 64MiB
    env: {db_password: "planted 'type\\" $4712"}
    command: [python3, "%s/task.py", "%s/shared"]
"""
# It says at its first end what it knows, as a traceback does.
TASK = """\
import hashlib, json, os, pathlib, sys, time
shared = pathlib.Path(sys.argv[1])
names = ["API_TOKEN", "db_password", "SESSION", "CERTIFICATE"]
attempt = os.environ["TFYARN_ATTEMPT"]
seen = {name: hashlib.sha256(os.environ[name].encode()).hexdigest() for name in names}
(shared / ("part-" + attempt)).write_text(json.dumps(seen))
os.rename(shared / ("part-" + attempt), shared / ("seen-" + attempt))
if attempt == "0":
    sys.exit("refused: " + " ".join(os.environ[name] for name in names))
while not (shared / "end").exists():
    time.sleep(0.02)
"""
ENVIRONMENT = {"SUBMITTED_SESSION": PLANTED["SESSION"]}


def kept():
    return Job(BIN, TEXT, {"task.py": TASK, "certificate.txt": PLANTED["CERTIFICATE"] + "\n"})


def check_hidden(text, where):
    data = text if isinstance(text, bytes) else text.encode()
    for value in PLANTED.values():
        for line in value.split("\n"):
            # As in JSON, too.
            for form in (line, json.dumps(line)[1:-1]):
                check(form.encode() not in data, f"{where} has {line}")


def page_of(job):
    wait_for("the page's address", lambda: (job.out / "page").exists() and (job.out / "page").read_text().endswith("\n"))
    address = (job.out / "page").read_text().strip()
    # The machine's proxies are not for it.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    base = address if address.endswith("/") else address + "/"
    return {name: opener.open(base + name, timeout=60).read() for name in ("", "state.json", "report.html")}


def run():
    """The values come as they are, and are in no file but what the program itself wrote."""
    job = kept()
    job.start("-q", environment=ENVIRONMENT)
    wait_for("the second attempt", lambda: (job.shared / "seen-1").exists())
    for name, content in page_of(job).items():
        check_hidden(content, f"the page's /{name}")
    result = job.finish()
    want = {name: hashlib.sha256(value.encode()).hexdigest() for name, value in PLANTED.items()}
    for attempt in (0, 1):
        check(json.loads((job.shared / f"seen-{attempt}").read_text()) == want, f"attempt {attempt} has found other values")
    check_hidden(job.output, "what `tfyarn run` says")
    files = [path for path in job.out.rglob("*") if path.is_file() and path.name != "worker-0.attempt-0.stderr"]
    check({"result.json", "report.html", "events.jsonl", "journal", "job.yaml"} <= {path.name for path in files}, f"{files}")
    check(sum(path.suffix == ".record" for path in files) >= 4, f"recordings: {files}")
    for path in files:
        check_hidden(path.read_bytes(), path.relative_to(job.out))
    check(any("refused: ***" in json.dumps(event) for event in job.events()), "the process's words are not among the events")
    check("API_TOKEN" in (job.out / "job.yaml").read_text() and "PLAIN: seen" in (job.out / "job.yaml").read_text(), "job.yaml")
    check(len(result["tasks"][0]["attempts"]) == 2, f"{result['tasks']}")
    # Stars are no value: what is left of a job is not run again as if it were whole.
    again = subprocess.run([job.program, "run", str(job.out / "job.yaml"), "--dry-run"], capture_output=True, text=True,
                           check=False, env={**ENVIRONMENT, "PATH": "/usr/bin:/bin"})
    check(again.returncode == 3 and "API_TOKEN has stars in place of its value" in again.stderr, again.stderr)
    job.close()


def json_result():
    job = kept()
    (job.shared / "end").touch()
    code = job.run("--json", environment=ENVIRONMENT)
    check(code == 0, f"exit code {code}: {job.output}")
    check_hidden(job.output, "--json")
    job.close()


def shown():
    """`render` and every error: with a value of the wrong kind, with a file that is no YAML, with --set."""
    job = kept()
    path = pathlib.Path(job.folder / "job.yaml")

    def said(*words):
        done = subprocess.run([job.program, *words], cwd=job.folder, capture_output=True, text=True, check=False)
        check_hidden(done.stdout + done.stderr, " ".join(words[:2]))
        return done.stdout + done.stderr

    text = said("render", "job.yaml")
    check(all(f"{name}=***" in text for name in PLANTED) and "PLAIN=seen" in text, text)
    whole = path.read_text()
    for old, new, word in (("name: kept", "name: [kept]", "name"),
                           ("PLAIN: seen}", "PLAIN: seen, PLAIN: twice}", "here twice"),
                           ("PLAIN: seen}", "PLAIN: seen", "not closed"),
                           ("env: {API_TOKEN:", "env: {nothing here, 1A: 5, API_TOKEN:", "name of a variable")):
        check(old in whole, old)
        path.write_text(whole.replace(old, new))
        text = said("render", "job.yaml")
        check("error" in text and word in text, f"{new}: {text}")
    path.write_text(whole)
    for words in (["--set", "env.API_TOKEN.x=1"], ["--set", "env.API_TOKEN=[planted-env-4711]"],
                  ["--set", "env.API_TOKEN='planted-env-4711"]):
        text = said("render", "job.yaml", *words)
        check("error" in text, text)
    job.close()


def missing():
    """What a secret is to be read from is said before anything starts."""
    job = kept()
    (job.folder / "certificate.txt").unlink()
    job.refused("secrets.SESSION: the variable SUBMITTED_SESSION is not set", "secrets.CERTIFICATE: the file certificate.txt cannot be read")


CASES = {"run": run, "json": json_result, "shown": shown, "missing": missing}

if __name__ == "__main__":
    run_cases(CASES, sys.argv[2:])
