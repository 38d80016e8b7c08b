"""The table of planted bugs in docs/track-record.md: written by run.py --record, read by run.py --sample."""
import datetime
import re
import statistics

import table

PAGE = table.ROOT / "docs" / "track-record.md"
BEGIN, END = "<!-- planted bugs: written by ./dev planted --record -->", "<!-- end of planted bugs -->"
ROW = re.compile(r"^\| `(?P<name>[a-z0-9-]+)`: .* \| (?P<runs>\d+) \| \d+ / \d+ / \d+ \|")


def summary(outcomes):
    """One sentence about those that were found."""
    found = [outcome for outcome in outcomes if outcome["runs"] is not None]
    middle = {key: statistics.median(outcome[key] for outcome in found) for key in ("runs", "jobs", "faults", "nodes")}
    return (f"{len(found)} found; median {middle['runs']:g} runs, and a reproducer of {middle['jobs']:g} jobs, {middle['faults']:g} faults, "
            f"{middle['nodes']:g} nodes")


def why(bug, outcome):
    """It was not found."""
    said = outcome["what"] if outcome["what"] != "not found" else f"not within {outcome.get('budget', 0)} runs"
    return f"{bug.unseen} ({said})" if bug.unseen else said[:200]


def cell(text):
    return text.replace("|", "\\|")


def write(bugs, outcomes, seed, budget):
    """Between the page's two marks; what was not run and what was not found stand first."""
    outcomes = {name: outcome for name, outcome in outcomes.items() if outcome["what"] != "not run"}
    lines = [BEGIN, "",
             f"Last run: {datetime.date.today().isoformat()}, `--seed {seed} --budget {budget}`; of {len(bugs)} bugs {len(outcomes)} were run, "
             f"{summary(outcomes.values())}.", ""]
    left_out = [f"`{bug.name}`" for bug in bugs if bug.name not in outcomes]
    if left_out:
        lines += [f"Not run with the sources of that day: {', '.join(left_out)}.", ""]
    bugs = [bug for bug in bugs if bug.name in outcomes]
    missed = [bug for bug in bugs if outcomes[bug.name]["runs"] is None]
    if missed:
        lines += ["| not found yet | origin | why |", "|---|---|---|"]
        lines += [f"| `{bug.name}`: {cell(bug.what)} | {cell(bug.origin)} | {cell(why(bug, outcomes[bug.name]))} |"
                  for bug in missed] + [""]
    lines += ["| bug | origin | runs needed | jobs / faults / nodes | what told |", "|---|---|---|---|---|"]
    for bug in bugs:
        outcome = outcomes[bug.name]
        if outcome["runs"] is None:
            continue
        teller = re.match(r"invariant [a-z-]+|relation [a-z-]+|expected|the simulator crashed|the run goes round", outcome["what"])
        told = {"expected": "the job's end"}.get(teller.group(0), teller.group(0)) if teller else outcome["what"][:40]
        lines.append(f"| `{bug.name}`: {cell(bug.what)} | {cell(bug.origin)} | {outcome['runs']} | "
                     f"{outcome['jobs']} / {outcome['faults']} / {outcome['nodes']} | {cell(told)} |")
    lines += ["", END]
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(before + "\n".join(lines) + after, encoding="utf-8")


def read():
    """Name -> {"runs": runs needed} of those that were found."""
    rows = (ROW.match(line) for line in PAGE.read_text(encoding="utf-8").splitlines())
    return {row["name"]: {"runs": int(row["runs"])} for row in rows if row}


def seed():
    """With which they were found."""
    found = re.search(r"^Last run: .*`--seed (\d+) ", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return int(found.group(1)) if found else 1
