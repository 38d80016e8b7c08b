#!/usr/bin/env python3
"""The generator of mutants (sites.py, instrument.py) on a small program: with no mutant it does what it did, and almost every mutant
changes what it prints or how it ends.

Usage: generator_test.py [COMPILER]
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import instrument
from lexer import Source
from sites import sites_of

HERE = pathlib.Path(__file__).resolve().parent
KINDS = {"negated condition", "changed comparison", "changed connective", "dropped call", "dropped assignment", "constant off by one",
         "changed duration", "flipped bool", "swapped arguments"}
# Of the example's own: a size that an array's type needs is no constant of a run.
NO_MUTANT = ("kSizeOfAnArray = 3 + 1", "kSizeOfAnArray = 3 - 1")


def check(condition, what):
    if not condition:
        sys.exit("FAIL " + what)


def run(program, mutant):
    try:
        done = subprocess.run([program], env={**os.environ, "TFYARN_MUTANT": str(mutant)}, capture_output=True, timeout=20, check=False)
    except subprocess.TimeoutExpired:
        return "hung"
    return done.returncode, done.stdout


def main():
    compiler = sys.argv[1] if len(sys.argv) > 1 else "g++"
    source = Source("example.cc", (HERE / "example.cc").read_text(encoding="utf-8"))
    sites = sites_of(source)
    check(not any(words in site.before for words in ("TF_CHECK", "list.size() < 10", "CheckFailed", "name.size() == 4") for site in sites), "a check is left alone")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        flags = [compiler, "-std=c++20", "-O0", "-w", "-Wno-narrowing"]
        subprocess.run([*flags, HERE / "example.cc", "-o", folder / "plain"], check=True)
        while True:
            numbers = {site: number for number, site in enumerate(sites, 1)}
            woven = instrument.Woven(source, sites, numbers)
            (folder / "woven.cc").write_text(woven.text, encoding="utf-8")
            done = subprocess.run([*flags, folder / "woven.cc", "-o", folder / "woven"], capture_output=True, text=True, check=False)
            if done.returncode == 0:
                break
            bad = instrument.blamed(done.stderr, {str(folder / "woven.cc"): woven})
            check(bad, f"a mutant is to blame for\n{done.stderr}")
            sites = [site for site in sites if site not in bad]
        check({site.kind for site in sites} >= KINDS, f"of each kind one compiles, not of {KINDS - {site.kind for site in sites}}")
        check(not any(words in site.after for site in sites for words in NO_MUTANT), "the size of an array stays")
        plain = run(folder / "plain", 0)
        check(run(folder / "woven", 0) == plain, "without a mutant the program does what it did")
        quiet = [site for site, number in numbers.items() if run(folder / "woven", number) == plain]
    check(not woven.left_out, f"every site is woven in, and not {woven.left_out}")
    for site in quiet:
        print(f"no difference: {site.line} {site.kind}: {site.before} -> {site.after}")
    print(f"{len(sites)} mutants, {len(sites) - len(quiet)} of them change what the program does")
    check(len(quiet) * 5 < len(sites), "most mutants change what the program does")


if __name__ == "__main__":
    main()
