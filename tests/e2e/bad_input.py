#!/usr/bin/env python3
"""Every kind of bad input ends the same way: exit code 3, the place, the source line with a caret, what would be right; nothing
on stdout, nothing written, soon, in little memory.

Usage: bad_input.py TFSIM.
"""
import lzma
import random
import sys

from program import BASE, MEMORY_MB, SECONDS, Suite, is_calm

CARET = r"\n  +\^~*\n"


def change(old, new):
    assert old in BASE, old
    return BASE.replace(old, new)


def before(text):
    """The small scenario with more in it."""
    return change("name: base\n", f"name: base\n{text}\n")


def nested_lists(depth):
    return "a: " + "[" * depth + "]" * depth


def laughs():
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x]"]
    lines += [f"a{i}: &a{i} [" + ",".join([f"*a{i - 1}"] * 9) + "]" for i in range(1, 12)]
    return "\n".join(lines)


# name: (content, texts that the message has; place is LINE:COL or None for the file as a whole)
FILES = {
    "truncated-in-a-word": (BASE[:BASE.index("strategy") + 7], "8:5", ["unknown field `strateg`", "did you mean `strategy`?"]),
    "truncated-in-a-bracket": (BASE[:BASE.index("gpus: 4")], "5:7", ["this bracket is not closed"]),
    "truncated-in-a-quote": (BASE + '  - {never: "job/a', "14:", ["quote"]),
    "binary": (random.Random(1).randbytes(4000), "1:", ["not a text file"]),
    "nul": ("schema: tfsim/v1\nname: b\0c\n", "2:8", ["not a text file"]),
    "invalid-utf8": (b"schema: tfsim/v1\nname: b\xff\xfec\n", "2:8", ["not a text file", r"b\xff"]),
    "utf16": (BASE.encode("utf-16"), "1:1", ["not a text file"]),
    "huge": (BASE + "# " + "x" * (1 << 20), None, ["larger than 1048576 bytes"]),
    "deep-unclosed": ("a: " + "[" * 100_000, "1:", ["not closed"]),
    "deep": (nested_lists(100), "1:67", ["nested deeper than 64"]),
    "deep-blocks": ("".join(" " * i + "a:\n" for i in range(1000)), "65:65", ["nested deeper than 64"]),
    "laughs": (laughs(), "6:", ["more than 100000 values, aliases expanded"]),
    "aliases": ("a: &a x\nb: [" + ",".join(["*a"] * 101) + "]", "2:", ["more than 100 aliases"]),
    "alias-in-itself": ("a: &a [*a]", "1:8", ["inside what it stands for"]),
    "no-anchor": (change("name: base", "name: *nope"), "2:7", ["anchor is not defined"]),
    "duplicate-key": (BASE + "name: again\n", "14:1", ["the key `name` is here twice", "first on line 2"]),
    "merge-key": (before("<<: {seed: 3}"), "3:1", ["merge keys are not supported", "`include:`"]),
    "tag": (change("name: base", "name: !!binary abc"), "2:7", ["has no meaning here"]),
    "tab": (change("  nodes:", "\tnodes:"), "4:1", ["a tab cannot indent", "use spaces"]),
    "two-documents": (BASE + "---\nname: b\n", "14:1", ["a second document"]),
    "empty": ("", None, ["the file is empty"]),
    "only-comments": ("\n# nothing\n", None, ["the file is empty"]),
    "a-list": ("- a\n- b\n", "1:1", ["a file is a map of fields, this one is a list"]),
    "no-unit": (change("64GiB", "64"), "5:47", ["`memory`: 64 has no unit", "did you mean 64MiB or 64GiB?"]),
    "wrong-unit": (change("100ms", "10GiB"), "11:39", ["unknown unit", "allowed: ns, us, ms, s, m, h, d, w"]),
    "negative": (change("instances: 2", "instances: -2"), "10:27", ["-2 is out of range: 1 to 100000"]),
    "negative-time": (change("100ms", "-1s"), "11:39", ["must not be negative"]),
    "overflow": (change("steps: 600", "steps: 99999999999999999999999"), "11:23", ["is out of range"]),
    "overflow-time": (change("100ms", "99999999999999d"), "11:39", ["longer than 100 years"]),
    "overflow-memory": (change("8GiB", "99999999999999999999TiB"), "10:38", ["`memory`"]),
    "too-many-nodes": (change("count: 2", "count: 100001"), "5:24", ["1 to 100000"]),
    "not-finite": (before("faults: [{kind: slow_node, at: 1s, target: nodes, factor: nan}]"), "3:", ["`factor`"]),
    "wrong-type": (change("memory: 8GiB", "memory: {a: 1}"), "10:38", ["`memory` must be a memory size", "got a map"]),
    "unknown-field": (change("step_time", "step_tim"), "11:28", ["did you mean `step_time`?", "allowed: steps"]),
    "unknown-value": (change("SUCCEEDED", "SUCCEDED"), "13:22", ["allowed: SUCCEEDED", "did you mean `SUCCEEDED`?"]),
    "unknown-job": (change("job: a,", "job: b,"), "13:11", ["there is no job `b`", "allowed: a"]),
    "unknown-fault": (before("faults: [{kind: nodecrash, at: 1s}]"), "3:17", ["did you mean `node_crash`?"]),
    "unknown-node": (before("faults: [{kind: node_crash, at: 1s, target: {node: n-7}}]"), "3:", ["n-7"]),
    "unknown-queue": (change("    strategy:", "    queue: root.nope\n    strategy:"), "8:12", ["root.nope"]),
    "other-schema": (change("tfsim/v1", "tfsim/v2"), "1:9", ["allowed: tfsim/v1"]),
    "max-below-min": (change("100ms", "{dist: uniform, min: 5s, max: 1s}"), "11:69", ["`max` 1s is below `min` 5s"]),
    "warmup-after-horizon": (before("horizon: 1s\nwarmup: 5s"), "4:9", ["must be shorter than horizon"]),
    "when-twice": (before("faults: [{kind: node_crash, at: 5s, when: {job: a, state: running}, target: nodes}]"), "3:",
                   ["one of `at`, `when` and `every`"]),
    "shares-above-all": (before("yarn: {queues: [{path: root.a, capacity: 60%}, {path: root.b, capacity: 70%}]}"), "3:73",
                         ["130%", "at most 100%"]),
    "hostile-name": ('schema: tfsim/v1\nname: "\\e[31mevil\\a"\n', "2:7", [r"got `\x1b[31mevil\x07`"]),
    "hostile-bytes": ("schema: tfsim/v1\nname: \x1b]0;owned\x07\n", "2:7", [r"\x1b]0;owned\x07"]),
    "hostile-direction": ("schema: tfsim/v1\nname: \u202ebackwards\n", "2:7", [r"\u202e"]),
    "bad-sweep": (before("sweep: {matrix: {yarn.scheduler: [fofo]}}"), "3:35", ["did you mean `fifo`?"]),
    "bad-sweep-path": (before("sweep: {matrix: {yarn.schedler: [fifo]}}"), "3:23", ["did you mean `scheduler`?"]),
    "sweep-too-large": (before("sweep: {seeds: 0..99999999999999}"), "3:16", ["more than 1000000"]),
}

