#!/usr/bin/env python3
"""Is every scenario a CTest case? Usage: check_scenarios.py FILE, which lists the registered ones, one a line.

A fragment that others include is no scenario: it has no `schema:` line of its own.
"""
import pathlib
import sys


def main():
    registered = set(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8").split())
    missing = []
    count = 0
    for path in sorted(pathlib.Path("scenarios").rglob("*.y*ml")):
        if not any(line.startswith("schema:") for line in path.read_text(encoding="utf-8").splitlines()):
            continue
        count += 1
        if str(path.relative_to("scenarios")) not in registered:
            missing.append(str(path))
    for path in missing:
        print(f"{path} is no CTest case; configure again")
    print(f"{count} scenarios, {len(missing)} not registered")
    sys.exit(1 if missing or count == 0 else 0)


if __name__ == "__main__":
    main()
