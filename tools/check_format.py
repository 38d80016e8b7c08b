#!/usr/bin/env python3
"""Is every source formatted as .clang-format says? Prints the files that are not; `./dev format` corrects them.

Looks at what git tracks, or at everything in the source folders where there is no git. Exit 77 without clang-format-14:
other versions format differently.
"""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

FOLDERS = ["core", "config", "fakes", "sim", "reports", "wire", "hosts", "apps", "bench", "tests"]
TOOL = "clang-format-14"


def sources():
    done = subprocess.run(["git", "ls-files", "*.h", "*.cc"], capture_output=True, text=True)
    if done.returncode == 0:
        # A file that is deleted but not yet committed is still listed.
        return [name for name in done.stdout.split() if pathlib.Path(name).exists()]
    return [str(path) for top in FOLDERS for path in sorted(pathlib.Path(top).rglob("*")) if path.suffix in (".h", ".cc")]


def badly_formatted(chunk):
    done = subprocess.run([TOOL, "--dry-run", "-Werror", *chunk], capture_output=True, text=True)
    if done.returncode == 0:
        return []
    return sorted({line.split(":")[0] for line in done.stderr.splitlines() if "-Wclang-format-violations" in line})


def main():
    if shutil.which(TOOL) is None:
        print(f"skipped: {TOOL} is not installed")
        sys.exit(77)
    names = sources()
    chunks = [names[i : i + 20] for i in range(0, len(names), 20)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        bad = [name for found in pool.map(badly_formatted, chunks) for name in found]
    for name in bad:
        print(name)
    print(f"{len(names)} files, {len(bad)} not formatted" + (": ./dev format" if bad else ""))
    sys.exit(1 if bad or not names else 0)


if __name__ == "__main__":
    main()
