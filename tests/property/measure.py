"""Runs tfsim many times and compares what comes out with formulas: means, standard errors, verdicts.

A Row is one line of a table of closed forms: a scenario with settings, figures to read from each run, what each must be, and
what each would be were a rate 5 % off. Runs are independent replications (one seed each), so the spread of their figures
gives the standard error without a word about how waits within one run depend on each other.
"""
import concurrent.futures
import dataclasses
import json
import math
import os
import statistics
import subprocess
import sys

# What a run may end with: all well, an expectation (an ensemble under `hold` has unfinished jobs).
FINE = (0, 20)


@dataclasses.dataclass
class Figure:
    """Of one row: mean and standard error over the runs, beside the formula's value."""
    name: str
    mean: float
    error: float
    formula: float

    def distance(self, value):
        """From `value`, in standard errors; without spread any difference is infinitely far."""
        if self.error == 0:
            return 0.0 if self.mean == value else math.inf
        return abs(self.mean - value) / self.error


class Simulator:
    """tfsim, with a pool that runs as many at once as there are processors."""

    def __init__(self, tfsim, scenarios, first_seed):
        self.tfsim, self.scenarios, self.first_seed = tfsim, scenarios, first_seed
        self.jobs = os.cpu_count() or 1
        self.pool = concurrent.futures.ThreadPoolExecutor(self.jobs)

    def command(self, scenario, settings, *options):
        sets = [word for path, value in settings.items() for word in ("--set", f"{path}={value}")]
        return [self.tfsim, "run", os.path.join(self.scenarios, scenario + ".yaml"), *options, *sets]

    def document(self, command):
        done = subprocess.run(command + ["--json", "-q"], capture_output=True, text=True, check=False)
        if done.returncode not in FINE:
            sys.exit(f"exit {done.returncode}: {' '.join(command)}\n{done.stderr}")
        result = json.loads(done.stdout)
        broken = [i["name"] for i in result.get("invariants", []) if i["violations"]]
        if broken:
            sys.exit(f"{', '.join(broken)} broken: {' '.join(command)}")
        return result

    def results(self, scenario, settings, runs, read):
        """read(result) of `runs` single runs, in order of their seeds."""
        def one(seed):
            return read(self.document(self.command(scenario, settings, "--seed", str(seed))))
        return list(self.pool.map(one, range(self.first_seed, self.first_seed + runs)))

    def ensemble(self, scenario, settings, runs):
        """The summary of `runs` runs."""
        last = self.first_seed + runs - 1
        return self.document(self.command(scenario, settings, "--seeds", f"{self.first_seed}..{last}", "-j", str(self.jobs)))


@dataclasses.dataclass
class Row:
    """`read` gives {figure: value} of one result; `right` and each of `wrong` {figure: value} of the formulas."""
    name: str
    scenario: str
    settings: dict
    runs: int
    read: object
    right: dict
    wrong: list

    def measure(self, simulator, scale):
        runs = max(2, round(self.runs * scale))
        values = simulator.results(self.scenario, self.settings, runs, self.read)
        return runs, [Figure(name, statistics.fmean(v[name] for v in values),
                             statistics.stdev(v[name] for v in values) / math.sqrt(runs), formula)
                      for name, formula in self.right.items()]


@dataclasses.dataclass
class MeanRow(Row):
    """The same from one ensemble: `read` gives {figure: {mean, sd, count}} of its metrics."""

    def measure(self, simulator, scale):
        runs = max(2, round(self.runs * scale))
        spread = self.read(simulator.ensemble(self.scenario, self.settings, runs)["metrics"])
        return runs, [Figure(name, spread[name]["mean"], spread[name]["sd"] / math.sqrt(runs), formula)
                      for name, formula in self.right.items()]


@dataclasses.dataclass
class ShareRow(Row):
    """A probability: `read` gives {figure: share of the runs} of one ensemble, all under `settings`.

    The standard error is that of the formula's own probability; a probability of 0 or 1 has none, and must come out so.
    """

    def measure(self, simulator, scale):
        runs = max(2, round(self.runs * scale))
        shares = self.read(simulator, self, runs)
        return runs, [Figure(name, shares[name], math.sqrt(p * (1 - p) / runs), p) for name, p in self.right.items()]


def student(limit, runs):
    """How many standard errors, estimated from so many runs, a mean exceeds as rarely as `limit` known ones: the distribution of
    Student, whose tails are long when runs are few."""
    freedom = runs - 1

    def tail(t):
        """With x = sqrt(freedom) tan(angle) the density is a power of a cosine; Simpson's rule."""
        begin, panels = math.atan(t / math.sqrt(freedom)), 400
        step = (math.pi / 2 - begin) / panels
        total = sum((1 if i in (0, panels) else 4 if i % 2 else 2) * math.cos(begin + i * step) ** (freedom - 1) for i in range(panels + 1))
        log_scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - math.log(math.pi) / 2
        return math.exp(log_scale) * total * step / 3
    wanted = math.erfc(limit / math.sqrt(2)) / 2
    low, high = limit, 1000.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > wanted else (low, middle)
    return high


def judge(row, simulator, scale, limit, must_tell):
    """Prints the row and returns whether it is as the formulas say, and (with must_tell) would not be, were a rate off. With
    a seed that the caller does not choose (not must_tell) chance alone must not refuse it."""
    runs, figures = row.measure(simulator, scale)
    if not must_tell:
        limit = student(limit, runs)
    by_name = {figure.name: figure for figure in figures}
    good = True
    for figure in figures:
        away = figure.distance(figure.formula)
        good = good and away <= limit
        print(f"{'ok  ' if away <= limit else 'FAIL'} {row.name:28} {figure.name:12} formula {figure.formula:<10.6g} "
              f"simulated {figure.mean:<10.6g} +- {figure.error:<9.3g} {away:5.2f} s.e.  {runs} runs", flush=True)
    for wrong in row.wrong:
        away = max(by_name[name].distance(value) for name, value in wrong.items())
        if away <= limit and must_tell:
            good = False
            print(f"FAIL {row.name:28} cannot be told from a rate 5 % off: {wrong} is {away:.2f} s.e. away", flush=True)
        elif must_tell:
            print(f"     {'':28} 5 % off: {away:.1f} s.e. away", flush=True)
    return good