SETS = {
    "no-value": (["foo"], "1:1", ["wants path=value"]),
    "no-path": (["=x"], "1:1", ["wants path=value"]),
    "not-yaml": (["name=["], "1:6", ["not closed"]),
    "no-element": (["jobs.b.queue=x"], "1:6", ["no element of the list is called `b`", "allowed: a"]),
    "no-position": (["jobs.7.queue=x"], "1:6", ["there is no element 7"]),
    "wrong-type": (["jobs.a.training.steps=abc"], "1:23", ["abc is not a number"]),
    "wrong-field": (["jobs.a.training.stps=3"], "1:17", ["unknown field `stps`", "did you mean `steps`?"]),
    "below-a-value": (["name.x.y=3"], "1:6", ["`x` is below"]),
    "hostile": (["\x1b[31m=3"], "1:1", [r"\x1b[31m"]),
    "all-at-once": (["horizon=5", "yarn.schedler=x"], "1:9", ["did you mean 5s?", "did you mean `scheduler`?"]),
}

HEADER = "timestamp,duration,num_gpus,gpu_time,cluster\n"
ROWS = "2017-10-09 07:01:55,66.0,1,66.0,a\n2017-10-09 07:02:55,60.0,2,66.0,b\n"
REPLAY = """\
schema: tfsim/v1
name: replay
cluster:
  nodes:
    - {name: n, count: 2, resources: {memory: 64GiB, vcores: 16, gpus: 4}}
arrivals:
  - trace: {format: philly, file: FILE}
    prefix: t
    template:
      tasks: {worker: {memory: 8GiB, vcores: 4}}
"""


def row(text):
    return HEADER + ROWS + text + "\n"


