#!/usr/bin/env python3
"""Does the simulator, with the whole production core in it, come out where theory says it must?

Usage: closed_forms.py TFSIM SCENARIOS [GROUP...] [--scale F] [--fresh | --seed N]

Each row runs scenarios/closed-forms/ many times. With the fixed seed a figure more than 3 standard errors from its formula
fails, and so does a row that a rate 5 % off would not fail. With --fresh (a new seed, printed) the bound is 5 standard
errors: about fifty comparisons at 3 would raise a false alarm in one run of eight, at 5 in fewer than one of a thousand.
"""
import argparse
import resource
import secrets
import sys

import formulas
from measure import MeanRow, Row, ShareRow, Simulator, judge

OFF = (0.95, 1.05)
SERVICE = 7200  # Mean service time, seconds: overheads of about one second stay far below the standard errors.


# ---------------------------------------------------------------- queues

def waits(warmup):
    """Mean wait in service times, and the share of jobs that wait, of the jobs after the first `warmup`.

    A job that finds a free slot has it after at most one heartbeat of its AM: 1 s, so what is longer than 5 s was a wait.
    """
    def read(result):
        each = [job["gang_wait_seconds"] for job in result["jobs"][warmup:]]
        return {"wait": sum(each) / len(each) / SERVICE, "P(wait)": sum(w > 5 for w in each) / len(each)}
    return read


def queue(name, runs, jobs, rho, servers=1, tasks=1, scv=1):
    """`servers` gangs of `tasks` fit at once; service times with that squared coefficient of variation."""
    law = {0: f"{SERVICE}", 1: f"{{dist: exponential, mean: {SERVICE}}}",
           16: f"{{dist: gamma, shape: 0.0625, scale: {SERVICE * 16}}}"}[scv]
    warmup = jobs // 4

    def at(load):
        if servers == 1:
            return {"wait": formulas.mg1_wait(load, scv), "P(wait)": load}
        return {"wait": formulas.mmc_wait(servers, load), "P(wait)": formulas.erlang_c(servers, servers * load)}
    settings = {"arrivals.0.poisson.rate": f"{rho * servers * 24 * 3600 / SERVICE:g}/d", "arrivals.0.count": jobs, "expect": "[]",
                "arrivals.0.template.training.steps": law, "cluster.nodes.slots.resources.gpus": servers * tasks,
                "arrivals.0.template.tasks.worker.instances": tasks}
    return Row(name, "queue", settings, runs, waits(warmup), at(rho), [at(rho * off) for off in OFF])


def queues():
    return [queue("M/M/1 0.5", 24, 2000, 0.5), queue("M/M/1 0.8", 24, 1200, 0.8), queue("M/M/1 0.9", 24, 2000, 0.9),
            queue("M/M/4 0.8", 24, 1000, 0.8, servers=4), queue("M/M/8 0.9", 24, 1500, 0.9, servers=8),
            queue("M/D/1 0.8", 24, 1000, 0.8, scv=0), queue("M/G/1 0.8, C2=16", 24, 8000, 0.8, scv=16)]


def gangs():
    """Gangs of k on n slots are M/M/(n/k)."""
    return [queue("gangs of 4 on 16, 0.8", 24, 1500, 0.8, servers=4, tasks=4),
            queue("gangs of 8 on 8, 0.5", 24, 2000, 0.5, servers=1, tasks=8)]


# ---------------------------------------------------------------- head of line

def head_of_line_row(p, runs, jobs):
    """Jobs come a quarter faster than they can be served; the rate at which they end, once all slots are busy for good."""
    right = formulas.head_of_line_rate(8, p)
    rate = 1.25 * right * 24 * 3600 / SERVICE

    def read(result):
        last = {}
        for job in result["jobs"]:
            last[job["name"].split("-")[0]] = job["submitted"]
        begin, end = 0.2 * min(last.values()), min(last.values())
        return {"rate": sum(begin < job["finished"] <= end for job in result["jobs"]) / (end - begin) * SERVICE}
    settings = {"arrivals.0.poisson.rate": f"{rate * p:.9g}/d", "arrivals.1.poisson.rate": f"{rate * (1 - p):.9g}/d",
                "defaults.training.steps": f"{{dist: exponential, mean: {SERVICE}}}",
                "arrivals.0.count": round(jobs * p), "arrivals.1.count": round(jobs * (1 - p)), "expect": "[]"}
    return Row(f"head of line, p={p}", "head-of-line", settings, runs, read, {"rate": right},
               [{"rate": right * off} for off in OFF])


