#!/usr/bin/env python3
"""Ten jobs on a real cluster and in the simulator, which is configured like it: when each reached its stages, side by side.

Usage: run.py BIN_DIR [--repeats N] [--seeds N] [--raw FILE] [JOB...]. A JOB is the name of a file in scenarios/fidelity; without one all of them
run, and docs/fidelity.md gets its tables, scenarios/fidelity/measured.yaml what was measured of the cluster's parts. Exit codes: 1 when
a gap is larger than the bound, is not chance, and is not explained in docs/fidelity.md, or larger than what is explained there; 77
without Hadoop.
"""
import argparse
import json
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import time

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "hadoop"), str(ROOT / "tests" / "real")]

import behavior_rows  # noqa: E402  pylint: disable=wrong-import-position
import comparison  # noqa: E402  pylint: disable=wrong-import-position
import hadoop_cluster  # noqa: E402  pylint: disable=wrong-import-position
import parts  # noqa: E402  pylint: disable=wrong-import-position
import real  # noqa: E402  pylint: disable=wrong-import-position
import simulated  # noqa: E402  pylint: disable=wrong-import-position
import stages  # noqa: E402  pylint: disable=wrong-import-position

FOLDER = ROOT / "scenarios" / "fidelity"
PAGE = ROOT / "docs" / "fidelity.md"
JOBS = ("one-worker", "four-workers", "twelve-workers", "parameter-server", "gpu-gang", "worker-exits", "container-killed",
        "node-killed", "am-killed", "rm-killed")
# Run to learn how fast the cluster is.
PROBE, PROBES = "four-workers", 5
# Its fault, and how often it is made to learn how long a ResourceManager needs to start: the runs that are compared have none of it.
RESTARTED, RESTARTS = "rm-killed", 3
# Run before, as it needs every node: from then on they have the runtime.
WARMER = "twelve-workers"


def scenario(name):
    return yaml.safe_load((FOLDER / f"{name}.yaml").read_text())


# ---------------------------------------------------------------- the cluster's parts

def law(values):
    """As a scenario writes a distribution: whole milliseconds."""
    return {"dist": "empirical", "values": [f"{max(0, round(value * 1e3))}ms" for value in sorted(values)]}


def measure_parts(cluster):
    """{part: seconds of each}, of jobs that are run for this alone."""
    found = {part: [] for part in ("localization", "localization again", "AM's launch", "agent's launch", "journal", "call to the RM", "call to a NodeManager")}
    print(f"  {WARMER}, to warm the nodes up", flush=True)
    real.RealRun(cluster, scenario(WARMER)).go()
    for _ in range(PROBES):
        print(f"  {PROBE}, to measure the cluster's parts", flush=True)
        run = real.RealRun(cluster, scenario(PROBE)).go()
        records, own = run.records, real.containers(cluster, run.application)
        firsts, others = parts.localizations(own)
        found["localization"] += firsts
        found["localization again"] += others
        found["AM's launch"] += parts.launches(parts.masters_words(records), own)
        found["agent's launch"] += parts.launches(parts.agents_words(records), own)
        found["journal"] += parts.journal_writes(records)
        found["call to the RM"] += parts.calls(records, "CallRm", "RmReplied")
        found["call to a NodeManager"] += parts.calls(records, "CallNm", "NmReplied")
    return found


def measure_downtime(cluster):
    """Seconds of each restart of the ResourceManager, in runs for this alone."""
    found = []
    for _ in range(RESTARTS):
        print(f"  {RESTARTED}, to measure the ResourceManager's restart", flush=True)
        found.append(real.RealRun(cluster, scenario(RESTARTED)).go().down)
    return found


def write_measured(found):
    one_way = statistics.median(found["call to the RM"] + found["call to a NodeManager"]) / 2
    measured = {"yarn": {"localize": law(found["localization"]), "localize_again": law(found["localization again"]),
                         "launch": law(found["agent's launch"]),
                         "am_launch": law(found["AM's launch"])},
                "hdfs": {"latency": law(found["journal"])},
                "cluster": {"network": {"latency": f"{one_way * 1e6:.0f}us", "cross_rack": f"{one_way * 1e6:.0f}us"}}}
    text = yaml.safe_dump(measured, default_flow_style=None, sort_keys=False, width=120)
    (FOLDER / "measured.yaml").write_text(
        "# How fast the parts of the cluster are, as `./dev fidelity` measured them and wrote them here (docs/fidelity.md).\n" + text)


def write_downtime(seconds):
    """Into the scenario whose fault it is."""
    path = FOLDER / "rm-killed.yaml"
    path.write_text(re.sub(r"(kind: rm_restart, for: )\w+", rf"\g<1>{seconds * 1e3:.0f}ms", path.read_text()))


# ---------------------------------------------------------------- both worlds