# name: (content or None, texts that the message has)
TRACES = {
    "none.csv": (None, ["there is no trace `none.csv`", "not at none.csv\n", "not at none.csv.xz\n", "TFSIM_TRACES"]),
    "folder.csv": ("", ["not at folder.csv: is a directory"]),
    "empty.csv": (b"", ["empty.csv: is empty"]),
    "only-header.csv": (HEADER, ["has no rows"]),
    "no-column.csv": ("timestamp,num_gpus\n" + ROWS, ["no-column.csv:1: there is no column `duration`; there are: timestamp"]),
    "few-cells.csv": (row("x,y,z"), [":4: has 3 cells, the header has 5"]),
    "negative.csv": (row("2017-10-09 07:01:55,-5,1,66.0,a"), [":4: duration `-5`"]),
    "month.csv": (row("2017-13-09 07:01:55,5,1,66.0,a"), [":4: timestamp `2017-13-09 07:01:55` is not like"]),
    "nan.csv": (row("2017-10-09 07:01:55,nan,1,66.0,a"), [":4: duration `nan`"]),
    "overflow.csv": (row("2017-10-09 07:01:55,1e400,1,66.0,a"), [":4: duration"]),
    "many-gpus.csv": (row("2017-10-09 07:01:55,5,99999999999999999999,66.0,a"), [":4: num_gpus"]),
    "no-gpus.csv": (row("2017-10-09 07:01:55,5,0,66.0,a"), [":4: num_gpus `0`"]),
    "quote.csv": (row('"2017-10-09 07:01:55,5,1'), [":4: a quote is not closed"]),
    "hostile.csv": (row("2017-10-09 07:01:55,5,\x1b[31m,66.0,a"), [r"`\x1b[31m`"]),
    "binary.csv": (random.Random(2).randbytes(100_000), ["binary.csv:"]),
    "long-line.csv": (HEADER + "x" * 10_000_000, [":2: a line is longer than 65536 bytes"]),
    "not-xz.csv.xz": (HEADER + ROWS, ["not-xz.csv.xz: is damaged or no xz archive"]),
    "empty.csv.xz": (b"", ["empty.csv.xz: is damaged or no xz archive"]),
    "cut.csv.xz": (lzma.compress((HEADER + ROWS * 5000).encode())[:-40], ["is damaged or no xz archive"]),
}
GOOD_TRACES = {
    "plain.csv": HEADER + ROWS,
    "windows.csv": (HEADER + ROWS).replace("\n", "\r\n"),
    "marked.csv": b"\xef\xbb\xbf" + (HEADER + ROWS).encode(),
    "other-order.csv": "cluster,num_gpus,more,duration,timestamp\na,1,,66.0,2017-10-09 07:01:55\nb,2,,60,2017-10-09 07:02:55",
    "packed.csv.xz": lzma.compress((HEADER + ROWS).encode()),
}


def judge(suite, what, done, expected, code=3):
    suite.check(done.code == code, f"{what}: exit {code}", done)
    suite.check(done.out == "", f"{what}: nothing on stdout", done)
    suite.check(is_calm(done.err), f"{what}: nothing that steers a terminal", done)
    suite.check(done.seconds < SECONDS, f"{what}: {done.seconds:.1f} s", done)
    suite.check(MEMORY_MB is None or done.memory_mb < MEMORY_MB, f"{what}: {done.memory_mb} MiB", done)
    for text in expected:
        suite.check(text in done.err, f"{what}: says {text!r}", done)


def with_place(suite, what, done, place, texts):
    """The same for an error at a place: its line is shown, with a caret below."""
    import re
    name = what.split()[-1]
    judge(suite, what, done, texts if place is None else [f"{name}:{place}", *texts])
    if place is not None:
        suite.check(re.search(CARET, done.err) is not None, f"{what}: a caret", done)


def run_files(suite):
    for name, (content, place, texts) in FILES.items():
        file = f"{name}.yaml"
        suite.write(file, content)
        there = suite.files()
        for verb in ("run", "validate"):
            words = [verb, file] + (["--out", "out", "--trace", "t.jsonl"] if verb == "run" else [])
            with_place(suite, f"{verb} {file}", suite.run(*words), place, texts)
            suite.check(suite.files() == there, f"{verb} {file}: writes nothing")


def run_sets(suite):
    suite.write("base.yaml", BASE)
    for name, (sets, place, texts) in SETS.items():
        words = [word for one in sets for word in ("--set", one)]
        done = suite.run("run", "base.yaml", *words)
        judge(suite, f"--set {name}", done, [f"--set:{place}:", *texts])