def head_of_line():
    return [head_of_line_row(0.5, 24, 800), head_of_line_row(0.1, 24, 3500), head_of_line_row(0.01, 24, 4000)]


# ---------------------------------------------------------------- checkpoint and restart

def elapsed(work):
    """Time per unit of work, and failures that struck the training per 100 days of work."""
    def read(result):
        job = result["jobs"][0]
        return {"slowdown": (job["finished"] - job["started"]) / work,
                "failures": (job["epochs"] - 1) / work * 100 * 86400}
    return read


def failing(mean):
    """Failures of one node."""
    return f"{{dist: exponential, mean: {mean:.0f}s}}"


def training(name, runs, days, interval, mean, cost, restore, down, settings, scenario="checkpoint", nodes=1):
    """Failures exponential with `mean`; the interval's segments make up about `days` of work."""
    interval = round(interval)
    work = interval * max(1, round(days * 86400 / interval))

    def at(off):
        return {"slowdown": formulas.slowdown(interval, mean / off, cost, restore, down),
                "failures": formulas.failures(interval, mean / off, cost, restore) / interval * 100 * 86400}
    settings = {"jobs.0.training.steps": work, "jobs.0.training.checkpoint.every": f"{interval}s",
                "jobs.0.training.checkpoint.cost": f"{cost}s", "jobs.0.training.restore": f"{restore}s", "faults.0.every": failing(mean * nodes), **settings}
    return Row(name, scenario, settings, runs, elapsed(work), at(1), [at(off) for off in OFF])


def checkpoint():
    day = 86400

    def row(name, runs, interval, cost, restore, down):
        return training(name, runs, 600, interval, day, cost, restore, down, {"faults.0.for": f"{down}s"})
    none = {"jobs.0.training.steps": day, "jobs.0.training.checkpoint": "null", "jobs.0.training.restore": "600s",
            "faults.0.every": failing(day), "faults.0.for": "300s"}

    def without(off):
        return {"slowdown": formulas.slowdown(day, day / off, 0, 600, 300)}
    return [row("Young, C=300 s", 24, formulas.young(300, day), 300, 600, 300),
            row("exact, C=300 s", 24, formulas.exact_interval(300, day), 300, 600, 300),
            row("2 x Young, C=300 s", 24, 2 * formulas.young(300, day), 300, 600, 300),
            row("Young / 4, C=300 s", 24, formulas.young(300, day) / 4, 300, 600, 300),
            row("Young, C=60 s", 24, formulas.young(60, day), 60, 300, 120),
            row("exact, C=60 s", 24, formulas.exact_interval(60, day), 60, 300, 120),
            MeanRow("no checkpoint", "checkpoint", none, 16000,
                    lambda metrics: {"slowdown": {k: v / day for k, v in metrics["jct_mean_seconds"].items()}},
                    without(1), [without(off) for off in OFF])]


def detection():
    """64 nodes; 30 s until the lost worker's container runs again. With 600 s it is YARN's node expiry that notices."""
    mean, cost, restore = 30 * 86400 / 64, 60, 60
    interval = formulas.exact_interval(cost, mean)
    ours = {600: {"jobs.0.heartbeat": "{every: 1s, missed: 5000}"}, 60: {"jobs.0.heartbeat": "{every: 1s, missed: 60}"},
            3: {"jobs.0.heartbeat": "{every: 100ms, missed: 30}"}}
    return [training(f"64 nodes, noticed in {noticed} s", 40, 90, interval, mean, cost, restore, noticed + 30, settings,
                     "detection", nodes=64) for noticed, settings in ours.items()]


# ---------------------------------------------------------------- hold and wait

