#!/usr/bin/env python3
"""Whether the sources of each library and program can be compiled together (TFYARN_BATCH in cmake/TfyarnTarget.cmake), which a tree that compiles
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
    """Name to the commands of its own sources; what is generated is left out."""
    found = collections.defaultdict(list)
    for command in json.loads(pathlib.Path(commands).read_text()):
        source = pathlib.Path(command["file"])
        words = shlex.split(command["command"])
        target = OBJECT.search(words[words.index("-o") + 1])
        if not target or not source.is_relative_to(root) or source.is_relative_to(root / "build"):
            continue
        found[target.group(1)].append((words, source))
    return {name: alike(sources) for name, sources in found.items() if len(alike(sources)) > 1}


def alike(sources):
    """Without those that CMake compiles by themselves, as they have definitions of their own."""
    defined = [tuple(sorted(word for word in words if word.startswith("-D"))) for words, _ in sources]
    usual = collections.Counter(defined).most_common(1)[0][0]
    return [source for source, own in zip(sources, defined) if own == usual]


def check(name, sources):
    """What the compiler says against all sources of one in one; "" when nothing."""
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
        print("nothing of several sources there")
        return 1
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = [text for text in pool.map(lambda item: check(*item), sorted(todo.items())) if text]
    for text in found:
        print(text)
    print(f"{len(todo)} libraries and programs, {len(found)} with a name that two sources use")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