def run_all_at_once(suite):
    text = BASE
    for old, new in (("64GiB", "64"), ("step_time", "step_tim"), ("count: 2", "count: -2"), ("SUCCEEDED", "SUCCEDED"),
                     ("strategy:", "stratgy:"), ("gpus: 2", "gpus: x")):
        text = text.replace(old, new)
    suite.write("many.yaml", text)
    done = suite.run("run", "many.yaml")
    judge(suite, "many.yaml", done, [f"many.yaml:{at}: error: " for at in
                                     ("5:24", "5:48", "8:5", "10:61", "11:28", "13:22")])
    suite.write("more.yaml", BASE + "".join(f"x{i}: 1\n" for i in range(30)))
    done = suite.run("run", "more.yaml")
    judge(suite, "more.yaml", done, ["and 10 more"])
    suite.check(done.err.count(": error: ") == 20, "more.yaml: 20 errors are shown", done)


def run_paths(suite):
    suite.write("base.yaml", BASE)
    (suite.folder / "folder.yaml").mkdir()
    judge(suite, "missing file", suite.run("run", "none.yaml"), ["none.yaml: error: cannot read the file: No such file"])
    judge(suite, "folder", suite.run("run", "folder.yaml"), ["folder.yaml: error: cannot read the file: is a directory"])
    judge(suite, "below a file", suite.run("run", "base.yaml/x.yaml"), ["Not a directory"])
    judge(suite, "loop of links", run_link(suite), ["cannot read the file"])
    judge(suite, "no rights", suite.run("run", "/proc/self/mem"), ["cannot read"])
    judge(suite, "endless", suite.run("run", "/dev/zero"), ["larger than 1048576 bytes"])
    name = "ev\x1b[31mil.yaml"
    suite.write(name, "x")
    for verb in ("run", "validate", "replay"):
        judge(suite, f"{verb} hostile name", suite.run(verb, name), [r"ev\x1b[31mil.yaml:1:1"])
    suite.write(name, BASE)
    done = suite.run("validate", name)
    suite.check(done.code == 0 and is_calm(done.out), "a good file with a hostile name", done)
    done = suite.run("run", name, "--out", "o\x1b[31mut")
    suite.check(done.code == 0 and is_calm(done.out), "an output folder with a hostile name", done)
    done = suite.run("run", name, "--html", "folder.yaml\x1b[31m/../folder.yaml")
    suite.check(done.code == 1 and is_calm(done.err), "an output path with a hostile name", done)


def run_link(suite):
    (suite.folder / "loop.yaml").symlink_to("loop.yaml")
    return suite.run("run", "loop.yaml")


def run_includes(suite):
    suite.write("one.yaml", "include: two.yaml\n")
    suite.write("two.yaml", "include: one.yaml\n")
    judge(suite, "two in a circle", suite.run("run", "one.yaml"), ["two.yaml:1:10: error: `one.yaml` includes itself"])
    suite.write("self.yaml", "include: ./self.yaml\n")
    judge(suite, "itself", suite.run("run", "self.yaml"), ["self.yaml:1:10: error: `./self.yaml` includes itself"])
    suite.write("missing.yaml", "include: [gone.yaml, away.yaml]\n" + BASE)
    judge(suite, "missing", suite.run("run", "missing.yaml"),
          ["missing.yaml:1:11: error: cannot read `gone.yaml`", "missing.yaml:1:22: error: cannot read `away.yaml`"])
    suite.write("part.yaml", "horizon: 5\n")
    suite.write("whole.yaml", "include: part.yaml\n" + BASE.replace("600", "-6"))
    judge(suite, "errors in both", suite.run("run", "whole.yaml"),
          ["part.yaml:1:10: error: `horizon`", "whole.yaml:12:23: error: `steps`"])
    # Each includes the next one twice: without a limit 2^30 files would be read.
    for i in range(30):
        suite.write(f"chain{i}.yaml", f"include: [chain{i + 1}.yaml, chain{i + 1}.yaml]\n")
    suite.write("chain30.yaml", BASE)
    judge(suite, "many", suite.run("run", "chain0.yaml"), ["more than 100 files are included"])


def run_traces(suite):
    for name, (content, texts) in TRACES.items():
        if name == "folder.csv":
            (suite.folder / name).mkdir()
        elif content is not None:
            suite.write(name, content)
        suite.write("replay.yaml", REPLAY.replace("FILE", name))
        there = suite.files()
        done = suite.run("run", "replay.yaml", "--out", "out")
        judge(suite, f"trace {name}", done, ["replay.yaml:7:35: error: ", "^~~", *texts])
        suite.check(suite.files() == there, f"trace {name}: writes nothing")
    digests = set()
    for name, content in GOOD_TRACES.items():
        # One name in many folders: the name is part of the scenario.
        suite.write(f"{name}.d/t.csv" + (".xz" if name.endswith(".xz") else ""), content)
        suite.write("replay.yaml", REPLAY.replace("FILE", "t.csv"))
        done = suite.run("run", "replay.yaml", "--trace-dir", f"{name}.d")
        suite.check(done.code == 0, f"trace {name} is good", done)
        digests.add(done.out.split("digest")[-1].strip())
    suite.check(len(digests) == 1, f"good traces of equal content give one digest: {digests}")


