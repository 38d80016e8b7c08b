"""Draws mutants and makes a folder in which they can be tried anywhere (trial.py)."""
import json
import os
import pathlib
import random
import re
import shutil
import subprocess

import build

HERE = pathlib.Path(__file__).resolve().parent
# What tests read, besides what git knows as theirs.
DATA = ("scenarios", "tests", "docs", "config", "examples", "core", "sim", "README.md", "ARCHITECTURE.md")


def _check_all(tree, sites, at_once, say):
    """Those of the sites that compile."""
    sites = list(sites)
    unchecked = {site.file for site in sites}
    while unchecked:
        numbers = {site: number for number, site in enumerate(sites, 1)}
        woven = tree.weave(numbers)
        files = {site.file for site in sites}
        checked = {name for unit in tree.units_of(unchecked) for name in unit.sources} & files
        bad = tree.check_only(files, checked, woven, at_once) | {site for made in woven.values() for site in made.left_out}
        say(f"{len(sites)} sites, {len(bad)} do not compile")
        unchecked = {site.file for site in bad}
        sites = [site for site in sites if site not in bad]
    return sites


def _of_am(source):
    return source.startswith(("core/am/", "core/allocation/", "core/policy/"))


def _in_turn(some, others):
    """One of each for as long as both have one, then the rest."""
    shared = min(len(some), len(others))
    return [site for pair in zip(some, others) for site in pair] + some[shared:] + others[shared:]


def draw(tree, seed, count, batches, at_once, say):
    """`count` sites drawn from all, or from `batches` batches of sources so that little is compiled, half of them of what decides; each compiles."""
    generator = random.Random(seed)
    known = {name for unit in tree.units for name in unit.sources}
    sites = build.all_sites([name for name in build.sources_in_scope() if name in known])
    total = len(sites)
    if batches:
        weights = [len([site for site in sites if site.file in unit.sources]) for unit in tree.units]
        decides = [any(_of_am(name) for name in unit.sources) for unit in tree.units]
        # Scenarios and exploration tell of the ApplicationMaster first, so that a sample without one of its mutants says little.
        chosen = {generator.choices(range(len(tree.units)), [weight * of_am for weight, of_am in zip(weights, decides)])[0]}
        while len(chosen) < min(batches, len(tree.units)):
            chosen.add(generator.choices(range(len(tree.units)), weights)[0])
        files = {name for i in chosen for name in tree.units[i].sources}
        sites = [site for site in sites if site.file in files]
    generator.shuffle(sites)
    if batches:
        sites = _in_turn([site for site in sites if _of_am(site.file)], [site for site in sites if not _of_am(site.file)])
    good, tried = [], 0
    while len(good) < count and tried < len(sites):
        more = sites[tried:tried + max(8, (count - len(good)) * 3 // 2)]
        tried += len(more)
        good += _check_all(tree, more, at_once, say)
    # The compiler that makes the programs has the last word. A mutant keeps its number, so that only its batch is compiled again.
    numbers = {site: number for number, site in enumerate(good[:count], 1)}
    spare = good[count:]
    while True:
        files = {site.file for site in numbers}
        say(f"compiling {len(tree.units_of(files))} batches with {len(numbers)} mutants")
        bad = tree.compile(files, tree.weave(numbers), at_once)
        if not bad:
            return numbers, files, total
        for site in bad:
            number = numbers.pop(site)
            if spare:
                numbers[spare.pop(0)] = number


def _libraries(programs, into):
    into.mkdir(parents=True, exist_ok=True)
    for program in programs:
        listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        for path in re.findall(r"(/\S+\.so\S*)", listed):
            name = "loader" if "/ld-linux" in path else os.path.basename(path)
            if not (into / name).exists():
                shutil.copy(os.path.realpath(path), into / name)


def drawn_before(tree, folder, at_once):
    """What draw() gave for the folder that is there, compiled where that is not so any more; None when something is another."""
    told = json.loads((folder / "mutants.json").read_text(encoding="utf-8"))
    files = {mutant["file"] for mutant in told["mutants"]}
    sites = {(site.key, site.line): site for site in build.all_sites(sorted(files))}
    numbers = {sites.get((mutant["key"], mutant["line"])): mutant["number"] for mutant in told["mutants"]}
    if len(numbers) < len(told["mutants"]) or tree.compile(files, tree.weave(numbers), at_once):
        return None
    return numbers, files, told["sites"]


def found_again(tree, told, at_once, say):
    """The mutants of an earlier run, in today's sources: each at the place nearest to its line of then. What is gone is left out."""
    places = {}
    for site in build.all_sites(sorted({mutant["file"] for mutant in told["mutants"] if (build.ROOT / mutant["file"]).exists()})):
        places.setdefault(site.key, []).append(site)
    numbers = {}
    for mutant in told["mutants"]:
        free = [site for site in places.get(mutant["key"], []) if site not in numbers]
        if free:
            numbers[min(free, key=lambda site: abs(site.line - mutant["line"]))] = mutant["number"]
        else:
            say(f"gone: {mutant['key']}")
    while True:
        files = {site.file for site in numbers}
        bad = tree.compile(files, tree.weave(numbers), at_once)
        if not bad:
            return numbers, files, told["sites"]
        for site in bad:
            say(f"does not compile any more: {site.key}")
            del numbers[site]


def prepare(tree, folder, seed, count, batches, at_once, say, drawn=None):
    """Makes the folder; `drawn`: what draw() gave before."""
    numbers, files, total = drawn or draw(tree, seed, count, batches, at_once, say)
    for part in ("bin", "lib", "root"):
        shutil.rmtree(folder / part, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    say("linking")
    tree.link(files, folder / "bin", at_once)
    _libraries(sorted((folder / "bin").iterdir()), folder / "lib")
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z", *DATA], cwd=build.ROOT, capture_output=True, text=True,
                            check=True).stdout.split("\0")
    for name in listed:
        if name and (build.ROOT / name).is_file():
            (folder / "root" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(build.ROOT / name, folder / "root" / name)
    mutants = [{"number": number, "file": site.file, "line": site.line, "kind": site.kind, "before": site.before, "after": site.after,
                "key": site.key, "programs": tree.programs_with(site.file)} for site, number in numbers.items()]
    told = {"seed": seed, "root": str(build.ROOT), "sites": total, "mutants": mutants, "scenarios": _scenarios()}
    (folder / "mutants.json").write_text(json.dumps(told, indent=1), encoding="utf-8")
    for name in ("trial.py", "run.py", "report.py", "survivors.txt"):
        shutil.copy(HERE / name, folder / name)


def _scenarios():
    """Whole scenarios that take no minutes and need nothing that is not in the tree."""
    found = []
    for path in sorted((build.ROOT / "scenarios").rglob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        name = str(path.relative_to(build.ROOT / "scenarios").with_suffix(""))
        if re.search(r"^schema:", text, re.M) and not re.search(r"^# ctest: (slow|large)", text, re.M) and \
                not name.startswith(("bench/", "fidelity/", "philly")):
            found.append(name)
    return found
