"""Closed forms that the simulator has to reproduce: queues, gangs, checkpoints, deadlocks.

Every function is written from the theory named at it and takes plain numbers: times in one unit of the caller's choice.
Nothing here knows the simulator. check() compares each with values worked out independently of this file; it runs before
every comparison, so that a slip here cannot pass for a defect of the simulator.
"""
import math


# ---------------------------------------------------------------- queues

def erlang_c(servers, load):
    """Probability that a job waits in M/M/c with `load` = arrival rate / rate of one server (Erlang's second formula)."""
    term, below = 1.0, 0.0
    for i in range(servers):
        below += term
        term *= load / (i + 1)
    waiting = term / (1 - load / servers)
    return waiting / (below + waiting)


def mmc_wait(servers, rho):
    """Mean wait in M/M/c at utilisation rho, in mean service times."""
    return erlang_c(servers, servers * rho) / (servers * (1 - rho))


def mg1_wait(rho, scv):
    """Pollaczek-Khinchine: mean wait in M/G/1, in mean service times; scv = variance / mean^2 of the service time."""
    return rho * (1 + scv) / (2 * (1 - rho))


def head_of_line_rate(n, p):
    """Throughput of saturated first-come-first-served on n slots, in jobs per mean service time.

    A share p of the jobs needs all n slots, the others one; service is exponential with mean 1. Between two jobs of all
    slots come L of one slot, L geometric. They take H_L (the longest of L) when L <= n; else one ends each 1/n until n are
    left, and those take H_n.
    """
    harmonic = [0.0]
    for i in range(1, n + 1):
        harmonic.append(harmonic[-1] + 1 / i)
    mean, chance, length = 0.0, p, 0
    while chance > 1e-18:
        mean += chance * (harmonic[length] if length <= n else (length - n) / n + harmonic[n])
        chance *= 1 - p
        length += 1
    return (1 / p) / (1 + mean)


# ---------------------------------------------------------------- checkpoint and restart

def young(cost, mean):
    return math.sqrt(2 * cost * mean)


def exact_interval(cost, mean):
    """The tau that minimises slowdown(): tau/mean = 1 + W0(-exp(-cost/mean - 1)), W0 by Newton's method."""
    x = -math.exp(-cost / mean - 1)
    w = -1 + math.sqrt(2 * (1 + math.e * x))
    for _ in range(60):
        e = math.exp(w)
        w -= (w * e - x) / (e * (w + 1))
    return mean * (1 + w)


def slowdown(interval, mean, cost, restore, down):
    """Expected time per unit of work: failures exponential with `mean`, a checkpoint of `cost` after each `interval` of work,
    `down` without risk after each failure, then `restore`, which may itself fail."""
    return failures(interval, mean, cost, restore) * (mean + down) / interval


def failures(interval, mean, cost, restore):
    """Expected failures per interval: the time at risk, in means. slowdown() is their number times (mean + down)."""
    return math.exp(restore / mean) * math.expm1((interval + cost) / mean)


# ---------------------------------------------------------------- hold and wait

def deadlock(jobs, k, units):
    """Probability that no gang of k is complete when `units` were dealt one by one, each to a gang at random.

    units! times the coefficient of x^units in (sum_{i<k} x^i/i!)^jobs, over jobs^units; counted in whole numbers: ways to
    deal so that no job has k.
    """
    ways = [1] + [0] * units
    for _ in range(jobs):
        ways = [sum(math.comb(u, i) * ways[u - i] for i in range(min(k - 1, u) + 1)) for u in range(units + 1)]
    return ways[units] / jobs**units


def availability(up, down):
    return up / (up + down)


# ---------------------------------------------------------------- values worked out elsewhere

