#!/usr/bin/env python3
"""Plants real bugs, one at a time, and demands that `tfsim explore` finds each without hints: it gets a seed and a budget, and no file.

Usage: run.py [--check | --list | --record | --sample=N] [--again] [--seed=N] [--budget=RUNS] [--minutes=N] [--jobs=N] [--build=DIR] [NAME...]
  NAME         bugs of the table (tests/planted/planted.txt). Without any, all of them.
  --check      only whether the table is sound; nothing is built
  --record     write the table of docs/track-record.md; what is not run now is taken from build/planted/found.json, if it was run with these
               very sources, or said to be not run
  --sample=N   N bugs, drawn by a fresh seed that is printed, of those that docs/track-record.md says to be found soon, with its seed
  --again      also what was found with these very sources, seed and budget
  --seed=N     of the exploration (1)           --budget=RUNS  for each bug (2000)
  --minutes=N  start no further bug after that time; the next run goes on there
  --jobs=N     bugs at a time (one for each processor)
  --build=DIR  a built tree whose other objects are used (build), as it is; without it `build` is brought up to date

A bug costs one source compiled without optimization, one link, and the runs until its first finding, which is shrunk. A finding counts when its
scenario passes without the bug. Exit code 1 when a bug was not found, unless the table says that no oracle can see it yet.
"""
import concurrent.futures
import hashlib
import json
import math
import os
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import yaml

import record
import table

sys.path.insert(0, str(table.ROOT / "tests"))
import changed_sources  # noqa: E402  (it stands beside this folder)

WORK = table.ROOT / "build" / "planted"
FOUND = WORK / "found.json"
MOST_SECONDS = 900
# Of a sample: what was found within so many runs is found again within some times as many, also after a change of the generator; and
# so many runs of the seed find nothing without a bug (CTest case explore/known-seed).
SOON, MANY_TIMES, OTHERWISE = 150, 6, 4000
ENDED = (0, 20, 21)
MOST_STRANGERS = 5


def arguments():
    options = {"check": False, "list": False, "record": False, "again": False, "sample": 0, "seed": 1, "budget": 2000, "minutes": 0,
               "jobs": os.cpu_count() or 1, "build": ""}
    names = []
    for argument in sys.argv[1:]:
        name, equals, value = argument.removeprefix("--").partition("=")
        if not argument.startswith("-"):
            names.append(argument)
        elif name not in options or isinstance(options[name], bool) == bool(equals):
            sys.exit(__doc__)
        elif isinstance(options[name], int) and not isinstance(options[name], bool):
            if not value.isdigit():
                sys.exit(__doc__)
            options[name] = int(value)
        else:
            options[name] = value or True
    return options, names


def brought_up_to_date(options):
    """The built tree that is used."""
    if options["build"]:
        return pathlib.Path(options["build"]).resolve()
    build = table.ROOT / "build"
    commands = [["ninja", "-C", str(build), "tfsim"]]
    if not (build / "build.ninja").exists():
        commands.insert(0, ["cmake", "--preset", "release"])
    for command in commands:
        done = subprocess.run(command, cwd=table.ROOT, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"the tree itself does not build:\n{done.stdout}{done.stderr}")
    return build


def size_of(path):
    """Of a scenario, as it is counted: jobs, faults, nodes, tasks."""
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    jobs = document.get("jobs", [])
    return {"jobs": len(jobs), "faults": len(document.get("faults") or []),
            "nodes": sum(node.get("count", 1) for node in document["cluster"]["nodes"]),
            "tasks": sum((task or {}).get("instances", 1) for job in jobs for task in job.get("tasks", {}).values())}


