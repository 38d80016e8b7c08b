#!/usr/bin/env python3
"""Which part of core/am calls which, and how many of these calls lie on a cycle: a change must not add any.

The parts are the members of AmParts. A call is `parts_.PART.` or `parts.PART.` in the sources of a class. The number of calls on cycles that
are left is in CEILING; a change that lowers it writes the lower number there.

Usage: check_am_calls.py [ROOT] [--draw]
  --draw  print the graph, for a person or for dot
"""
import collections
import pathlib
import re
import sys

CEILING = 184


def parts_of(folder):
    """Member name by class name."""
    text = (folder / "am_parts.h").read_text(encoding="utf-8")
    body = text[text.index("struct AmParts {"):]
    return {kind: name for kind, name in re.findall(r"^  (\w+) (\w+)\{\*?\w+\};$", body, re.M)}


def calls_of(folder, parts):
    """Count of calls by (from, to)."""
    calls = collections.Counter()
    for path in sorted(folder.glob("*.cc")):
        current = None
        for line in path.read_text(encoding="utf-8").splitlines():
            code = line.split("//")[0]
            defined = re.match(r"^[\w:<>&*,\[\] ]*?\b(\w+)::~?\w+\(", code)
            if defined and not code.startswith(" "):
                current = parts.get(defined.group(1))
            for target in re.findall(r"\bparts_?\.(\w+)\.", code):
                if current and target in parts.values() and target != current:
                    calls[(current, target)] += 1
    return calls


def on_cycles(calls):
    """Edges whose two ends reach each other."""
    reach = collections.defaultdict(set)
    for caller, called in calls:
        reach[caller].add(called)
    changed = True
    while changed:
        changed = False
        for node in list(reach):
            wider = set().union(reach[node], *(reach[other] for other in list(reach[node]) if other in reach))
            if wider != reach[node]:
                reach[node], changed = wider, True
    return {edge: count for edge, count in calls.items() if edge[0] in reach.get(edge[1], ())}


def main():
    arguments = [one for one in sys.argv[1:] if not one.startswith("--")]
    folder = pathlib.Path(arguments[0] if arguments else ".").resolve() / "core" / "am"
    parts = parts_of(folder)
    calls = calls_of(folder, parts)
    cyclic = on_cycles(calls)
    if "--draw" in sys.argv:
        print("digraph am {")
        for (caller, called), count in sorted(calls.items()):
            print(f'  {caller} -> {called} [label={count}{", color=red" if (caller, called) in cyclic else ""}];')
        print("}")
    left = sum(cyclic.values())
    print(f"{len(parts)} parts, {sum(calls.values())} calls between them, {left} of them on cycles (ceiling {CEILING})")
    if not calls:
        print("no calls found: the sources are written otherwise than this tool expects")
        return 1
    if left > CEILING:
        print("a change adds calls that lie on a cycle: decide where the caller has what it needs, or let the ledger say it")
    elif left < CEILING:
        print(f"fewer than before: write {left} into CEILING of tools/check_am_calls.py")
    return 0 if left == CEILING else 1


if __name__ == "__main__":
    sys.exit(main())
