#!/usr/bin/env python3
"""Everything that a run leaves behind, read as its users would: JUnit by an XML parser, CSV by a CSV reader, the trace as
Perfetto nests it, events.jsonl line by line. Good runs, failing ones, and many at once.

Usage: check_artifacts.py TFSIM SOURCE_DIRECTORY
"""
import csv
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from collections import defaultdict

KINDS = {"expectation", "invariant", "job", "run"}


def check(condition, what):
    if not condition:
        sys.exit("FAIL " + what)


def check_junit(path, name):
    root = xml.parse(path).getroot()
    check(root.tag == "testsuites", f"{name}: root of the JUnit file")
    for suite in root:
        cases = list(suite)
        count = lambda tag: sum(case.find(tag) is not None for case in cases)
        check(suite.tag == "testsuite" and suite.get("name"), f"{name}: a named testsuite")
        check(all(case.tag == "testcase" and case.get("name") and case.get("classname") in KINDS and float(case.get("time")) >= 0
                  for case in cases), f"{name}: named testcases")
        for attribute, value in (("tests", len(cases)), ("failures", count("failure")), ("skipped", count("skipped")), ("errors", 0)):
            check(suite.get(attribute) == str(value) and root.get(attribute) == str(value), f"{name}: JUnit's {attribute} is {value}")
    if shutil.which("xmllint"):
        check(subprocess.run(["xmllint", "--noout", path]).returncode == 0, f"{name}: xmllint")
    return root


def read_csv(path, name):
    data = pathlib.Path(path).read_bytes()
    check(data.endswith(b"\r\n"), f"{name}: lines of {path} end as RFC 4180 says")
    rows = list(csv.reader(data.decode().splitlines(keepends=True), strict=True))
    check(all(len(row) == len(rows[0]) for row in rows), f"{name}: every row of {path} has all cells")
    check(len(set(rows[0])) == len(rows[0]), f"{name}: titles of {path} are different")
    return [dict(zip(rows[0], row)) for row in rows[1:]]


def check_csv(directory, result, name):
    jobs = read_csv(directory / "jobs.csv", name)
    check([row["name"] for row in jobs] == [job["name"] for job in result["jobs"]], f"{name}: jobs of jobs.csv")
    for row, job in zip(jobs, result["jobs"]):
        cell = lambda title: float(row[title]) if row[title] else None
        for title in ("queue_wait_seconds", "gang_wait_seconds", "jct_seconds", "lost_work_seconds"):
            check(cell(title) == job[title], f"{name}: {title} of {job['name']}")
        check(cell("submitted_seconds") == job["submitted"], f"{name}: submitted_seconds of {job['name']}")
        micros = [round(cell(f"time_{stage}_seconds") * 1e6) for stage in job["time_seconds"]]
        end = job["finished"] if job["finished"] is not None else result["simulated_seconds"]
        check(sum(micros) == round(end * 1e6) - round(job["submitted"] * 1e6), f"{name}: the stages of {job['name']} sum to its time")
        check(row["status"] == job["status"] and row["diagnostics"] == job["diagnostics"], f"{name}: status of {job['name']}")
    attempts = [attempt for job in result["jobs"] for task in job.get("tasks", []) for attempt in task["attempts"]]
    check(len(read_csv(directory / "attempts.csv", name)) == len(attempts), f"{name}: rows of attempts.csv")