def told(path):
    """(what broke, the command that shows it) of a finding's file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return lines[0].removeprefix("# "), lines[1].removeprefix("# ")


def explored(tfsim, seed, budget, out, *more):
    """(exit code or None for a hang, stdout, stderr)."""
    command = [str(tfsim), "explore", "--seed", str(seed), "--budget", str(budget), "-j", "1", "--out", str(out), "-q", *more]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=MOST_SECONDS, preexec_fn=changed_sources.limit, check=False)
    except subprocess.TimeoutExpired:
        return None, "", f"no end within {MOST_SECONDS} s"
    return done.returncode, done.stdout, done.stderr


def also_without(tfsim, finding):
    """Whether the program without the bug shows the same."""
    what, command = told(finding)
    done = subprocess.run([str(tfsim), *shlex.split(command)[1:]], capture_output=True, text=True, timeout=MOST_SECONDS, check=False)
    if what.startswith("relation "):
        return done.returncode != 0
    # 10 and 11: a job that nothing was expected of any more has failed.
    return done.returncode in (10, 11, 20) if what.startswith("expected ") else done.returncode not in (0, 10, 11, 20)


def first_finding(tfsim, plan, folder, known):
    """Of an exploration that tells nothing of what is in `known`: (run, its file), or (None, why there is none)."""
    code, out, err = explored(tfsim, plan.seed, plan.budget, folder, "--known", str(known), "--stop-after", "1")
    if code not in ENDED:
        return None, f"exit {code}: {(err.strip().splitlines() or [''])[-1]}"
    index = re.search(r"^ {3}run (\d+)", out, re.MULTILINE)
    return (int(index.group(1)) + 1, folder / "finding-1.yaml") if index else (None, "not found")


def hunt(bug, plan, until):
    """What came of one bug: a dictionary for the record; `runs` is None where it was not found."""
    if time.monotonic() > until:
        return {"runs": None, "what": "not run"}
    outcome = {"runs": None, "seed": plan.seed, "budget": plan.budget}
    with tempfile.TemporaryDirectory(dir=WORK) as name:
        folder = pathlib.Path(name)
        errors = plan.compiler.build(bug.texts(table.ROOT), folder)
        if errors is not None:
            return {**outcome, "what": f"does not compile: {errors}"}
        built = time.monotonic()
        known = folder / "known"
        shutil.copytree(plan.known, known)
        for number in range(MOST_STRANGERS):
            runs, finding = first_finding(folder / "tfsim", plan, folder, known)
            outcome["seconds"] = round(time.monotonic() - built, 1)
            if runs is None:
                return {**outcome, "what": finding}
            if not also_without(plan.tfsim, finding):
                break
            # The tree's own, which another order of things has brought out: the bug may come after it.
            outcome["what"] = f"shown without it, too: {told(finding)[0]}"
            finding.rename(known / f"stranger-{number}.yaml")
        else:
            return outcome
        kept = WORK / "findings" / f"{bug.name}.yaml"
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(finding.read_text(encoding="utf-8"), encoding="utf-8")
        return {**outcome, **size_of(finding), "runs": runs, "what": told(finding)[0]}


class Plan:
    """What all bugs of one call share."""

    def __init__(self, options):
        WORK.mkdir(parents=True, exist_ok=True)
        build = brought_up_to_date(options)
        self.tfsim = build / "bin" / "tfsim"
        self.compiler = changed_sources.Compiler(table.ROOT, build, WORK / "objects", "-O0")
        self.seed, self.budget = options["seed"], options["budget"]
        self.sources = hashlib.sha256()
        for folder in ("core", "fakes", "sim", "explore", "oracles", "config", "apps"):
            for path in sorted((table.ROOT / folder).rglob("*")):
                if path.suffix in (".cc", ".h", ".txt"):
                    self.sources.update(str(path.relative_to(table.ROOT)).encode() + b"\0" + path.read_bytes())
        self.known = self.findings_without() if not options["sample"] else WORK / "nothing"
        self.known.mkdir(parents=True, exist_ok=True)

    def findings_without(self):
        """A folder with what the same exploration finds without any bug: that is no bug's."""
        folder, sources = WORK / f"without-{self.seed}", self.sources.hexdigest()
        if (folder / "of").exists():
            known, runs = (folder / "of").read_text(encoding="utf-8").split()
            if known == sources and int(runs) >= self.budget:
                return folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        code, out, err = explored(self.tfsim, self.seed, self.budget, folder)
        if code not in ENDED:
            sys.exit(f"the tree itself: exit {code}: {err}")
        for finding in re.findall(r"^\d+\. (.*)$", out, re.MULTILINE):
            print(f"found without any bug: {finding}", flush=True)
        (folder / "of").write_text(f"{sources} {self.budget}", encoding="utf-8")
        return folder

    def key(self, bug):
        """What a bug's outcome depends on."""
        digest = self.sources.copy()
        for change in bug.changes:
            digest.update("\0".join((change.file, change.old_text(), change.new_text())).encode())
        digest.update(str(self.seed).encode())
        return digest.hexdigest()


def holds(outcome, budget):
    """Whether an outcome under another budget says what comes of this one."""
    return outcome["runs"] <= budget if outcome["runs"] is not None else outcome.get("budget", 0) >= budget


def sentence(name, outcome):
    if outcome["runs"] is None:
        return f"NOT FOUND {name}: {outcome['what']}"
    return (f"found {name} after {outcome['runs']} runs, {outcome['seconds']} s; {outcome['jobs']} jobs, {outcome['faults']} faults, "
            f"{outcome['nodes']} nodes, {outcome['tasks']} tasks: {outcome['what']}")[:260]


