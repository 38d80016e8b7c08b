#!/usr/bin/env python3
"""Makes small mutants of core/, fakes/ and sim/checkers by a generator, all in one build, and demands that tests notice them.

Usage: run.py [--seed N] [--count 300] [--minutes M] [--record] [--again FILE] [-j N]
  --seed N       which mutants are drawn (default: a fresh one, printed)
  --count N      how many
  --minutes M    start no further mutant after that time; with the same seed the next run goes on there
  --record       write docs/mutation.md, which says how many of them were tried
  --runs N       explored runs for each mutant that unit tests do not notice (2000)
  --explore-seed N  of these runs (1)
  --again FILE   those of an earlier run's mutants.json, found again in today's sources, with today's tests
  --prepare DIR  only make the folder with which they can be tried on a machine that has Python and nothing else
  --from DIR     try those of such a folder, here; DIR/run.py --from DIR does the same there
  --results FILE what was found so far, read and written (default: DIR/results.json)
  --sample       what CTest does: ten mutants in two batches of sources, and a rule that says whether that is enough
  --tree DIR     the build tree that is instrumented (build)

A mutant is killed when a test fails, exploration finds something, a scenario is not as it expects, a scenario or an explored run has
another digest than without it, which the CTest case `recorded` would see, or a program crashes or hangs.
tests/mutation/survivors.txt holds those that were looked at, each with a verdict.
"""
import argparse
import json
import os
import pathlib
import random
import sys
import time

import trial

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WANTED = 0.95  # Of a whole run; this many killed is enough.
# Where the tree has no unit tests, exploration and scenarios kill seven of ten on average. What is drawn together survives together: CI's
# machine once saw five killed, and once one, of sources that only unit tests watch; of core/am, which half of a sample is drawn from,
# scenarios and exploration tell. A sample shows that the killing works, and prints what survived; the share is for a whole run to say.
SAMPLE_COUNT, SAMPLE_BATCHES, SAMPLE_RUNS, SAMPLE_KILLED = 10, 2, 300, 3
# Unit tests that take longer are left out, of a sample those that wait for the most part: six survivors of the fakes cost CI four minutes
# with yarn_contract.
LONGEST, SAMPLE_LONGEST = 300, 15


def say(text):
    print(text, flush=True)


def read_results(path):
    """number -> result; empty when there is none."""
    try:
        return {result["number"]: result for result in json.loads(path.read_text(encoding="utf-8"))}
    except FileNotFoundError:
        return {}


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name, kind, default in (("--seed", int, None), ("--count", int, 300), ("--minutes", float, None), ("--runs", int, 2000),
                                ("--explore-seed", int, 1), ("--prepare", pathlib.Path, None), ("--from", pathlib.Path, None),
                                ("--results", pathlib.Path, None), ("--again", pathlib.Path, None), ("--tree", pathlib.Path, ROOT / "build")):
        parser.add_argument(name, type=kind, default=default, dest="folder" if name == "--from" else None)
    parser.add_argument("-j", dest="jobs", type=int, default=os.cpu_count())
    parser.add_argument("--batches", type=int, default=0)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--sample", action="store_true")
    options = parser.parse_args()
    options.longest = SAMPLE_LONGEST if options.sample else LONGEST
    if options.sample:
        options.count, options.batches, options.runs = SAMPLE_COUNT, SAMPLE_BATCHES, SAMPLE_RUNS
    return options


def make(options):
    """The folder with the programs; made anew unless it holds just these mutants of just these sources."""
    import build  # Not on the other machine.
    import ready
    folder = (options.prepare or options.tree / "mutation" / ("sample" if options.sample else "ready")).resolve()
    tree = build.Tree(options.tree, folder.with_name(folder.name + "-build"))
    if not options.sample:  # CTest has built what is there, and must not build beside other tests.
        tree.bring_up_to_date()
        tree = build.Tree(options.tree, tree.work)  # CMake may have other programs now.
    wanted = {"seed": options.seed, "count": options.count, "batches": options.batches, "sources": build.digest()}
    tests = [(options.tree / "tests" / name).stat().st_mtime for name in tree.programs if name != "tfsim"]
    stamp = folder / "made-from.json"
    before = json.loads(stamp.read_text(encoding="utf-8")) if stamp.exists() else {}
    drawn = None
    if options.again:
        told = json.loads(options.again.read_text(encoding="utf-8"))
        wanted["seed"], wanted["count"] = told["seed"], len(told["mutants"])
    if before == {**wanted, "tests": tests}:
        return folder
    stamp.unlink(missing_ok=True)
    if {**before, "tests": []} == {**wanted, "tests": []}:  # Other tests alone: whatever survived has to be tried again.
        drawn = ready.drawn_before(tree, folder, options.jobs)
        keep_killed(folder / "results.json")
    if drawn is None:
        (folder / "results.json").unlink(missing_ok=True)
        if options.again:
            drawn = ready.found_again(tree, told, options.jobs, say)
    ready.prepare(tree, folder, wanted["seed"], options.count, options.batches, options.jobs, say, drawn)
    stamp.write_text(json.dumps({**wanted, "tests": tests}), encoding="utf-8")
    return folder


def keep_killed(path):
    killed = [result for result in read_results(path).values() if result["by"]]
    path.write_text(json.dumps(killed, indent=1), encoding="utf-8")


def main():
    options = arguments()
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1, 1_000_000)
    say(f"mutation: --seed {options.seed}" if options.folder is None else f"mutation: from {options.folder}")
    options.until = time.monotonic() + (options.minutes * 60 if options.minutes else 1e9)
    folder = options.folder or make(options)
    if options.prepare:
        say(f"ready in {folder}: {folder}/run.py --from {folder}")
        return 0
    where = options.results or folder / "results.json"
    results = read_results(where)
    options.store = lambda found: where.write_text(json.dumps(list(found.values()), indent=1), encoding="utf-8")
    tried = trial.Ready(folder)
    tried.try_all(options, results, say)
    return conclude(options, tried, results)


def conclude(options, tried, results):
    import report  # The same on the other machine.
    killed = [result for result in results.values() if result["by"]]
    missing = len(tried.mutants) - len(results)
    say(f"{len(results)} of {len(tried.mutants)} mutants tried, {len(killed)} killed: " + ", ".join(
        f"{len([result for result in killed if result['by'] == way])} by {name}" for way, name in
        (("unit", "unit tests"), ("explore", "exploration"), ("recorded", "recorded digests"), ("scenario", "scenarios"))))
    judged = report.read_judged(HERE / "survivors.txt")
    unjudged, equivalent = [], 0
    for mutant in tried.mutants:
        result = results.get(mutant["number"])
        if result and not result["by"]:
            verdict = judged.get(mutant["key"])
            unjudged += [] if verdict else [mutant]
            equivalent += verdict is not None and verdict[0] == "equivalent"
            say(f"SURVIVED {mutant['file']}:{mutant['line']}\n{report.block(mutant, verdict)}")
    if options.sample:
        good = len(killed) >= SAMPLE_KILLED * len(tried.mutants) / SAMPLE_COUNT
        say("enough" if good else f"at least {SAMPLE_KILLED} of {SAMPLE_COUNT} have to be killed")
        return 0 if good else 1
    if options.record:
        report.record(ROOT / "docs" / "mutation.md", tried, results, judged, options)
    share = len(killed) / max(len(results) - equivalent, 1)
    say(f"{100 * share:.1f} % of those that are not equivalent are killed, {len(unjudged)} survivors are not judged")
    return 1 if missing or share < WANTED else 0


if __name__ == "__main__":
    sys.exit(main())
