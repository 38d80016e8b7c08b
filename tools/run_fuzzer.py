#!/usr/bin/env python3
"""Runs a fuzz target as CTest does.

Usage: run_fuzzer.py PROGRAM SEEDS FOUND    searches for $TFYARN_FUZZ_SECONDS seconds (default 30) under a fresh random seed,
                                            which it prints; inputs worth keeping and crashes go to FOUND
       run_fuzzer.py --replay PROGRAM NAME SEEDS   gives the target NAME of fuzz_corpus every file of SEEDS, and $TFYARN_FUZZ_ROUNDS
                                            (default 500) inputs drawn by changing those under a fresh random seed, which it prints
"""
import os
import pathlib
import random
import subprocess
import sys


def replay(program, name, seeds):
    files = sorted(path for path in pathlib.Path(seeds).iterdir() if path.is_file())
    if not files:
        sys.exit(f"{seeds} has no seeds")
    rounds = int(os.environ.get("TFYARN_FUZZ_ROUNDS", "500"))
    seed = random.SystemRandom().randrange(1, 2**31)
    print(len(files), "seeds,", rounds, "changes of them under seed", seed, flush=True)
    done = subprocess.run([program, name, "--seed", str(seed), "--rounds", str(rounds), *map(str, files)],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
    if done.returncode != 0:
        print(done.stderr[-8000:])
        sys.exit(f"{program} {name} ended with {done.returncode}; with --seed {seed} --round N and the same files it does so again,"
                 " N being the last round named above")


def search(program, seeds, found):
    kept = pathlib.Path(found) / "kept"
    kept.mkdir(parents=True, exist_ok=True)
    seconds = int(os.environ.get("TFYARN_FUZZ_SECONDS", "30"))
    seed = random.SystemRandom().randrange(1, 2**31)
    command = [program, f"-max_total_time={seconds}", f"-seed={seed}", "-timeout=25", "-rss_limit_mb=2048",
               "-print_final_stats=1", f"-artifact_prefix={found}/", str(kept), seeds]
    print("seed", seed, "for", seconds, "s:", " ".join(command), flush=True)
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, errors="replace")
    lines = done.stderr.splitlines()
    if done.returncode != 0:
        print("\n".join(lines[-120:]))
        sys.exit(f"seed {seed}: ended with {done.returncode}; run {program} on the file named above")
    for line in lines:
        if line.startswith(("stat::number_of_executed_units", "stat::average_exec_per_sec", "stat::peak_rss_mb")):
            print(line)


def main():
    if sys.argv[1] == "--replay":
        replay(*sys.argv[2:5])
    else:
        search(*sys.argv[1:4])


if __name__ == "__main__":
    main()
