#!/usr/bin/env python3
"""Whether every scenario, and 4000 runs that exploration draws, go as they went when they were recorded: same digests. A change that is
meant to leave behaviour as it is shows here what it does not leave so; any other says in its diff which runs it changes.

Usage: check.py TFSIM [--record]
  --record  write what comes out now to scenarios.txt and explored.txt

Scenarios with `# ctest: slow` or `# ctest: large` are left out, and those whose traces are not here.
"""
import concurrent.futures
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "mutation")]
import compare_digests  # noqa: E402
from trial import RECORDED_RUNS as RUNS, RECORDED_SEED as SEED, recorded_search  # noqa: E402

IN_A_LINE, DIGITS = 20, 6
SHOWN = 20


def digest_of(tfsim, path):
    """None: it cannot run here."""
    digest, why = compare_digests.run(tfsim, path)
    if digest is None:
        return None if why.startswith("skipped") else "failed"
    return digest if len(digest) < 40 else hashlib.md5(digest.encode()).hexdigest()  # Of an ensemble it is the whole result.


def of_scenarios(tfsim):
    paths = list(compare_digests.quick_scenarios(("slow", "large")))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        digests = pool.map(lambda path: digest_of(tfsim, path), paths)
        return {path.removeprefix("scenarios/").removesuffix(".yaml"): digest for path, digest in zip(paths, digests)}


def of_explored(tfsim):
    """Findings are for other tests."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([tfsim, *recorded_search(folder)], capture_output=True, text=True)
        lines = pathlib.Path(folder, "digests").read_text(encoding="utf-8").splitlines()
    digests = {index: digest[:DIGITS] for index, digest in (line.split() for line in lines)}
    if len(digests) < RUNS:
        print(f"{RUNS - len(digests)} explored runs have no digest (exit {done.returncode}): {done.stdout[-500:]}")
    return digests


def text_of(explored):
    runs = [explored.get(str(i), "-") for i in range(RUNS)]
    return "".join(f"{i} {' '.join(runs[i:i + IN_A_LINE])}\n" for i in range(0, RUNS, IN_A_LINE))


def recorded_explored():
    runs = [word for line in (HERE / "explored.txt").read_text(encoding="utf-8").splitlines() for word in line.split()[1:]]
    return {str(i): digest for i, digest in enumerate(runs)}


def differences(kind, recorded, now):
    """Names, and how many."""
    names = [name for name in {**recorded, **now} if now.get(name, "") is not None and recorded.get(name) != now.get(name)]
    if names:
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        print(f"{len(names)} of {len(now)} {kind} have another digest, or are recorded on one side alone: {', '.join(names[:SHOWN])}{more}")
    return len(names)


def main():
    tfsim, record = os.path.abspath(sys.argv[1]), sys.argv[2:] == ["--record"]
    os.chdir(ROOT)
    ran, explored = of_scenarios(tfsim), of_explored(tfsim)
    known = dict(line.split() for line in (HERE / "scenarios.txt").read_text(encoding="utf-8").splitlines()) if (HERE / "scenarios.txt").exists() else {}
    if record:
        lines = {name: digest or known.get(name) for name, digest in ran.items()}
        (HERE / "scenarios.txt").write_text("".join(f"{name} {digest}\n" for name, digest in lines.items() if digest), encoding="utf-8")
        (HERE / "explored.txt").write_text(text_of(explored), encoding="utf-8")
        print(f"recorded {len(lines)} scenarios and {len(explored)} explored runs")
        return 0
    found = differences("scenarios", known, ran) + differences("explored runs", recorded_explored(), explored)
    if found:
        print(f"`tfsim explore --seed {SEED} --print RUN` prints the scenario of an explored run. Where the change means it, `./dev record` writes "
              "what comes out now; say in the commit why.")
        return 1
    print(f"{len(ran)} scenarios and {len(explored)} explored runs as recorded")
    return 0


if __name__ == "__main__":
    sys.exit(main())