KNOWN = [
    ("M/M/1 0.5 wait", lambda: mmc_wait(1, 0.5), 1, 1e-12),
    ("M/M/1 0.8 wait", lambda: mmc_wait(1, 0.8), 4, 1e-12),
    ("M/M/1 0.9 wait", lambda: mmc_wait(1, 0.9), 9, 1e-11),
    ("M/M/4 0.8 P(wait)", lambda: erlang_c(4, 3.2), 0.596432, 5e-7),
    ("M/M/4 0.8 wait", lambda: mmc_wait(4, 0.8), 0.745541, 5e-7),
    ("M/M/8 0.9 P(wait)", lambda: erlang_c(8, 7.2), 0.701533, 5e-7),
    ("M/M/8 0.9 wait", lambda: mmc_wait(8, 0.9), 0.876916, 5e-7),
    ("M/G/1 0.8 C2=0", lambda: mg1_wait(0.8, 0), 2, 1e-12),
    ("M/G/1 0.8 C2=1", lambda: mg1_wait(0.8, 1), 4, 1e-12),
    ("M/G/1 0.8 C2=16", lambda: mg1_wait(0.8, 16), 34, 1e-11),
    ("head of line 8, 0.5", lambda: head_of_line_rate(8, 0.5), 1.18117, 5e-6),
    ("head of line 8, 0.1", lambda: head_of_line_rate(8, 0.1), 2.83679, 5e-6),
    ("head of line 8, 0.01", lambda: head_of_line_rate(8, 0.01), 6.64090, 5e-6),
    ("Young, 300 s of 24 h", lambda: young(300, 86400), 7200.0, 0.05),
    ("exact, 300 s of 24 h", lambda: exact_interval(300, 86400), 7001.4, 0.05),
    ("slowdown at Young", lambda: slowdown(7200, 86400, 300, 600, 300), 1.099603, 5e-7),
    ("slowdown at exact", lambda: slowdown(exact_interval(300, 86400), 86400, 300, 600, 300), 1.099568, 5e-7),
    ("slowdown at twice Young", lambda: slowdown(14400, 86400, 300, 600, 300), 1.124463, 5e-7),
    ("slowdown at a quarter of Young", lambda: slowdown(1800, 86400, 300, 600, 300), 1.193319, 5e-7),
    ("slowdown without checkpoint", lambda: slowdown(86400, 86400, 0, 600, 300), 1.7363, 5e-5),
    ("Young, 60 s of 24 h", lambda: young(60, 86400), 3219.9, 0.05),
    ("exact, 60 s of 24 h", lambda: exact_interval(60, 86400), 3180.1, 0.05),
    ("slowdown at Young, 60 s", lambda: slowdown(young(60, 86400), 86400, 60, 300, 120), 1.043274, 5e-7),
    ("slowdown at exact, 60 s", lambda: slowdown(exact_interval(60, 86400), 86400, 60, 300, 120), 1.043271, 5e-7),
    ("detection 600 s", lambda: slowdown(exact_interval(60, 40500), 40500, 60, 60, 630), 1.074493, 5e-7),
    ("detection 60 s", lambda: slowdown(exact_interval(60, 40500), 40500, 60, 60, 90), 1.060386, 5e-7),
    ("detection 3 s", lambda: slowdown(exact_interval(60, 40500), 40500, 60, 60, 33), 1.058897, 5e-7),
    ("deadlock 2 of 4, 4", lambda: deadlock(2, 4, 4), 0.875, 1e-12),
    ("deadlock 2 of 4, 5", lambda: deadlock(2, 4, 5), 0.625, 1e-12),
    ("deadlock 2 of 4, 6", lambda: deadlock(2, 4, 6), 0.3125, 1e-12),
    ("deadlock 2 of 4, 7", lambda: deadlock(2, 4, 7), 0, 0),
    ("deadlock 2 of 8, 8", lambda: deadlock(2, 8, 8), 0.992188, 5e-7),
    ("deadlock 2 of 8, 10", lambda: deadlock(2, 8, 10), 0.890625, 5e-7),
    ("deadlock 2 of 8, 12", lambda: deadlock(2, 8, 12), 0.612305, 5e-7),
    ("deadlock 2 of 8, 14", lambda: deadlock(2, 8, 14), 0.209473, 5e-7),
    ("deadlock 2 of 8, 15", lambda: deadlock(2, 8, 15), 0, 0),
    ("deadlock 4 of 8, 16", lambda: deadlock(4, 8, 16), 0.891498, 5e-7),
    ("deadlock 4 of 8, 24", lambda: deadlock(4, 8, 24), 0.200466, 5e-7),
    ("deadlock 4 of 8, 28", lambda: deadlock(4, 8, 28), 0.006558, 5e-7),
    ("deadlock 4 of 8, 29", lambda: deadlock(4, 8, 29), 0, 0),
]


def check():
    """The formulas that do not give their known value, as texts."""
    return [f"{name}: {formula()} instead of {known}" for name, formula, known, within in KNOWN
            if abs(formula() - known) > within]
