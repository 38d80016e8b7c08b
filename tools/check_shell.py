#!/usr/bin/env python3
"""shellcheck over our shell programs. Exit 77 where it is not installed."""
import pathlib
import shutil
import subprocess
import sys


def is_shell(path):
    with open(path, "rb") as file:
        return file.readline().startswith((b"#!/usr/bin/env bash", b"#!/bin/sh", b"#!/bin/bash"))


def main():
    if shutil.which("shellcheck") is None:
        print("skipped: shellcheck is not installed")
        sys.exit(77)
    places = [pathlib.Path("dev"), *pathlib.Path(".ci").iterdir(), *pathlib.Path("tools").rglob("*")]
    programs = sorted(str(path) for path in places if path.is_file() and is_shell(path))
    print(" ".join(programs))
    sys.exit(subprocess.run(["shellcheck", *programs]).returncode)


if __name__ == "__main__":
    main()
