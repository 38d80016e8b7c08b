#!/usr/bin/env python3
"""Traces as a user meets them: beside the scenario, named by TFSIM_TRACES, --trace-dir or --set, plain or packed, or absent.

Usage: traces.py TFSIM SOURCE_FOLDER.
"""
import csv
import json
import lzma
import pathlib
import subprocess
import sys
from collections import Counter

from program import Suite

EXCERPT = "excerpt.yaml"


def figures(suite, what, *words, environment=None):
    done = suite.run("run", EXCERPT, "--json", *words, environment=environment)
    suite.check(done.code == 0, what, done)
    return json.loads(done.out) if done.code == 0 else {}


def digest(suite, what, *words, environment=None):
    return figures(suite, what, *words, environment=environment).get("digest")


def run_places(suite, traces, expected):
    """However the traces are found, the run is the same."""
    away = suite.run("run", EXCERPT)
    suite.check(away.code == 3 and away.out == "", "absent", away)
    for text in ("excerpt.yaml:", "there is no trace `small-philly.csv`", "there is no trace `small-lanl.csv`",
                 "not at small-philly.csv.xz", "TFSIM_TRACES"):
        suite.check(text in away.err, f"absent: says {text!r}", away)
    named = {"TFSIM_TRACES": str(traces)}
    suite.check(digest(suite, "TFSIM_TRACES", environment=named) == expected, "TFSIM_TRACES: the same digest")
    for verb in ("validate", "replay"):
        done = suite.run(verb, EXCERPT, environment=named)
        suite.check(done.code == 0, f"{verb} with TFSIM_TRACES", done)
    empty = {"TFSIM_TRACES": str(suite.folder / "empty")}
    done = suite.run("run", EXCERPT, environment=empty)
    suite.check(done.code == 3 and "not at " + str(suite.folder / "empty" / "small-philly.csv") in done.err,
                "TFSIM_TRACES of another folder: says where it looked", done)
    suite.check(digest(suite, "--trace-dir wins", "--trace-dir", str(traces), environment=empty) == expected, "--trace-dir")
    sets = ["--set", f"arrivals.0.trace.file={traces}/small-philly.csv", "--set", f"faults.0.file={traces}/small-lanl.csv"]
    suite.check(digest(suite, "--set", *sets) == expected, "--set: the same digest")
    suite.write("packed/small-philly.csv.xz", lzma.compress((traces / "small-philly.csv").read_bytes()))
    suite.write("packed/small-lanl.csv", lzma.decompress((traces / "small-lanl.csv.xz").read_bytes()))
    suite.check(digest(suite, "packed and unpacked", "--trace-dir", "packed") == expected, "packed: the same digest")
    many = suite.run("run", EXCERPT, "--seeds", "1..2", "--json", environment=named)
    suite.check(many.code == 0 and json.loads(many.out)["runs"] == 2, "many runs with traces", many)


def run_content(suite, traces):
    """Every row becomes a job: when it came, how long it trains, how many GPUs it has, whose queue it is in."""
    with open(traces / "small-philly.csv", newline="", encoding="ascii") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: row["timestamp"])
    done = suite.run("run", EXCERPT, "--trace-dir", str(traces), "--csv", "csv")
    with open(suite.folder / "csv" / "jobs.csv", newline="", encoding="utf-8") as file:
        jobs = list(csv.DictReader(file))
    suite.check(done.code == 0 and len(jobs) == len(rows) == 60, f"{len(jobs)} jobs for {len(rows)} rows", done)
    suite.check(sorted(int(job["gpus"]) for job in jobs) == sorted(int(row["num_gpus"]) for row in rows), "GPUs of the rows")
    suite.check(all(int(job["task_count"]) == max(1, -(-int(job["gpus"]) // 4)) for job in jobs), "as few workers as can be")
    clusters = [name for name, _ in Counter(row["cluster"] for row in rows).most_common()]
    queues = {name: ("root.large", "root.small")[i % 2] for i, name in enumerate(clusters)}
    expected = Counter(queues[row["cluster"]] for row in rows)
    found = Counter("root." + job["queue"].removeprefix("root.") for job in jobs)
    suite.check(found == expected, f"queues by cluster: {found}, not {expected}")
    short = figures(suite, "limit", "--trace-dir", str(traces), "--set", "arrivals.0.limit=5", "--set", "expect=[]")
    suite.check(len(short["jobs"]) == 5, "a limit")
    one = figures(suite, "queue_of_cluster", "--trace-dir", str(traces), "--set", "arrivals.0.trace.queues=~", "--set",
                  "arrivals.0.trace.queue_of_cluster={aaaa01: root.small, bbbb02: root.large, cccc03: root.large}")
    in_small = sum(job["queue"] == "root.small" for job in one["jobs"])
    suite.check(in_small == sum(row["cluster"] == "aaaa01" for row in rows), f"queue_of_cluster: {in_small} in root.small")


def run_script(suite, source):
    """The files are what the script makes."""
    made = suite.folder / "made"
    made.mkdir()
    subprocess.run([sys.executable, str(source / "tests/data/traces/make.py"), str(made)], check=True)
    for name in ("small-philly.csv", "small-lanl.csv.xz"):
        opened = lzma.open if name.endswith(".xz") else open
        with opened(made / name, "rb") as new, opened(source / "tests/data/traces" / name, "rb") as kept:
            suite.check(new.read() == kept.read(), f"{name} is what make.py writes")


def main():
    suite = Suite(sys.argv[1])
    source = pathlib.Path(sys.argv[2]).resolve()
    traces = source / "tests/data/traces"
    scenario = source / "scenarios/traces/excerpt-replay.yaml"
    suite.write(EXCERPT, scenario.read_text(encoding="utf-8").replace("../../tests/data/traces/", "").replace(".csv.xz", ".csv"))
    run_script(suite, source)
    done = suite.run("run", str(scenario), "--json")
    suite.check(done.code == 0, "beside the scenario", done)
    run_places(suite, traces, json.loads(done.out)["digest"])
    run_content(suite, traces)
    suite.finish()


if __name__ == "__main__":
    main()
