#!/usr/bin/env python3
"""Writes the small traces beside it: rows of our own invention in the formats of Philly's jobs and LANL's failures.

Nothing is taken from the published traces but the names of the columns. Rows are out of order, as theirs are.
Usage: make.py [FOLDER].
"""
import datetime
import lzma
import pathlib
import random
import sys

START = datetime.datetime(2031, 3, 1, 8, 0, 0)
CLUSTERS = ["aaaa01"] * 5 + ["bbbb02"] * 3 + ["cccc03"]


def philly(draw):
    rows = []
    at = START
    for _ in range(60):
        at += datetime.timedelta(seconds=round(draw.expovariate(1 / 240)))
        duration = round(draw.lognormvariate(6.5, 1.0))
        gpus = draw.choice([1, 1, 1, 2, 4, 8])
        rows.append(f"{at:%Y-%m-%d %H:%M:%S},{duration}.0,{gpus},{gpus * duration}.0,{draw.choice(CLUSTERS)}")
    draw.shuffle(rows)
    return "timestamp,duration,num_gpus,gpu_time,cluster\n" + "".join(row + "\n" for row in rows)


def lanl(draw):
    """Failures of systems 7 and 9; the columns that are read, and two that are not."""
    rows = []
    for _ in range(24):
        begin = datetime.datetime(2030, 5, 1) + datetime.timedelta(minutes=draw.randrange(600))
        minutes = draw.randrange(2, 90)
        end = begin + datetime.timedelta(minutes=minutes)
        stamps = [f"{t.month}/{t.day}/{t.year} {t.hour}:{t.minute:02}" for t in (begin, end)]
        rows.append(f"{draw.choice([7, 7, 9])},invented,{draw.randrange(12)},{stamps[0]},{stamps[1]},{minutes},Hardware")
    return "System,machine type,nodenumz,Prob Started,Prob Fixed,Down Time,Cause\n" + "".join(row + "\n" for row in rows)


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__)
    folder = folder if folder.is_dir() else folder.parent
    draw = random.Random(20310301)
    (folder / "small-philly.csv").write_text(philly(draw), encoding="ascii")
    (folder / "small-lanl.csv.xz").write_bytes(lzma.compress(lanl(draw).encode("ascii"), preset=9))


if __name__ == "__main__":
    main()
