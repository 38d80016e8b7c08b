#!/usr/bin/env python3
"""Takes mechanisms of the core away, one at a time, and demands that the scenarios which show them fail.

Usage: run.py [--check | --list | --record | --again | --minutes=N] [NAME...]
  NAME      a mutant, or a scenario: then all mutants that must fail it. Without any, the whole table.
  --check   only whether the table is sound and names every scenario; nothing is built
  --record  after a whole run, write docs/mutants.md
  --again   also what was already caught with these very sources, mutant and scenarios (build/mutants/caught.json)

  --minutes=N  start no further mutant after that time; the next run goes on there, and --record names what was not run

Works on a copy of the working tree in build/mutants/tree, never on the tree itself. The copy is built once; a mutant costs the
sources that it changes, compiled without optimization, and one link, and as many run at a time as there are cores. A scenario fails when tfsim exits 10 or 11
(a job's status that no expectation names), 20 (an expectation) or 21 (an invariant). A crash, a hang or an error is no proof that
anything was noticed.
"""
import concurrent.futures
import datetime
import hashlib
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import table

sys.path.insert(0, str(table.ROOT / "tests"))
import changed_sources  # noqa: E402  (it stands beside this folder)

WORK = table.ROOT / "build" / "mutants"
TREE = WORK / "tree"
TFSIM = TREE / "build" / "bin" / "tfsim"
CAUGHT = WORK / "caught.json"
NOTICED = {10: "a job's status", 11: "a job's status", 20: "an expectation", 21: "an invariant"}
MOST_SECONDS = 120


