#!/usr/bin/env python3
"""The commands as a new user meets them: help, init, the README's five minutes, explain, schema, replay, diff.

Usage: first_steps.py TFSIM SOURCE_FOLDER.
"""
import json
import pathlib
import re
import shlex
import shutil
import sys

from program import BASE, Suite, is_calm

VERBS = ("run", "validate", "explain", "schema", "init", "faults", "replay", "diff", "help")


def good(suite, *words, says=()):
    done = suite.run(*words)
    what = "tfsim " + " ".join(words)
    suite.check(done.code == 0, f"{what}: exit {done.code}", done)
    suite.check(done.err == "", f"{what}: nothing on stderr", done)
    suite.check(is_calm(done.out), f"{what}: calm", done)
    for text in says:
        suite.check(text in done.out, f"{what}: says {text!r}", done)
    return done.out


def run_help(suite):
    general = good(suite, "help", says=["Usage: tfsim", "tfsim init my", *VERBS])
    suite.check(general == good(suite, "--help"), "help and --help are one")
    good(suite, "--version", says=["tfsim "])
    codes = good(suite, "help", "exit-codes")
    for code in ("0", "1", "2", "3", "10", "11", "20", "21", "22", "128+n"):
        suite.check(re.search(rf"^ *{re.escape(code)}  \S", codes, re.M) is not None, f"exit code {code} is told")
    for verb in VERBS:
        text = good(suite, verb, "--help", says=[f"Usage: tfsim {verb}"])
        suite.check(text == good(suite, "help", verb), f"help {verb} and {verb} --help are one")
        suite.check("{" not in text, f"help {verb}: no braces of the parser", None)


def run_init(suite):
    good(suite, "init", "my", says=["wrote my/scenario.yaml", "tfsim run my/scenario.yaml"])
    again = suite.run("init", "my")
    suite.check(again.code == 3 and "is there already; --force replaces it" in again.err, "init twice", again)
    (suite.folder / "my" / "scenario.yaml").write_text("mine")
    suite.run("init", "my")
    suite.check((suite.folder / "my" / "scenario.yaml").read_text() == "mine", "init leaves what is there")
    good(suite, "init", "my", "--force")
    good(suite, "validate", "my/scenario.yaml", says=["ok, scenario"])
    good(suite, "run", "my/scenario.yaml", says=["passed", "digest"])


def run_readme(suite, source):
    """Every tfsim line of the README's tour, as it is written, beside a scenario.yaml of its own example."""
    readme = (source / "README.md").read_text(encoding="utf-8")
    example = re.search(r"```yaml\n(.*?)```", readme, re.S).group(1)
    suite.write("scenario.yaml", example)
    lines = [line.split("#")[0].split(">")[0].strip() for line in readme.splitlines()]
    commands = [line for line in lines if re.match(r"(build/bin/)?tfsim \w", line)]
    suite.check(len(commands) >= 8, f"the README has a tour: {commands}")
    shutil.rmtree(suite.folder / "my", ignore_errors=True)
    for command in commands:
        done = suite.run(*shlex.split(command)[1:])
        suite.check(done.code == 0, f"README: {command}", done)


def run_explain(suite, source):
    good(suite, "explain", "jobs.gang.hold", says=["hold"])
    good(suite, "explain", "policy", "tony", says=["tony: TonY's rules"])
    suite.write("base.yaml", BASE.replace("instances: 2", "instances: 9"))
    good(suite, "explain", str(source / "scenarios/failover/worker-node-dies.yaml"), "job/a", "--at", "90s",
         says=["job a at 90 s", "running since", "2 of 2 tasks run"])
    crashed = good(suite, "explain", str(source / "scenarios/failover/worker-node-dies.yaml"), "job/a", "--at", "5m")
    for text in ("allocating since", "it holds 1 for its 2 tasks", "under way: node_crash", "restart of the gang as epoch 2"):
        suite.check(text in crashed, f"explain after a crash says {text!r}: {crashed}")
    good(suite, "explain", "base.yaml", "job/a", "--at", "300d", says=["failed since", "infeasible"])
    wrong = suite.run("explain", "base.yaml", "job/b", "--at", "90s")
    suite.check(wrong.code == 3 and "no job b" in wrong.err and "allowed: a" in wrong.err, "explain of no job", wrong)
    suite.write("later.yaml", BASE.replace("- name: a\n", "- name: a\n    submit: 10s\n"))
    early = suite.run("explain", "later.yaml", "job/a", "--at", "1s")
    suite.check(early.code == 3 and "job a is submitted at 10 s" in early.err, "explain before the submission", early)
    wrong = suite.run("explain", "base.yaml", "job/a", "--at", "90")
    suite.check(wrong.code == 2 and "like 90s" in wrong.err, "explain --at without a unit", wrong)
    wrong = suite.run("explain", "jobs", "--at", "90s")
    suite.check(wrong.code == 2 and "FILE job/NAME" in wrong.err, "explain --at of a field", wrong)


