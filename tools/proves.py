#!/usr/bin/env python3
"""Whether the tests of a commit fail without the rest of it: ./dev proves [COMMIT]

Usage: proves.py [--seeds=N] [--build=DIR] [COMMIT]
  COMMIT     HEAD, if none is named; compared with its first parent
  --seeds=N  of a new scenario (200)
  --build=DIR  a built tree of this checkout, whose objects are used where nothing they are made of differs (build)

Takes what the commit adds or changes of tests: scenarios (scenarios/*.yaml), unit tests (*_test.cc: the cases whose lines changed), golden
scripts (tests/golden) and Python cases (scripts that CTest runs). The parent is checked out in build/proves, gets these files, and runs
them: what is new must fail there. What does not compile there (or is no scenario there) shows nothing, unless the commit adds an
interface that the test is of. Then all must pass at the commit, and each new scenario under N seeds.

Exit code: 0 it is proven; 1 something passes on the parent, or fails at the commit; 2 wrong use; 3 the commit has no tests, or they show
nothing.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import overlay

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "proves"
FAILED_RUN = (10, 11, 20, 21)
NO_SCENARIO = 3
MOST_SECONDS = 1800
PROGRAMS = ("bin/tfsim", "bin/tfyarn", "bin/tfyarn-am", "bin/tfyarn-agent")
CASE = re.compile(r"^(?:TEST|TEST_F|TEST_P|TYPED_TEST)\((\w+),\s*(\w+)\)")


def git(*words, check=True):
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if check and done.returncode != 0:
        sys.exit(f"proves: git {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def is_test(name):
    return name.startswith(("scenarios/", "tests/"))


class Change:
    """What a commit did to one file."""

    def __init__(self, commit, status, name):
        self.name, self.new = name, status == "A"
        self.text = git("show", f"{commit}:{name}")
        hunks = git("diff", "--unified=0", f"{commit}^", commit, "--", name)
        self.lines = set()
        for first, count in re.findall(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", hunks, re.MULTILINE):
            self.lines.update(range(int(first), int(first) + int(count or 1)))

    def cases(self):
        """(suite, case, whether its first line is new) of the unit tests that it changed."""
        found, current = [], None
        for number, line in enumerate(self.text.splitlines(), 1):
            match = CASE.match(line)
            if match:
                current = [*match.groups(), number in self.lines]
                changed = False
            if current and number in self.lines and line.strip() and not changed:
                changed = True
                found.append(tuple(current))
        return found


def changes_of(commit):
    rows = git("diff", "--name-status", "--no-renames", f"{commit}^", commit).splitlines()
    return [Change(commit, *row.split("\t")) for row in rows if row[0] in "AM" and is_test(row.split("\t")[1])]


def adds_interface(commit):
    """Whether a header of the product, or a table of fields, gets lines."""
    rows = git("diff", "--numstat", f"{commit}^", commit).splitlines()
    return any(int(added) > 0 for added, _, name in (row.split("\t") for row in rows)
               if added.isdigit() and not is_test(name) and (name.endswith(".h") or name.endswith("_table.cc")))


def check_out(commit, name):
    """A worktree of the commit in build/proves/NAME."""
    folder = WORK / name
    if not (folder / ".git").exists():
        shutil.rmtree(folder, ignore_errors=True)
        git("worktree", "prune")
        WORK.mkdir(parents=True, exist_ok=True)
        git("worktree", "add", "--detach", "--force", str(folder), commit)
    else:
        for words in (["reset", "--hard", "--quiet"], ["clean", "-fdq"], ["checkout", "--detach", "--quiet", commit]):
            done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                sys.exit(f"proves: {done.stderr}")
    return folder


class Side:
    """The parent or the commit: its checkout and what is built of it."""

    def __init__(self, label, commit, build):
        self.label, self.folder = label, check_out(commit, label)
        self.made = WORK / f"{label}-made"
        self.overlay = overlay.Overlay(self.folder, self.made, WORK / "objects", ROOT, build, os.cpu_count() or 1)
        self.programs = {}

    def program(self, name):
        """Its path, or the OverlayError that came instead."""
        if name not in self.programs:
            try:
                self.programs[name] = self.overlay.program(name)
            except overlay.OverlayError as error:
                self.programs[name] = error
        return self.programs[name]

    def run(self, command, cwd=None):
        """(exit code, output); 124 where it did not end."""
        try:
            done = subprocess.run([str(word) for word in command], cwd=cwd or self.folder, capture_output=True, text=True,
                                  timeout=MOST_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return 124, f"no end within {MOST_SECONDS} s"
        return done.returncode, done.stdout + done.stderr


# What one test said of one side.
PASSES, FAILS, NOTHING = "passes", "FAILS", "shows nothing"


class Scenario:
    def __init__(self, change):
        self.name, self.new = change.name, change.new

    def judge(self, side):
        tfsim = side.program("bin/tfsim")
        if isinstance(tfsim, overlay.OverlayError):
            return NOTHING, f"does not compile there: {tfsim}"
        code, output = side.run([tfsim, "run", self.name, "--json"])
        if code == 0:
            return PASSES, ""
        if code in FAILED_RUN:
            return FAILS, what_failed(output)
        if code == NO_SCENARIO:
            return NOTHING, f"is no scenario there: {last_line(output)}"
        return FAILS, f"exit {code}: {last_line(output)}"

    def under_seeds(self, side, seeds):
        """How many of the seeds fail."""
        code, output = side.run([side.program("bin/tfsim"), "run", self.name, "--seeds", f"1..{seeds}", "--json"])
        try:
            document = json.loads(output)
        except json.JSONDecodeError:
            return 0 if code == 0 else seeds
        return document.get("failed_runs", 0 if code == 0 else seeds)


class UnitTest:
    def __init__(self, program, suite, case, new):
        self.name, self.new, self.program, self.suite, self.case = f"{suite}.{case}", new, program, suite, case

    def judge(self, side):
        program = side.program(self.program)
        if isinstance(program, overlay.OverlayError):
            where = f" ({program.source})" if program.source else ""
            return NOTHING, f"does not compile there{where}: {first_error(str(program))}"
        pattern = f"{self.suite}.{self.case}:*/{self.suite}.{self.case}/*"
        code, output = side.run([program, f"--gtest_filter={pattern}"])
        if " 0 tests from" in output and code == 0:
            return NOTHING, "is not in the program"
        return (PASSES, "") if code == 0 else (FAILS, first_failure(output))


class Golden:
    def __init__(self, change, program):
        self.name, self.new, self.program = change.name, change.new, program

    def judge(self, side):
        program = side.program(self.program)
        if isinstance(program, overlay.OverlayError):
            return NOTHING, f"does not compile there: {first_error(str(program))}"
        word = re.sub(r"\W", "_", pathlib.Path(self.name).stem)
        code, output = side.run([program, f"--gtest_filter=*{word}*"])
        if "Running 0 tests" in output:
            code, output = side.run([program])
        return (PASSES, "") if code == 0 else (FAILS, first_failure(output))


class PythonCase:
    """A CTest case whose command names a changed script."""

    def __init__(self, change, test, build):
        self.name, self.new, self.build = test["name"], change.new, build
        self.command = test["command"]

    def judge(self, side):
        wanted = [name for name in PROGRAMS if str(self.build / name) in self.command]
        if any(word.rstrip("/") == str(self.build / "bin") for word in self.command):
            wanted = list(PROGRAMS)
        for name in wanted:
            program = side.program(name)
            if isinstance(program, overlay.OverlayError):
                return NOTHING, f"does not compile there: {first_error(str(program))}"
        command = [word.replace(str(self.build / "bin"), str(side.made / "bin")).replace(str(ROOT), str(side.folder))
                   if not word.startswith(str(self.build / "bin")) else word.replace(str(self.build), str(side.made)) for word in self.command]
        code, output = side.run(command)
        if code == 77:
            return NOTHING, f"was skipped: {last_line(output)}"
        return (PASSES, "") if code == 0 else (FAILS, last_line(output))


def last_line(output):
    return (output.strip().splitlines() or [""])[-1][:200]


def first_error(output):
    return next((line.strip()[:200] for line in output.splitlines() if "error:" in line), last_line(output))


def first_failure(output):
    lines = output.splitlines()
    at = next((i for i, line in enumerate(lines) if ": Failure" in line), None)
    return " ".join(line.strip() for line in lines[at + 1:at + 4])[:200] if at is not None else last_line(output)


def what_failed(output):
    """The first expectation or invariant that a result document says was not met."""
    try:
        result = json.loads(output)
    except json.JSONDecodeError:
        return last_line(output)
    for invariant in result.get("invariants", []):
        if invariant.get("violations"):
            return f"invariant {invariant['name']}: {invariant.get('first_detail', '')}"[:200]
    for expectation in result.get("expectations", []):
        if not expectation["passed"]:
            return f"{expectation['text']} got {expectation['got']}"[:200]
    return result.get("reason", "")


def program_of(name, build):
    """The test program that a source is part of: tests/am_test."""
    for program in re.findall(r"^(tests/\w+): CXX_EXECUTABLE", subprocess.run(
            ["ninja", "-t", "targets", "all"], cwd=build, check=True, capture_output=True, text=True).stdout, re.MULTILINE):
        commands = subprocess.run(["ninja", "-t", "commands", program], cwd=build, check=True, capture_output=True, text=True).stdout
        if f" -c {ROOT / name}" in commands:
            return program
    return None


def tests_of(changes, build):
    """(tests, names of changed test files that no test of these kinds is in)."""
    tests, others = [], []
    ctest = None
    for change in changes:
        name = change.name
        if name.startswith("scenarios/") and name.endswith(".yaml"):
            if re.search(r"^schema:", change.text, re.MULTILINE):
                tests.append(Scenario(change))
        elif name.endswith("_test.cc"):
            program = program_of(name, build)
            tests += [UnitTest(program, *case) for case in change.cases()] if program else []
        elif name.startswith("tests/golden/") and name.endswith(".txt"):
            folder = pathlib.Path(name).parts[2]
            program = program_of(f"tests/golden/{folder}_golden_test.cc", build)
            if program:
                tests.append(Golden(change, program))
        elif name.endswith(".py"):
            if ctest is None:
                ctest = json.loads(subprocess.run(["ctest", "--show-only=json-v1"], cwd=build, check=True, capture_output=True,
                                                  text=True).stdout)["tests"]
            mine = [test for test in ctest if any(word == str(ROOT / name) for word in test.get("command", []))]
            # A script that every scenario or every document is tried with proves little by each.
            tests += [PythonCase(change, test, build) for test in mine[:3]]
            others += [] if mine else [name]
        else:
            others.append(name)
    return tests, others


def put(changes, folder):
    """The commit's test files, into the parent's checkout."""
    for change in changes:
        target = folder / change.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(change.text, encoding="utf-8")


def report(where, test, verdict, why):
    print(f"  {where:14} {verdict:13} {test.name}{f': {why}' if why else ''}", flush=True)


def judge_at_commit(tests, side, seeds):
    """Whether all of them pass, new scenarios under each seed."""
    good = True
    for test in tests:
        verdict, why = test.judge(side)
        report("at the commit", test, verdict, why)
        good = good and verdict == PASSES
        if verdict == PASSES and test.new and isinstance(test, Scenario):
            failed = test.under_seeds(side, seeds)
            report("at the commit", test, PASSES if failed == 0 else FAILS, f"{failed} of seeds 1..{seeds} fail")
            good = good and failed == 0
    return good


def judge_on_parent(tests, side, interface):
    """(tests that fail there, new tests that pass there, tests that show nothing)."""
    shown, idle, nothing = [], [], []
    for test in tests:
        verdict, why = test.judge(side)
        if verdict == NOTHING and interface and "does not compile" in why:
            why = f"{why}; the commit adds an interface"
        report("on the parent", test, verdict, why)
        {PASSES: idle if test.new else [], FAILS: shown, NOTHING: nothing}[verdict].append(test)
    return shown, idle, nothing


def main():
    seeds, build, words = 200, ROOT / "build", []
    for argument in sys.argv[1:]:
        if re.fullmatch(r"--seeds=[1-9]\d*", argument):
            seeds = int(argument.partition("=")[2])
        elif argument.startswith("--build="):
            build = pathlib.Path(argument.partition("=")[2]).resolve()
        elif argument.startswith("-"):
            print(__doc__, file=sys.stderr)
            sys.exit(2)
        else:
            words.append(argument)
    if len(words) > 1 or not (build / "build.ninja").exists():
        print(__doc__ if len(words) > 1 else "proves: there is no built tree in build/: ./dev build", file=sys.stderr)
        sys.exit(2)
    commit = git("rev-parse", "--verify", "--quiet", f"{(words or ['HEAD'])[0]}^{{commit}}", check=False).strip()
    if not commit or not git("rev-parse", "--verify", "--quiet", f"{commit}^", check=False).strip():
        print(f"proves: {(words or ['HEAD'])[0]} is no commit with a parent", file=sys.stderr)
        sys.exit(2)
    print(git("log", "-1", "--format=%h %s", commit).strip())
    changes = changes_of(commit)
    tests, others = tests_of(changes, build)
    for name in others:
        print(f"  not looked at: {name}")
    if not tests:
        print("no test is added or changed: nothing is shown")
        sys.exit(3)
    parent = Side("parent", f"{commit}^", build)
    put(changes, parent.folder)
    shown, idle, nothing = judge_on_parent(tests, parent, adds_interface(commit))
    good = judge_at_commit(tests, Side("commit", commit, build), seeds)
    for test in idle:
        print(f"{test.name} is new and passes on the parent: it does not show the repair")
    if not good:
        print("not proven: a test does not pass at the commit")
    elif idle:
        print("not proven")
    elif not shown:
        print("nothing is shown: no test could be run on the parent" if nothing else "nothing is shown: no changed test fails on the parent")
    else:
        print(f"proven: {len(shown)} of {len(tests)} tests fail on the parent, and all pass at the commit")
    sys.exit(1 if not good or idle else 0 if shown else 3)


if __name__ == "__main__":
    main()
