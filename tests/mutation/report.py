"""Survivors that were looked at (survivors.txt), and docs/mutation.md.

survivors.txt: a block a mutant, blank lines between blocks, `#` for comments:

    file core/journal/outbox.cc
    kind dropped call
    - queue_.clear();
    + ;
    equivalent The queue is empty there: OnDurable ran it dry.

The last line begins with `equivalent`, or with `untested` for a gap that is known and accepted, and says why.
"""
import collections
import datetime

import trial

VERDICTS = ("equivalent", "untested")


def read_judged(path):
    """key -> (verdict, why)"""
    judged, block = {}, {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        word, _, rest = line.partition(" ")
        if not line.strip() or line.startswith("#"):
            continue
        block[word] = rest.strip()
        if word in VERDICTS:
            judged[f"{block['file']}: {block['kind']}: {block['-']} -> {block['+']}"] = (word, rest.strip())
            block = {}
    if block:
        raise SystemExit(f"{path}: a block without a verdict: {block}")
    return judged


def block(mutant, verdict=None):
    """As survivors.txt has it."""
    said = " ".join(verdict) if verdict else "(not judged)"
    return f"file {mutant['file']}\nkind {mutant['kind']}\n- {mutant['before']}\n+ {mutant['after']}\n{said}\n"


def record(path, tried, results, judged, options):
    by = collections.Counter(result["by"] for result in results.values())
    kinds = collections.defaultdict(lambda: [0, 0])
    survivors = []
    for mutant in tried.mutants:
        result = results.get(mutant["number"])
        if result is None:
            continue
        kinds[mutant["kind"]][0] += 1
        kinds[mutant["kind"]][1] += result["by"] is not None
        if result["by"] is None:
            survivors.append(mutant)
    total, killed = len(results), len(results) - by[None]
    drawn = f"{total} mutants" if total == len(tried.mutants) else f"{total} of {len(tried.mutants)} mutants, as time was over"
    required = by["unit"] + by["explore"] + by["recorded"]
    equivalent = [mutant for mutant in survivors if judged.get(mutant["key"], ("",))[0] == "equivalent"]
    lines = ["# Mutation", "",
             "Generated mutants prove that the tests can fail: `./dev mutation` draws small mutants of core/, fakes/ and sim/checkers by a seed (negated",
             "conditions, changed comparisons and connectives, dropped calls and assignments, constants off by one, swapped arguments), builds",
             "all of them into one set of programs with a switch for each (tests/mutation/), and runs for each mutant the unit tests of",
             f"its source, {options.runs:,} explored runs, the {trial.RECORDED_RUNS:,} whose digests are recorded (tests/recorded), and then every",
             "scenario that takes less than a minute, until a test notices it: another digest of one of these counts. The CTest",
             "case `mutation/sample` does so with ten mutants of a fresh, printed seed. `./dev mutation --record` writes this page; verdicts on survivors",
             "are in tests/mutation/survivors.txt. [mutants.md](mutants.md) lists mechanisms that are removed by hand.", "",
             "Left out, as no behaviour can show them: the conditions of TF_CHECK and CheckFailed and of probes, texts for users (arguments of",
             "`fmt::format`), calls that only reserve memory, headers, and mutants that do not compile.", "",
             f"Last run: {datetime.date.today().isoformat()}, seed {tried.seed}, {drawn}: {killed} killed "
             f"({100 * killed / total:.1f} %), {by['unit']} of them by unit tests, {by['explore']} by exploration, {by['recorded']} by digests (together "
             f"{100 * required / total:.1f} %), {by['scenario']} by scenarios alone; {len(survivors)} survived, {len(equivalent)} of them "
             "equivalent.", "",
             "| kind | drawn | killed |", "|---|---|---|"]
    lines += [f"| {kind} | {drawn} | {dead} |" for kind, (drawn, dead) in sorted(kinds.items())]
    lines += ["", "## Survivors", "", "| where | what | verdict |", "|---|---|---|"]
    for mutant in survivors:
        def cut(text):
            return text[:120].replace("`", "'").replace("|", "\\|")
        what = f"{mutant['kind']}: `{cut(mutant['before'])}` -> `{cut(mutant['after'])}`"
        verdict = ": ".join(judged.get(mutant["key"], ("not judged yet", "")))
        lines.append(f"| {mutant['file']} | {what} | {verdict.rstrip(': ')} |")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