def still_true(bugs, plan, budget=None):
    """Bug's name -> outcome, of those that were run with these very sources and seed, and under any budget where none is given."""
    known = json.loads(FOUND.read_text(encoding="utf-8")) if FOUND.exists() else {}
    return {bug.name: known[bug.name]["outcome"] for bug in bugs
            if known.get(bug.name, {}).get("key") == plan.key(bug) and (budget is None or holds(known[bug.name]["outcome"], budget))}


def run_all(bugs, plan, options):
    """Bug's name -> outcome."""
    until = time.monotonic() + 60 * options["minutes"] if options["minutes"] else math.inf
    outcomes = {} if options["again"] else still_true(bugs, plan, plan.budget)
    guard = threading.Lock()
    with concurrent.futures.ThreadPoolExecutor(options["jobs"]) as pool:
        waiting = {pool.submit(hunt, bug, plan, until): bug for bug in bugs if bug.name not in outcomes}
        for done in concurrent.futures.as_completed(waiting):
            bug, outcome = waiting[done], done.result()
            print(sentence(bug.name, outcome), flush=True)
            outcomes[bug.name] = outcome
            if outcome["what"] == "not run":
                continue
            with guard:
                known = json.loads(FOUND.read_text(encoding="utf-8")) if FOUND.exists() else {}
                known[bug.name] = {"key": plan.key(bug), "outcome": outcome}
                FOUND.write_text(json.dumps(known, indent=1), encoding="utf-8")
    return outcomes


def drawn(bugs, options):
    """The sample's bugs, and what the record says of each; exploration gets the seed with which they were found."""
    seed = random.SystemRandom().randrange(1 << 32) if options["seed"] == 1 else options["seed"]
    recorded = record.read()
    soon = [bug for bug in bugs if recorded.get(bug.name, {}).get("runs", math.inf) <= SOON]
    if len(soon) < options["sample"]:
        sys.exit(f"run.py: docs/track-record.md has only {len(soon)} bugs that are found within {SOON} runs: ./dev planted --record")
    chosen = random.Random(seed).sample(soon, options["sample"])
    print(f"sample --seed={seed}: {', '.join(bug.name for bug in chosen)}", flush=True)
    options["seed"], options["budget"], options["again"] = record.seed(), MANY_TIMES * SOON, True
    return chosen


def found_otherwise(bugs, outcomes, plan, options):
    """Of a sample, those that the recorded seed does not find any more: any change of what is drawn moves them, and another seed has them."""
    missed = [bug for bug in bugs if outcomes[bug.name]["what"] == "not found"]
    if not missed:
        return {}
    plan.seed, plan.budget = random.SystemRandom().randrange(1 << 32), OTHERWISE
    print(f"again --seed={plan.seed} --budget={plan.budget}: {', '.join(bug.name for bug in missed)}", flush=True)
    return run_all(missed, plan, options)


def main():
    options, names = arguments()
    try:
        bugs = table.read()
    except table.TableError as error:
        sys.exit(str(error))
    found = table.problems(bugs)
    for problem in found:
        print(problem)
    if options["check"]:
        print(f"{len(bugs)} bugs, {len(found)} problems")
        sys.exit(1 if found else 0)
    if options["list"]:
        for bug in bugs:
            print(f"{bug.name:44} {bug.origin}")
        return
    if found:
        sys.exit(1)
    unknown = set(names) - {bug.name for bug in bugs}
    if unknown:
        sys.exit(f"run.py: no bug of the table: {', '.join(sorted(unknown))}")
    chosen = [bug for bug in bugs if not names or bug.name in names]
    if options["sample"]:
        chosen = drawn(chosen, options)
    plan = Plan(options)
    outcomes = run_all(chosen, plan, options)
    if options["sample"]:
        outcomes.update(found_otherwise(chosen, outcomes, plan, options))
    missed = [bug for bug in chosen if outcomes[bug.name]["runs"] is None]
    for bug in missed:
        print(sentence(bug.name, outcomes[bug.name]) + (f" (known: {bug.unseen})" if bug.unseen else ""))
    print(f"{len(chosen)} bugs, {len(missed)} not found")
    if len(missed) < len(chosen):
        print(record.summary(outcomes.values()))
    if options["record"] and not options["sample"]:
        record.write(bugs, {**still_true(bugs, plan), **outcomes}, plan.seed, plan.budget)
    sys.exit(1 if any(not bug.unseen for bug in missed) else 0)


if __name__ == "__main__":
    main()