def run_results(suite):
    """Files that `replay --result` and `diff` read."""
    suite.write("base.yaml", BASE)
    for name, content in (("empty.json", ""), ("cut.json", '{"digest": "12'), ("other.json", "[1, 2]"), ("odd.json", '{"digest": 7}'),
                          ("deep.json", "[" * 200_000), ("binary.json", bytes(range(256))),
                          ("large.json", '{"seed": 1e999}'), ("negative.json", '{"digest": "", "scenario_digest": "", "seed": -1}')):
        suite.write(name, content)
        judge(suite, f"replay {name}", suite.run("replay", "base.yaml", "--result", name), [name])
    judge(suite, "replay none.json", suite.run("replay", "base.yaml", "--result", "none.json"), ["cannot read none.json"])
    for name in ("empty.json", "cut.json", "binary.json"):
        judge(suite, f"diff {name}", suite.run("diff", "other.json", name), [f"{name}: not JSON: line 1, column "])
    for name, text in (("deep.json", "nests deeper than 64 levels"), ("large.json", "holds a number that is out of range")):
        judge(suite, f"diff {name}", suite.run("diff", "other.json", name), [f"{name}: {text}"])
    for name in ("folder.json", "folder.jsonl"):
        (suite.folder / name).mkdir()
        judge(suite, f"diff {name}", suite.run("diff", name, name), [f"cannot read {name}"])
    judge(suite, "diff none.json", suite.run("diff", "other.json", "none.json"), ["cannot read none.json"])
    judge(suite, "diff none.jsonl", suite.run("diff", "none.jsonl", "none.jsonl"), ["cannot read none.jsonl"])
    judge(suite, "diff of two kinds", suite.run("diff", "other.json", "base.yaml"), ["other.json"], code=3)


USAGE = [
    ([], ["Usage: tfsim"]),
    (["rn"], ["unknown command rn", "did you mean `run`?"]),
    (["-x"], ["a command comes first, not -x", "allowed: run"]),
    (["\x1b[31m"], [r"unknown command \x1b[31m"]),
    (["run"], ["FILE is required", "tfsim help run"]),
    (["run", "a.yaml", "b.yaml"], ["tfsim help run"]),
    (["run", "--sed", "3", "base.yaml"], ["unknown option --sed", "did you mean --seed?"]),
    (["run", "--seed", "x", "base.yaml"], ["--seed takes one whole number, not x"]),
    (["run", "--seed", "-1", "base.yaml"], ["--seed takes one whole number, not -1"]),
    (["run", "--seeds", "5..1", "base.yaml"], ["--seeds takes A..B with A <= B, not 5..1"]),
    (["run", "--seeds", "0..18446744073709551615", "base.yaml"], ["--seeds takes at most 1000000 seeds"]),
    (["run", "-j", "0", "base.yaml"], ["-j takes a whole number from 1"]),
    (["run", "--seed", "1", "--seeds", "1..2", "base.yaml"], ["exclude each other"]),
    (["run", "--events", "base.yaml"], ["--events needs --out"]),
    (["run", "--seeds", "1..2", "--trace", "t", "base.yaml"], ["about one run"]),
    (["explain"], ["is required"]),
    (["explain", "jobs.gang.hol"], ["did you mean `hold`?"]),
    (["explain", "policy", "tonny"], ["did you mean `tony`?"]),
    (["faults", "nodecrash"], ["did you mean `node_crash`?"]),
    (["schema", "scenari"], ["scenari is not one of: scenario, job", "tfsim help schema"]),
    (["help", "exit-code"], ["did you mean `exit-codes`?"]),
]


def run_usage(suite):
    suite.write("base.yaml", BASE)
    there = suite.files()
    for words, texts in USAGE:
        judge(suite, f"usage {words}", suite.run(*words), texts, code=2)
    suite.check(suite.files() == there, "wrong usage writes nothing")


def main():
    suite = Suite(sys.argv[1])
    for part in (run_files, run_sets, run_all_at_once, run_paths, run_includes, run_traces, run_results, run_usage):
        part(suite)
    suite.finish()


if __name__ == "__main__":
    main()
