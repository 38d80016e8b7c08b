#!/usr/bin/env python3
"""docs/fakes.md lists every test of tests/contract, and nothing else."""
import pathlib
import re
import sys


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    tests = set()
    for source in (root / "tests" / "contract").glob("*_test.cc"):
        tests |= {".".join(match) for match in re.findall(r"\bTEST_F\((\w+),\s*(\w+)\)", source.read_text(encoding="utf-8"))}
    rows = re.findall(r"^\|[^|]+\| (\w+\.\w+) \|", (root / "docs" / "fakes.md").read_text(encoding="utf-8"), re.MULTILINE)
    faults = [f"docs/fakes.md does not list {test}" for test in sorted(tests - set(rows))]
    faults += [f"docs/fakes.md lists {row}, which is no test" for row in sorted(set(rows) - tests)]
    faults += [f"docs/fakes.md lists {row} twice" for row in sorted(set(rows)) if rows.count(row) > 1]
    print("\n".join([*faults, f"{len(tests)} tests, {len(faults)} faults"]))
    return 1 if faults or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