def check_trace(path, result, name):
    events = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))["traceEvents"]
    tracks = defaultdict(list)
    for event in events:
        check(event["ph"] in "XMi", f"{name}: kind of a trace event")
        if event["ph"] == "X":
            check(event["dur"] >= 0 and 0 <= event["ts"] and event["ts"] + event["dur"] <= result["simulated_seconds"] * 1e6 + 1,
                  f"{name}: a span lies within the run")
            tracks[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"], event["name"]))
    named = {(event["pid"], event["tid"]) for event in events if event["ph"] == "M" and event["name"] == "thread_name"}
    check(set(tracks) <= named, f"{name}: every track has a name")
    for track, spans in tracks.items():
        open_until = []
        for begin, end, what in sorted(spans, key=lambda span: (span[0], -span[1])):
            while open_until and open_until[-1] <= begin:
                open_until.pop()
            check(not open_until or end <= open_until[-1], f"{name}: {what} on track {track} crosses another span")
            open_until.append(end)
    check(sum(event["ph"] == "i" for event in events) == len(result["faults"]), f"{name}: a mark for each fault")


def check_events(path, result, name):
    last, count = 0, 0
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            event = json.loads(line)
            check(event["at_ns"] >= last and round(event["at"] * 1e9) == event["at_ns"], f"{name}: time of an event")
            last, count = event["at_ns"], count + 1
    check(count == result["records"], f"{name}: events.jsonl has every record")


def check_run(tfsim, scenario, directory, *options):
    name = " ".join([scenario.stem, *options])
    out = directory / "one"
    done = subprocess.run([tfsim, "run", scenario, "--out", out, "--events", "--trace", directory / "trace.json", *options],
                          capture_output=True, text=True)
    check("\r" not in done.stderr and "\x1b" not in done.stdout + done.stderr, f"{name}: no progress and no colours in a pipe")
    result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    check(done.returncode == result["exit_code"], f"{name}: exit code {done.returncode}: {done.stderr}")
    root = check_junit(out / "junit.xml", name)
    failed = root.get("failures") != "0"
    check(failed == (result["exit_code"] != 0), f"{name}: JUnit fails when the run does")
    check_csv(out, result, name)
    check_trace(directory / "trace.json", result, name)
    check_events(out / "events.jsonl", result, name)
    check("<title>" in (out / "report.html").read_text(encoding="utf-8"), f"{name}: report.html")
    print(f"ok   {name}: exit {done.returncode}, {len(result['jobs'])} jobs, {result['records']} records")


def check_many(tfsim, scenario, directory):
    out = directory / "many"
    done = subprocess.run([tfsim, "run", scenario, "--seeds", "1..3", "--out", out], capture_output=True, text=True)
    check(done.returncode == 0, f"three seeds: exit {done.returncode}: {done.stderr}")
    check_junit(out / "junit.xml", "three seeds")
    check(json.loads((out / "result.json").read_text(encoding="utf-8"))["schema"] == "tfsim.ensemble/v1", "three seeds: result.json")
    runs = read_csv(out / "runs.csv", "three seeds")
    check([run["seed"] for run in runs] == ["1", "2", "3"], "three seeds: runs.csv")
    for option in (["--trace", directory / "t.json"], ["--out", out, "--events"]):
        done = subprocess.run([tfsim, "run", scenario, "--seeds", "1..3", *option], capture_output=True, text=True)
        check(done.returncode == 2 and "one run" in done.stderr, f"{option[0]} of many runs is refused")
    print("ok   three seeds at once")


def check_secrets(tfsim, scenario, directory):
    """A value of `env` whose variable is named like a secret is in nothing that a run prints or leaves."""
    planted = "planted-4711"
    out = directory / "secrets"
    sets = ["--set", f"jobs.0.env.API_TOKEN={planted}", "--set", f"jobs.0.tasks.worker.env={{db_password: {planted}, PLAIN: seen}}",
            "--set", "jobs.0.secrets={SESSION: {env: NOT_SET_HERE}}"]
    shown = []
    # The first fails, and says how to run a seed again.
    for words in (["run", scenario, "--seeds", "1..2", "--set", "horizon=10s"], ["run", scenario, "--out", out, "--events", "--trace", out / "trace.json"],
                  ["run", scenario, "--json"], ["validate", scenario],
                  ["validate", scenario, "--set", f"jobs.0.env.API_TOKEN=[{planted}]"]):
        done = subprocess.run([tfsim, *words, *sets], capture_output=True, text=True)
        shown.append((" ".join(str(word) for word in words[:1]), done.stdout + done.stderr))
    shown += [(path.name, path.read_text(encoding="utf-8")) for path in out.iterdir()]
    check({"result.json", "report.html", "events.jsonl", "trace.json"} <= {name for name, _ in shown}, "secrets: files of a run")
    for name, text in shown:
        check(planted not in text, f"secrets: {name} has the value: ...{text[max(0, text.find(planted) - 100):][:200]}")
    check("API_TOKEN" in (out / "report.html").read_text(encoding="utf-8"), "secrets: the name is in the report")
    check(any("tfsim run" in text and "API_TOKEN=***" in text for _, text in shown), "secrets: the command for another run")
    print("ok   secrets")


def main():
    tfsim, source = sys.argv[1], pathlib.Path(sys.argv[2])
    scenarios = source / "scenarios"
    dies = scenarios / "failover" / "worker-node-dies.yaml"
    with tempfile.TemporaryDirectory() as directory:
        directory = pathlib.Path(directory)
        check_run(tfsim, dies, directory)
        check_run(tfsim, dies, directory, "--set", "horizon=4m")
        check_run(tfsim, dies, directory, "--set", "jobs.0.tasks.worker.memory=9TiB")
        check_run(tfsim, scenarios / "am-failover" / "am-kill9-live-trainers.yaml", directory)
        check_run(tfsim, scenarios / "finish" / "evaluator-hangs.yaml", directory)
        check_run(tfsim, source / "tests" / "e2e" / "browser" / "busy.yaml", directory)
        check_many(tfsim, dies, directory)
        check_secrets(tfsim, dies, directory)


if __name__ == "__main__":
    main()
