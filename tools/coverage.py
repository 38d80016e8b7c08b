#!/usr/bin/env python3
"""Line coverage of core/, by folder, from a tree that was built with --coverage and whose tests have run.

Usage: coverage.py BUILD [--lines FILE...]: with --lines, the lines of those sources that were never reached.
"""
import collections
import json
import os
import shutil
import subprocess
import sys


def measure(build):
    gcovr = shutil.which("gcovr") or sys.exit("gcovr is not installed")
    command = [gcovr, "--root", ".", "--filter", "core/", "--object-directory", build, "--json", "-", "-j",
               str(os.cpu_count()), build]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr[-4000:])
    return json.loads(done.stdout)["files"]


def reached_by_line(lines):
    """Line number -> whether it ran. A template's line is listed once for each instance."""
    reached = {}
    for line in lines:
        if not line.get("gcovr/noncode"):
            reached[line["line_number"]] = reached.get(line["line_number"], False) or line["count"] > 0
    return reached


def main():
    build, wanted = sys.argv[1], sys.argv[3:] if "--lines" in sys.argv else []
    folders = collections.defaultdict(lambda: [0, 0])
    for file in measure(build):
        reached = reached_by_line(file["lines"])
        for folder in ("/".join(file["file"].split("/")[:2]), "core"):
            folders[folder][0] += sum(reached.values())
            folders[folder][1] += len(reached)
        if file["file"] in wanted:
            print(file["file"], "never reached:", ", ".join(str(n) for n in sorted(reached) if not reached[n]))
    for folder, (ran, all_lines) in sorted(folders.items(), key=lambda row: (row[0] == "core", row[0])):
        print(f"{folder:16}{ran:6} of {all_lines:6} lines {100 * ran / all_lines:6.1f} %")


if __name__ == "__main__":
    main()
