#!/usr/bin/env python3
"""The same scenario and seed give the same run: in another locale and time zone, alone or beside others, one process or two.

Usage: determinism.py TFSIM SCENARIO...
"""
import csv
import json
import os
import pathlib
import random
import subprocess
import sys

from other_place import other_place
from program import SANITIZED, Suite

FROM_THE_MACHINE = ("wall_seconds", "peak_rss_bytes")
SEEDS = int(os.environ.get("TFYARN_SEEDS", "20" if SANITIZED else "100"))
ALONE = 3 if SANITIZED else 8


def document(suite, what, *words, environment=None):
    done = suite.run("run", *words, "--json", environment=environment)
    suite.check(done.code in (0, 10, 11, 20), what, done)
    made = json.loads(done.out)
    return {key: value for key, value in made.items() if key not in FROM_THE_MACHINE}


def rows(suite, what, scenario, at_once):
    out = f"{what}-{at_once}"
    done = suite.run("run", scenario, "--seeds", f"1..{SEEDS}", "-j", at_once, "--csv", out, "-q")
    suite.check(done.code in (0, 10, 11, 20), f"{what} -j {at_once}", done)
    with open(suite.folder / out / "runs.csv", newline="", encoding="utf-8") as file:
        return [{key: value for key, value in row.items() if key not in FROM_THE_MACHINE} for row in csv.DictReader(file)]


def compare_places(suite, name, scenario, places):
    here = document(suite, name, scenario, environment={"LC_ALL": "C", "TZ": "UTC"})
    for place in places:
        there = document(suite, f"{name} in {place}", scenario, environment=place)
        suite.check(here == there, f"{name}: the same result in {place}")


def compare_company(suite, name, scenario, chosen):
    two, one = rows(suite, name, scenario, "2"), rows(suite, name, scenario, "1")
    suite.check([int(row["seed"]) for row in two] == list(range(1, SEEDS + 1)), f"{name}: every seed once, in order")
    suite.check(two == one, f"{name}: two at once give what one after the other gives")
    suite.check(len({row["digest"] for row in two}) > SEEDS // 2, f"{name}: seeds make a difference")
    for seed in chosen:
        alone = document(suite, f"{name} seed {seed}", scenario, "--seed", str(seed))
        suite.check(alone["digest"] == two[seed - 1]["digest"], f"{name}: seed {seed} alone gives what it gives beside others")


def main():
    suite = Suite(sys.argv[1])
    places = [other_place(suite.folder / "locale") or {}, {"LC_ALL": "POSIX", "TZ": "America/St_Johns", "LANG": "tr_TR.UTF-8"}]
    for argument in sys.argv[2:]:
        scenario = str(pathlib.Path(argument).resolve())
        name = os.path.basename(argument)
        compare_places(suite, name, scenario, places)
        compare_company(suite, name, scenario, random.SystemRandom().sample(range(1, SEEDS + 1), ALONE))
    suite.finish()


if __name__ == "__main__":
    main()
