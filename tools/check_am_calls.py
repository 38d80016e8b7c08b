#!/usr/bin/env python3
"""Which part of core/am calls which: only one that AmParts declares before it, so that no calls go round in a circle.

The parts are the members of AmParts. A call is `parts_.PART.` or `parts.PART.` in the sources of a class. Calls go from observe/ to decide/ to
reconcile/, and not back.

Usage: check_am_calls.py [ROOT] [--draw]
  --draw  print the graph, for a person or for dot
"""
import collections
import pathlib
import re
import sys


def parts_of(folder):
    """Member name by class name, in the order of declaration."""
    text = (folder / "am_parts.h").read_text(encoding="utf-8")
    body = text[text.index("struct AmParts {"):]
    return dict(re.findall(r"^  (\w+) (\w+)\{\*?\w+\};$", body, re.M))


STAGES = ["reconcile", "decide", "observe"]


def calls_of(folder, parts):
    """Places by (from, to), and the folder in which each part stands."""
    calls = collections.defaultdict(list)
    stage_of = {}
    for path in sorted(folder.rglob("*.cc")):
        current = None
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            code = line.split("//")[0]
            defined = re.match(r"^[\w:<>&*,\[\] ]*?\b(\w+)::~?\w+\(", code)
            if defined and not code.startswith(" "):
                current = parts.get(defined.group(1))
                if current and path.parent != folder:
                    stage_of[current] = path.parent.name
            for target in re.findall(r"\bparts_?\.(\w+)\.", code):
                if current and target in parts.values() and target != current:
                    calls[(current, target)].append(f"core/am/{path.relative_to(folder)}:{number}")
    return calls, stage_of


def main():
    arguments = [one for one in sys.argv[1:] if not one.startswith("--")]
    folder = pathlib.Path(arguments[0] if arguments else ".").resolve() / "core" / "am"
    parts = parts_of(folder)
    calls, stage_of = calls_of(folder, parts)
    rank = {name: at for at, name in enumerate(parts.values())}
    upwards = {edge: places for edge, places in calls.items() if rank[edge[0]] < rank[edge[1]]}
    stages = [(STAGES.index(stage_of[part]), part) for part in parts.values() if part in stage_of]
    if stages != sorted(stages, key=lambda one: one[0]):
        print("core/am/am_parts.h: parts of reconcile/, decide/ and observe/ stand in another order than that")
        return 1
    if "--draw" in sys.argv:
        print("digraph am {")
        for (caller, called), places in sorted(calls.items()):
            print(f'  {caller} -> {called} [label={len(places)}{", color=red" if (caller, called) in upwards else ""}];')
        print("}")
    for (caller, called), places in sorted(upwards.items()):
        for place in places:
            print(f"{place}: {caller} may not call {called}, which stands above it in core/am/am_parts.h")
    print(f"{len(parts)} parts, {sum(map(len, calls.values()))} calls between them, {len(upwards)} breaches")
    if not calls:
        print("no calls found: the sources are written otherwise than this tool expects")
    return 1 if upwards or not calls else 0


if __name__ == "__main__":
    sys.exit(main())
