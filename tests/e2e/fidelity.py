#!/usr/bin/env python3
"""The simulator's half of `./dev fidelity`: every job of scenarios/fidelity reaches all its stages, they cover its time without gaps, and a
cluster that were slower would be told from the simulated one. Usage: fidelity.py TFSIM SOURCE_DIRECTORY"""
import pathlib
import sys

import yaml

TFSIM, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path.insert(0, str(SOURCE / "bench" / "fidelity"))
import comparison  # noqa: E402  pylint: disable=wrong-import-position
import simulated  # noqa: E402  pylint: disable=wrong-import-position
import stages  # noqa: E402  pylint: disable=wrong-import-position

SEEDS = range(1, 9)
FAULT = {"fault detected", "recovered"}


def check(condition, what):
    if not condition:
        sys.exit("FAIL " + what)


def runs_of(path, kind):
    runs = [simulated.instants_of(simulated.run(TFSIM, path, seed), kind) for seed in SEEDS]
    return [stages.durations(instants) for instants in runs if instants]


def check_told():
    """What a scenario says of a part of the cluster shows in the stage that has it, and in no other."""
    path = SOURCE / "scenarios" / "fidelity" / "four-workers.yaml"

    def run(*settings):
        return stages.durations(simulated.instants_of(simulated.run(TFSIM, path, 1, settings), None))
    plain = run("yarn.am_launch=1s", "yarn.localize=1s", "yarn.localize_again=0s", "yarn.launch=1s")
    slow_am = run("yarn.am_launch=8s", "yarn.localize=1s", "yarn.localize_again=0s", "yarn.launch=1s")
    check(abs(slow_am["AM registered"] - plain["AM registered"] - 7) < 0.01, f"yarn.am_launch: {plain} and {slow_am}")
    check(abs(slow_am["agents registered"] - plain["agents registered"]) < 0.01, f"agents wait for yarn.am_launch: {plain} and {slow_am}")
    # All four are on one node.
    slow_again = run("yarn.am_launch=1s", "yarn.localize=1s", "yarn.localize_again=8s", "yarn.launch=1s")
    check(abs(slow_again["agents registered"] - plain["agents registered"] - 8) < 0.01, f"yarn.localize_again: {plain} and {slow_again}")
    check(abs(slow_again["AM registered"] - plain["AM registered"]) < 0.01, f"the first one waits: {plain} and {slow_again}")


def check_page():
    """Each cause on the page says how large a gap it explains."""
    page = (SOURCE / "docs" / "fidelity.md").read_text()
    table = [line for line in page.partition("\n## Gaps")[2].splitlines() if line.startswith("| ")][1:]
    causes = comparison.causes(page)
    check(table and len(causes) == len(table), f"{len(table)} causes, of which {len(causes)} have a bound")
    check(all(least < most for _, _, least, most in causes), f"bounds: {causes}")


def check_stages(name, kind, run):
    wanted = {stage for stage, *_ in stages.STAGES} - (set() if kind else FAULT)
    check(set(run) == wanted, f"{name}: stages {sorted(run)}")
    check(min(run.values()) >= 0, f"{name}: a stage ends before it begins: {run}")
    total = run["all of it"]
    others = sum(run.values()) - total
    if kind == "rm_restart":
        # The next allocate comes within a second; one that is refused is tried again while three seconds last, each half second.
        check(2.5 <= run["fault detected"] <= 3.6, f"{name}: a lost RM is noticed after {run['fault detected']} s")
    # Between the start and a fault a job works, and goes on working while an AM or RM is away.
    covers = kind is None and abs(others - total) < 1e-6 or kind is not None and others != total
    check(covers, f"{name}: {others} s in stages, {total} s in all")


def main():
    paths = [path for path in sorted((SOURCE / "scenarios" / "fidelity").glob("*.yaml")) if "schema" in yaml.safe_load(path.read_text())]
    check(len(paths) == 10, f"scenarios: {paths}")
    for path in paths:
        kind = stages.fault_kind_of(yaml.safe_load(path.read_text()))
        runs = runs_of(path, kind)
        check(len(runs) >= 2, f"{path.stem}: nothing to compare")
        for run in runs:
            check_stages(path.stem, kind, run)
        same = comparison.rows_of(path.stem, runs, runs)
        check(len(same) == len(runs[0]) and not comparison.open_gaps(same, {}), f"{path.stem}: differs from itself")
        slower = [{stage: value * 1.3 + 1 for stage, value in run.items()} for run in runs]
        gaps = comparison.open_gaps(comparison.rows_of(path.stem, slower, runs), {})
        check("all of it" in {row.stage for row in gaps}, f"{path.stem}: a slower cluster is not noticed")
        known = {(row.job, row.stage): (row.gap - 0.1, row.gap + 0.1) for row in gaps}
        check(not comparison.open_gaps(gaps, known), f"{path.stem}: an explained gap is still open")
        smaller = {key: (least + 0.2, most + 0.2) for key, (least, most) in known.items()}
        check(len(comparison.open_gaps(gaps, smaller)) == len(gaps), f"{path.stem}: a gap beyond what its cause explains is not open")
    check_page()
    check_told()
    print("ok")


if __name__ == "__main__":
    main()