def deadlock_row(jobs, k, units, runs):
    """`jobs` gangs of k on `units` slots that are dealt at random: under `hold` as the formula says, under `all` never."""
    common = {"arrivals.0.count": jobs, "arrivals.0.template.tasks.worker.instances": k, "cluster.nodes.slots.resources.gpus": units,
              "sweep": "null", "expect": "[]"}

    def read(simulator, row, number):
        hold = {**common, "defaults.gang.policy": "hold", "horizon": "30s", "arrivals.0.template.training.steps": 100000}
        every = {**common, "defaults.gang.policy": "all"}
        held = simulator.ensemble(row.scenario, hold, number)
        given_back = simulator.ensemble(row.scenario, every, number)
        return {"hold": held["deadlock_rate"], "all": given_back["deadlock_rate"],
                "all: done": given_back["metrics"]["jobs_succeeded"]["mean"] / jobs}
    p = formulas.deadlock(jobs, k, units)
    wrong = [{"hold": p + by} for by in (-0.05, 0.05) if 0 <= p + by <= 1]
    return ShareRow(f"{jobs} gangs of {k} on {units}", "hold-and-wait", {}, runs, read, {"hold": p, "all": 0, "all: done": 1}, wrong)


def deadlocks():
    """A probability that is 0.05 off must be told from the right one: as many runs as that takes, 100 at least."""
    rows = []
    for jobs, k, each in ((2, 4, (4, 5, 6, 7)), (2, 8, (8, 10, 12, 14, 15)), (4, 8, (16, 24, 28, 29))):
        for units in each:
            p = formulas.deadlock(jobs, k, units)
            rows.append(deadlock_row(jobs, k, units, max(100, round((5.2 / 0.05)**2 * p * (1 - p)))))
    return rows


# ---------------------------------------------------------------- nodes

def nodes():
    """Twenty nodes that fail and are repaired, beside one that does not fail."""
    hour = 3600

    def up_share(result):
        return {"up": (result["metrics"]["node_availability"] * 21 - 1) / 20}

    def gaps(result):
        at = [fault["at"] for fault in result["faults"]]
        between = [b - a for a, b in zip(at, at[1:])]
        mean = sum(between) / len(between)
        return {"gap": mean, "square": sum(b * b for b in between) / len(between) / mean**2}

    def up(off):
        return {"up": formulas.availability(10 / off, 2)}
    mean = 10 * hour / 20
    superposed = {"faults.0.for": "1ms", "jobs.0.training.steps": 500}
    return [Row("availability", "nodes", {"jobs.0.training.steps": 2000, "expect": "[]"}, 24, up_share, up(1),
                [up(off) for off in OFF]),
            Row("superposition of 20", "nodes", {**superposed, "expect": "[]"}, 24, gaps, {"gap": mean, "square": 2.0},
                [{"gap": mean / off} for off in OFF])]


GROUPS = {"queues": queues, "gangs": gangs, "head-of-line": head_of_line, "checkpoint": checkpoint, "detection": detection,
          "deadlocks": deadlocks, "nodes": nodes}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tfsim")
    parser.add_argument("scenarios", help="the folder scenarios/closed-forms")
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"of {', '.join(GROUPS)}; default: all")
    parser.add_argument("--row", default="", help="only rows whose name contains this")
    parser.add_argument("--scale", type=float, default=1, help="times as many runs")
    parser.add_argument("--seed", type=int, default=1, help="the first run's")
    parser.add_argument("--fresh", action="store_true", help="a seed of its own; refused is what 5 standard errors are exceeded as rarely as, however few runs there are")
    options = parser.parse_intermixed_args()
    unknown = [group for group in options.groups if group not in GROUPS]
    if unknown:
        parser.error(f"no group {', '.join(unknown)}")
    slips = formulas.check()
    for slip in slips:
        print("FAIL formula", slip)
    seed = secrets.randbelow(10**9) + 1 if options.fresh else options.seed
    limit = 5 if options.fresh else 3
    print(f"first seed {seed}; {limit} standard errors")
    simulator = Simulator(options.tfsim, options.scenarios, seed)
    good = [judge(row, simulator, options.scale, limit, not options.fresh)
            for group in options.groups or GROUPS for row in GROUPS[group]() if options.row in row.name]
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{spent.ru_utime + spent.ru_stime:.1f} s of processor time")
    sys.exit(1 if slips or not good or not all(good) else 0)


if __name__ == "__main__":
    main()