def really(cluster, interval, names, repeats):
    """Seconds by stage of each run, by job; how long agents' launches took, by job. The jobs take turns, so that what else happens on
    the machine happens to all. `interval`: of the NodeManagers' heartbeats, seconds."""
    found, launches = {name: [] for name in names}, {name: [] for name in names}
    for number in range(repeats):
        for name in names:
            begun = time.monotonic()
            real.scatter_heartbeats(cluster, interval)
            run = real.RealRun(cluster, scenario(name)).go()
            found[name].append(stages.durations(run.instants()))
            launches[name] += parts.launches(parts.agents_words(run.records), real.containers(cluster, run.application))
            print(f"  {name}, {number + 1} of {repeats}: {time.monotonic() - begun:.0f} s", flush=True)
    return found, launches


def in_simulator(tfsim, names, seeds):
    """The same. Runs that are not to be compared are left out, and another seed takes their place."""
    found = {}
    for name in names:
        kind = stages.fault_kind_of(scenario(name))
        runs, seed = [], 0
        while len(runs) < seeds:
            seed += 1
            instants = simulated.instants_of(simulated.run(tfsim, FOLDER / f"{name}.yaml", seed), kind)
            runs += [stages.durations(instants)] if instants else []
        found[name] = runs
    return found


# ---------------------------------------------------------------- the page

def machine():
    out = subprocess.run(["lscpu"], capture_output=True, text=True, check=False).stdout
    fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in out.splitlines())}
    return (f"{fields.get('CPU(s)', '?')} CPUs, {fields.get('Model name', 'unknown processor')}, family "
            f"{fields.get('CPU family', '?')} model {fields.get('Model', '?')}; Linux {platform.release()}")


def part_lines(found, down, launches):
    yield "| part | median (least–most) | how often |"
    yield "|---|---|---|"
    of_jobs = {f"not told: agent's launch in {name}": values for name, values in launches.items()}
    for part, values in {**found, "ResourceManager down": down, **of_jobs}.items():
        if values:
            milliseconds = [value * 1e3 for value in values]
            yield f"| {part} | {statistics.median(milliseconds):.0f} ms ({min(milliseconds):.0f}–{max(milliseconds):.0f}) | {len(values)} |"


def put(text, mark, lines):
    """`text` with these lines between the marks."""
    begin, end = f"<!-- {mark}: made by ./dev fidelity -->", f"<!-- {mark}: end -->"
    head, _, rest = text.partition(begin)
    return f"{head}{begin}\n\n" + "\n".join(lines) + f"\n\n{end}{rest.partition(end)[2]}"


def summary(rows, repeats, seeds):
    held = sum(row.within for row in rows)
    return f"{repeats} real runs and {seeds} seeds of each job; {held} of {len(rows)} medians are within the bound. {machine()}."


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--raw", type=pathlib.Path, help="write what was measured there, as JSON")
    parser.add_argument("jobs", nargs="*", metavar="JOB", help=", ".join(JOBS))
    arguments = parser.parse_intermixed_args()
    if unknown := set(arguments.jobs) - set(JOBS):
        parser.error(f"no such job: {', '.join(sorted(unknown))}; there are {', '.join(JOBS)}")
    if what := hadoop_cluster.missing():
        print(f"skipped: {what}")
        sys.exit(77)
    names = arguments.jobs or list(JOBS)
    with hadoop_cluster.Cluster.up(**real.cluster_options(scenario("cluster"))) as cluster:
        interval = behavior_rows.seconds(scenario("cluster")["yarn"]["heartbeat"]["nm"])
        found = measure_parts(cluster)
        down = measure_downtime(cluster) if RESTARTED in names else []
        real_runs, launches = really(cluster, interval, names, arguments.repeats)
    if arguments.raw:
        arguments.raw.write_text(json.dumps({"parts": found, "down": down, "launches": launches, "real": real_runs}))
    write_measured(found)
    if down:
        write_downtime(statistics.median(down))
    simulated_runs = in_simulator(arguments.bin / "tfsim", names, arguments.seeds)
    rows = [row for name in names for row in comparison.rows_of(name, real_runs[name], simulated_runs[name])]
    known = comparison.explained(rows, PAGE.read_text())
    lines = [summary(rows, arguments.repeats, arguments.seeds), "", *comparison.table(rows, known)]
    print("\n".join([*part_lines(found, down, launches), "", *lines]))
    if not arguments.jobs:
        text = put(PAGE.read_text(), "parts", part_lines(found, down, launches))
        PAGE.write_text(put(text, "stages", lines))
    left = comparison.open_gaps(rows, known)
    for row in left:
        print(f"{row.job}, {row.stage}: {row.gap * 1e3:+.0f} ms is not explained in {PAGE.relative_to(ROOT)}, or not all of it", file=sys.stderr)
    sys.exit(1 if left else 0)


if __name__ == "__main__":
    main()