def copy_tree():
    """Brings the copy up to date and touches nothing that has not changed."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=table.ROOT, check=True,
                            capture_output=True, text=True).stdout.split("\0")
    wanted = {name for name in listed if name and (table.ROOT / name).is_file()}
    for path in [path for path in TREE.rglob("*") if path.is_file()] if TREE.exists() else []:
        name = str(path.relative_to(TREE))
        if not name.startswith("build/") and name not in wanted:
            path.unlink()
    for name in sorted(wanted):
        source, target = table.ROOT / name, TREE / name
        if target.is_file() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def build():
    """Builds the copy as it is; None, or what the compiler said."""
    environment = {**os.environ, "CCACHE_BASEDIR": str(TREE), "CCACHE_NOHASHDIR": "1"}
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    commands = [["ninja", "-C", "build", "tfsim"]]
    if not (TREE / "build" / "build.ninja").exists():
        commands.insert(0, ["cmake", "--preset", "release", *launcher])
    for command in commands:
        done = subprocess.run(command, cwd=TREE, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return done.stdout + done.stderr
    return None


def what_failed(output):
    """The first expectation or invariant that a result document says was not met."""
    try:
        result = json.loads(output)
    except json.JSONDecodeError:
        return ""
    for invariant in result.get("invariants", []):
        if invariant.get("violations"):
            return invariant["name"]
    for expectation in result.get("expectations", []):
        if not expectation["passed"]:
            return f"{expectation['text']} got {expectation['got']}"
    return result.get("reason", "")


def run(scenario, tfsim=TFSIM):
    """(exit code or None for a hang, what failed)."""
    command = [str(tfsim), "run", f"scenarios/{scenario}.yaml", "--json"]
    try:
        done = subprocess.run(command, cwd=TREE, capture_output=True, text=True, timeout=MOST_SECONDS, preexec_fn=changed_sources.limit,
                              check=False)
    except subprocess.TimeoutExpired:
        return None, f"no end within {MOST_SECONDS} s"
    return done.returncode, what_failed(done.stdout) or " ".join(done.stderr.strip().splitlines()[-1:])


def try_mutant(mutant, compiler, until):
    """(What happened, as lines; the scenarios that did not notice, each with what happened instead.)"""
    start = time.monotonic()
    if start > until:
        return ["  not run: no time left"], [("", "not run since something it depends on has changed")]
    said, survivors = [], []
    with tempfile.TemporaryDirectory(dir=WORK) as name:
        folder = pathlib.Path(name)
        errors = compiler.build(mutant.texts(TREE), folder)
        if errors is not None:
            return [errors], [("", "does not compile")]
        for scenario in mutant.fails:
            code, what = run(scenario, folder / "tfsim")
            said.append(f"  {scenario}: exit {code} {what}"[:220])
            if code not in NOTICED:
                survivors.append((scenario, f"exit {code} {what}".strip()))
    said.append(f"  {'not caught' if survivors else 'caught'} in {time.monotonic() - start:.0f} s")
    return said, survivors


def digest_of_sources():
    """Of all that tfsim is built from."""
    digest = hashlib.sha256()
    for path in sorted(TREE.rglob("*")):
        inside = str(path.relative_to(TREE))
        if inside.startswith(("build/", "tests/", "bench/")) or not inside.endswith((".cc", ".h", "CMakeLists.txt", ".cmake")):
            continue
        digest.update(inside.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def key_of(mutant, sources):
    """What the outcome of a mutant depends on; an interrupted run goes on where it was."""
    digest = hashlib.sha256(sources.encode())
    for change in mutant.changes:
        digest.update("\0".join((change.file, change.old_text(), change.new_text(), "")).encode())
    for scenario in mutant.fails:
        digest.update((TREE / "scenarios" / f"{scenario}.yaml").read_bytes())
    return digest.hexdigest()


def select(mutants, names):
    if not names:
        return mutants
    chosen = [mutant for mutant in mutants if mutant.name in names or set(names) & set(mutant.fails)]
    unknown = set(names) - {mutant.name for mutant in mutants} - {name for mutant in mutants for name in mutant.fails}
    if unknown:
        sys.exit(f"run.py: neither a mutant nor a scenario of the table: {', '.join(sorted(unknown))}")
    return chosen


def record(mutants, bad):
    """Writes docs/mutants.md; what was not caught stands first."""
    missed = {name: (scenario, what) for name, scenario, what in reversed(bad)}
    names = sorted({name for mutant in mutants for name in mutant.fails})
    lines = ["# Mutants", "",
             "These mutants prove that the scenarios can fail: `./dev mutants` removes mechanisms of the core, one at a time, and requires",
             "that the scenarios which show them fail, by an expectation or an invariant. The table is tests/mutants/mutants.txt; the",
             "CTest case `mutants` checks that it is not stale and names every scenario. `./dev mutants --record` writes this page.", "",
             f"Last whole run: {datetime.date.today().isoformat()}, {len(mutants)} mutants, {len(names)} scenarios; "
             f"{len(mutants) - len(missed)} of {len(mutants)} caught.", ""]
    if missed:
        lines += ["## Not caught yet", "", "| mechanism taken away | in | what happened |", "|---|---|---|"]
        lines += [f"| {mutant.name}: {mutant.why} | {', '.join(mutant.files())} | {' '.join(missed[mutant.name]).strip()} |" for mutant in mutants
                  if mutant.name in missed]
        lines += ["", "## Caught", ""]
    lines += ["| mechanism taken away | in | fails |", "|---|---|---|"]
    lines += [f"| {mutant.name}: {mutant.why} | {', '.join(mutant.files())} | {', '.join(mutant.fails)} |" for mutant in mutants
              if mutant.name not in missed]
    (table.ROOT / "docs" / "mutants.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def run_all(chosen, again, until):
    """(mutant, scenario, what happened) of what no scenario noticed."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        names = sorted({name for mutant in chosen for name in mutant.fails})
        broken = [f"{name}: exit {code} {what}" for name, (code, what) in zip(names, pool.map(run, names)) if code != 0]
        if broken:
            sys.exit("these fail with nothing taken away:\n" + "\n".join(broken))
        sources, compiler = digest_of_sources(), changed_sources.Compiler(TREE, TREE / "build", WORK / "objects")
        caught = json.loads(CAUGHT.read_text(encoding="utf-8")) if CAUGHT.exists() and not again else {}
        waiting = {pool.submit(try_mutant, mutant, compiler, until): mutant for mutant in chosen
                   if caught.get(mutant.name) != key_of(mutant, sources)}
        bad = []
        for number, done in enumerate(concurrent.futures.as_completed(waiting), 1):
            mutant = waiting[done]
            said, survivors = done.result()
            print(f"[{number}/{len(waiting)}] {mutant.name}", *said, sep="\n", flush=True)
            bad += [(mutant.name, *survivor) for survivor in survivors]
            if not survivors:
                caught[mutant.name] = key_of(mutant, sources)
                CAUGHT.write_text(json.dumps(caught), encoding="utf-8")
    return bad


def main():
    options = [argument for argument in sys.argv[1:] if argument.startswith("-")]
    names = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    minutes = [option.removeprefix("--minutes=") for option in options if option.startswith("--minutes=")]
    known = {"--check", "--list", "--record", "--again"}
    if any(option not in known and not option.startswith("--minutes=") for option in options) or not "".join(minutes + ["1"]).isdigit():
        sys.exit(__doc__)
    until = time.monotonic() + 60 * int(minutes[-1]) if minutes and minutes[-1] else math.inf
    try:
        mutants, exemptions = table.read()
    except table.TableError as error:
        sys.exit(str(error))
    found = table.problems(mutants, exemptions)
    for problem in found:
        print(problem)
    if "--check" in options:
        print(f"{len(mutants)} mutants, {len(found)} problems")
        sys.exit(1 if found else 0)
    if "--list" in options:
        for mutant in mutants:
            print(f"{mutant.name:40} {' '.join(mutant.fails)}")
        return
    chosen = select(mutants, names)
    copy_tree()
    errors = build()
    if errors is not None:
        sys.exit(f"the tree itself does not build:\n{errors}")
    bad = run_all(chosen, "--again" in options, until)
    for name, scenario, what in bad:
        print(f"NOT CAUGHT {name}: {scenario} {what}")
    print(f"{len(chosen)} mutants, {len({name for name, _, _ in bad})} not caught")
    if "--record" in options and not names:
        record(mutants, bad)
    sys.exit(1 if bad or found else 0)


if __name__ == "__main__":
    main()
