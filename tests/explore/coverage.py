#!/usr/bin/env python3
"""Explores with a fresh seed, and demands that every cell is reached that the regular budget always reaches (tests/explore/cells.txt).

Usage: coverage.py TFSIM OUT [--budget=RUNS] [--seed=N] [--jobs=N] [--findings]
       coverage.py --record COVERAGE.json...
  OUT         a folder for what the search writes; removed first
  --budget    runs (20000); fewer demand nothing, and 1000000 demand rarer cells, too: all that cells.txt calls `soak`, and new probes
  --seed      instead of a fresh one, which is printed
  --findings  what breaks fails this too; without it nothing is told of it
  --record    write cells.txt anew from what long searches with --unguided have reached, keeping what is said by hand

A cell is demanded of a budget when it would be missed with a probability below 1e-6 even if it were half as frequent among runs that are
drawn by themselves as it was measured, less what that measurement may be wrong by. Branching runs come on top.
"""
import fnmatch
import json
import math
import pathlib
import random
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
CELLS = HERE / "cells.txt"
MARK = "# ---------------------------------------------------------------- written by coverage.py --record"
# Of the regular budget and of the soak's, the half that is drawn by itself, and a little less: what is cut, or no scenario.
DRAWN = {"must": 9_500, "soak": 450_000}
BUDGETS = {"must": 20_000, "soak": 1_000_000}
MISSED_AT_MOST = 1e-6


class Cells:
    """The table: tier -> names, and patterns of what cannot be reached, each with its reason."""

    def __init__(self, path):
        self.tiers = {"must": set(), "soak": set(), "seen": set(), "open": set()}
        self.never = {}
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            word, _, rest = line.partition(" ")
            if word == "never":
                pattern, colon, reason = rest.partition(": ")
                if not colon or not reason.strip():
                    sys.exit(f"{path}:{number}: `never PATTERN: REASON`")
                self.never[pattern] = reason.strip()
            elif word in self.tiers:
                self.tiers[word].add(rest.split()[-1])
            else:
                sys.exit(f"{path}:{number}: '{word}' is none of never, {', '.join(self.tiers)}")

    def reason(self, name):
        """Why the cell cannot be reached; None: nothing says so."""
        return next((reason for pattern, reason in self.never.items() if fnmatch.fnmatchcase(name, pattern)), None)

    def problems(self, cells, tiers):
        """What is wrong with a search that reached `cells` (name -> number of runs, and kind), as sentences."""
        found = []
        for tier in tiers:
            for name in sorted(self.tiers[tier]):
                if name not in cells:
                    found.append(f"{name}: there is no such cell any more; record the cells anew")
                elif cells[name]["runs"] == 0:
                    found.append(f"{name}: was never reached")
        if "soak" not in tiers:
            return found
        listed = set().union(*self.tiers.values())
        for name, cell in cells.items():
            reason = self.reason(name)
            if reason is not None and cell["runs"] > 0:
                found.append(f"{name}: was reached, but cannot be: {reason}")
            if cell["kind"] == "probe" and reason is None and name not in listed and cell["runs"] == 0:
                found.append(f"{name}: is a new probe, and was never reached; say in cells.txt why it cannot be")
        return found


def read(path):
    document = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    return document, {cell["name"]: cell for cell in document["cells"]}


def surely(hits, runs):
    """The frequency is hardly lower than this: three standard deviations, and half of it for changes of what is drawn."""
    return max(0.0, hits - 3 * math.sqrt(hits)) / runs / 2


def record(paths):
    """Writes the measured part of the table."""
    counts, kinds, runs = {}, {}, 0
    for path in paths:
        document, cells = read(path)
        if document["branched_runs"]:
            sys.exit(f"{path}: of a search in which runs branched; frequencies are those of --unguided")
        runs += document["drawn_runs"]
        for name, cell in cells.items():
            counts[name] = counts.get(name, 0) + cell["drawn_runs"]
            kinds[name] = cell["kind"]
    by_hand = CELLS.read_text(encoding="utf-8").partition(MARK)[0] if CELLS.exists() else ""
    CELLS.write_text(by_hand, encoding="utf-8")
    table = Cells(CELLS)
    lines = [MARK, f"# Of {runs:,} runs that were drawn by themselves: the share that reached each cell."]
    for tier in ("must", "soak", "seen", "open"):
        for name in counts:
            if table.reason(name) is None and tier_of(counts[name], runs, kinds[name]) == tier:
                lines.append(f"{tier} {counts[name] / runs:.6f} {name}" if counts[name] else f"{tier} {name}")
    CELLS.write_text(by_hand + "\n".join(lines) + "\n", encoding="utf-8")
    table = Cells(CELLS)
    print(f"{CELLS}: " + ", ".join(f"{len(names)} {tier}" for tier, names in table.tiers.items()))


def tier_of(hits, runs, kind):
    """Where a cell belongs; "" for one of a matrix that was never reached: most of them cannot be."""
    if hits == 0:
        return "open" if kind == "probe" else ""
    for tier, drawn in DRAWN.items():
        if math.exp(drawn * math.log1p(-min(surely(hits, runs), 1 - 1e-12))) < MISSED_AT_MOST:
            return tier
    return "seen"


def arguments():
    options = {"budget": "20000", "seed": "", "jobs": "2", "findings": False}
    words = []
    for argument in sys.argv[1:]:
        name, equals, value = argument.removeprefix("--").partition("=")
        if not argument.startswith("-"):
            words.append(argument)
        elif name in options and isinstance(options[name], bool) != bool(equals):
            options[name] = value or True
        else:
            sys.exit(__doc__)
    if len(words) != 2:
        sys.exit(__doc__)
    return words[0], pathlib.Path(words[1]), options


def main():
    if sys.argv[1:2] == ["--record"] and len(sys.argv) > 2:
        return record(sys.argv[2:])
    tfsim, out, options = arguments()
    seed = options["seed"] or str(random.SystemRandom().randrange(1 << 32))
    shutil.rmtree(out, ignore_errors=True)
    command = [tfsim, "explore", "--seed", seed, "--budget", options["budget"], "-j", options["jobs"], "--quiet", "--out", str(out)]
    print(" ".join(command), flush=True)
    done = subprocess.run(command + ([] if options["findings"] else ["--coverage-only"]), capture_output=True, text=True, check=False)
    if options["findings"]:
        print(done.stdout)
    if done.returncode not in ((0, 20, 21) if options["findings"] else (0,)):
        sys.exit(f"exit {done.returncode}: {done.stdout[-2000:]}{done.stderr}")
    document, cells = read(out / "coverage.json")
    table = Cells(CELLS)
    tiers = [tier for tier, runs in BUDGETS.items() if int(options["budget"]) >= runs]
    found = table.problems(cells, tiers)
    seen = [name for name, cell in cells.items() if cell["runs"] and not any(name in names for names in table.tiers.values())]
    print(f"{document['runs']:,} runs reached {document['reached']} cells, {len(seen)} of them not in cells.txt; "
          f"{sum(len(table.tiers[tier]) for tier in tiers)} are demanded; chance of something new: {document['chance_of_news']:.2%}")
    for problem in found:
        print(problem)
    sys.exit(1 if found or done.returncode else 0)


if __name__ == "__main__":
    main()
