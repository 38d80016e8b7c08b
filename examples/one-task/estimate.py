#!/usr/bin/env python3
"""Estimates pi by throwing darts, and keeps count in a file: started again, it goes on."""
import json
import os
import pathlib
import random

ROUNDS = 10
DARTS = 200_000


def hits(rng):
    return sum(rng.random() ** 2 + rng.random() ** 2 < 1.0 for _ in range(DARTS))


def main():
    state = pathlib.Path(os.environ.get("TFYARN_SHARED_DIRECTORY", ".")) / "count.json"
    count = json.loads(state.read_text()) if state.exists() else {"rounds": 0, "hits": 0}
    if count["rounds"]:
        print(f"goes on after round {count['rounds']}", flush=True)
    while count["rounds"] < ROUNDS:
        count = {"rounds": count["rounds"] + 1, "hits": count["hits"] + hits(random.Random(count["rounds"]))}
        # Written beside it and renamed, so that a crash in between leaves the old count whole.
        whole = state.with_suffix(".new")
        whole.write_text(json.dumps(count))
        whole.rename(state)
        print(f"step {count['rounds']} pi is about {4 * count['hits'] / (count['rounds'] * DARTS):.4f}", flush=True)


if __name__ == "__main__":
    main()