def run_schema(suite, source):
    schema = json.loads(good(suite, "schema"))
    json.loads(good(suite, "schema", "job"))
    scenarios = [path for path in sorted((source / "scenarios").rglob("*.yaml"))
                 if re.search(r"^schema:", path.read_text(encoding="utf-8"), re.M)]
    suite.check(len(scenarios) > 20, "there are scenarios")
    done = suite.run("validate", *map(str, scenarios))
    missing = "TFSIM_TRACES" in done.err
    suite.check(done.code == (3 if missing else 0), "validate of every scenario", done)
    suite.check(done.out.count(": ok, scenario ") >= len(scenarios) - done.err.count("TFSIM_TRACES"), "every scenario is ok", done)
    try:
        import jsonschema
        import yaml
    except ImportError:
        print("schema: python3-jsonschema or python3-yaml is not here; scenarios are not compared with it")
        return

    class Loader(yaml.SafeLoader):  # pylint: disable=too-many-ancestors
        """PyYAML reads YAML 1.1, where `off` is a boolean; only true and false are in 1.2."""

    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()}
    Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(?:true|false)$"), list("tf"))
    validator = jsonschema.validators.validator_for(schema)(schema)
    validator.check_schema(schema)
    for path in scenarios:
        document = yaml.load(path.read_text(encoding="utf-8"), Loader)
        if "include" in document:
            continue
        errors = [f"{list(error.absolute_path)}: {error.message[:200]}" for error in validator.iter_errors(document)]
        suite.check(not errors, f"{path.name} against the schema: {errors[:3]}")
    for old, new in (("gpus: 4", "gpuz: 4"), ("count: 2", "count: -2"), ("64GiB", "[64]")):
        wrong = yaml.load(BASE.replace(old, new), Loader)
        suite.check(any(True for _ in validator.iter_errors(wrong)), f"the schema refuses {new}")


def run_compare(suite):
    suite.write("base.yaml", BASE)
    suite.write("slower.yaml", BASE.replace("100ms", "200ms"))
    good(suite, "replay", "base.yaml", says=["same: ", " records, digest "])
    good(suite, "run", "base.yaml", "--out", "a", "--events")
    good(suite, "run", "slower.yaml", "--out", "b", "--events")
    good(suite, "replay", "base.yaml", "--result", "a/result.json", says=["same: digest "])
    good(suite, "replay", "a", says=["same: digest "])
    good(suite, "why", "a", says=["it passes, nothing was lost"])
    done = suite.run("replay", "slower.yaml", "--result", "a/result.json")
    suite.check(done.code == 22 and "different: digest" in done.out and "is not the one of that result" in done.err, "replay", done)
    good(suite, "diff", "a/result.json", "a/result.json", says=["same"])
    done = suite.run("diff", "a/result.json", "b/result.json")
    suite.check(done.code == 22 and re.search(r"^/digest: \S+ \| \S+$", done.out, re.M) is not None, "diff of results", done)
    done = suite.run("diff", "a/events.jsonl", "b/events.jsonl")
    suite.check(done.code == 22 and re.search(r"^first difference at line \d+\n", done.out) is not None, "diff of records", done)
    done = suite.run("diff", "base.yaml", "slower.yaml")
    suite.check(done.code == 22 and re.search(r"^first difference at record \d+\n", done.out) is not None, "diff of scenarios", done)
    suite.check("base.yaml" in done.out and "slower.yaml" in done.out and "\n>" in done.out, "diff names both sides", done)
    good(suite, "faults", says=["node_crash", "example: {kind: "])
    good(suite, "faults", "node_crash", says=["example: {kind: node_crash"])


def main():
    suite = Suite(sys.argv[1])
    source = pathlib.Path(sys.argv[2]).resolve()
    run_help(suite)
    run_init(suite)
    run_readme(suite, source)
    run_explain(suite, source)
    run_schema(suite, source)
    run_compare(suite)
    suite.finish()


if __name__ == "__main__":
    main()
