#!/usr/bin/env python3
"""Whether the sources of each library can be compiled together (TFYARN_BATCH in cmake/TfyarnTarget.cmake), which a tree that compiles
them one by one does not show: two may not use the same name for something of their own.

Usage: check_batches.py COMPILE_COMMANDS_JSON [LIBRARY...]
"""
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

OBJECT = re.compile(r"CMakeFiles/([\w-]+)\.dir/.*\.o$")


def libraries(commands, root):
    """Name to the commands of its own sources; programs and what is generated are left out."""
    found = collections.defaultdict(list)
    for command in json.loads(pathlib.Path(commands).read_text()):
        source = pathlib.Path(command["file"])
        words = shlex.split(command["command"])
        target = OBJECT.search(words[words.index("-o") + 1])
        if not target or not source.is_relative_to(root) or source.is_relative_to(root / "build"):
            continue
        if source.is_relative_to(root / "tests") or source.is_relative_to(root / "bench"):
            continue
        found[target.group(1)].append((words, source))
    return {name: sources for name, sources in found.items() if len(sources) > 1}


def check(name, sources):
    """What the compiler says against all sources of a library in one; "" when nothing."""
    words = list(sources[0][0])
    if pathlib.Path(words[0]).name == "ccache":
        words = words[1:]
    del words[words.index("-c"):]
    for option in ("-o", "-MT", "-MF"):
        if option in words:
            at = words.index(option)
            del words[at:at + 2]
    with tempfile.NamedTemporaryFile("w", suffix=".cc", prefix=name) as batch:
        batch.write("".join(f'#include "{source}"\n' for _, source in sources))
        batch.flush()
        words += ["-fsyntax-only", "-Wno-subobject-linkage", batch.name]
        done = subprocess.run([w for w in words if w != "-MD"], capture_output=True, text=True)
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stderr.splitlines() if "error:" in line]
    return f"{name}:\n" + "\n".join(lines[:8] or done.stderr.splitlines()[:8])


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    wanted = sys.argv[2:]
    todo = {n: s for n, s in libraries(sys.argv[1], root).items() if not wanted or n in wanted}
    if not todo:
        print("no library of several sources there")
        return 1
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = [text for text in pool.map(lambda item: check(*item), sorted(todo.items())) if text]
    for text in found:
        print(text)
    print(f"{len(todo)} libraries, {len(found)} with a name that two sources use")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
