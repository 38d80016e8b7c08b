#!/usr/bin/env python3
"""Does CI run what the README says first? The commands of its first shell block, in order, are those of .ci/run."""
import pathlib
import re
import sys


def readme_commands():
    text = pathlib.Path("README.md").read_text(encoding="utf-8")
    block = re.search(r"```sh\n(.*?)```", text, re.DOTALL)
    if block is None:
        sys.exit("README.md has no ```sh block")
    lines = (line.split("#")[0].strip() for line in block.group(1).splitlines())
    return [line for line in lines if line]


def ci_commands():
    lines = (line.split("#")[0].strip() for line in pathlib.Path(".ci/run").read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line.startswith("./dev")]


def main():
    readme, ci = readme_commands(), ci_commands()
    print("README.md:", readme)
    print(".ci/run:  ", ci)
    sys.exit(0 if readme and readme == ci else 1)


if __name__ == "__main__":
    main()
