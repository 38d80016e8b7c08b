"""Instrumented programs out of a build tree that is there: a few batches of sources are compiled again, everything else is linked as
it is."""
import collections
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

import instrument
from lexer import Source
from sites import sites_of

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCOPE = ("core/", "fakes/", "sim/checkers")
# Cheap and without processes, sockets or clocks of their own; trial.py runs a folder's own first.
PROGRAMS = ("model_test", "placement_test", "policy_test", "allocation_test", "journal_test", "am_test", "am_golden_test", "agent_test",
            "client_test", "trace_test", "hdfs_fake_test", "yarn_fake_test", "oracles_test", "sim_test", "explore_test", "explorer_test",
            "config_test", "reports_test", "apps_test", "docs_test", "lockstep_test", "canary_test", "yarn_server_test", "yarn_contract",
            "wire_yarnweb_test", "fault_test")


@dataclasses.dataclass
class Unit:
    """One object file: a batch of sources, or one."""
    made: str  # as in the build tree
    command: list
    directory: str
    sources: list  # names below ROOT
    archive: str = ""


def sources_in_scope():
    found = [path for folder in ("core", "fakes", "sim") for path in sorted((ROOT / folder).rglob("*.cc"))]
    return [name for name in (str(path.relative_to(ROOT)) for path in found) if name.startswith(SCOPE)]


def digest():
    """Of all sources that a mutant or its build follows from, tests aside."""
    made = hashlib.sha256()
    for path in sorted(path for pattern in ("*.cc", "*.h", "CMakeLists.txt") for path in ROOT.rglob(pattern)):
        name = str(path.relative_to(ROOT))
        if not name.startswith(("build/", "tests/")):
            made.update(name.encode() + b"\0" + path.read_bytes())
    made.update(instrument.SWITCH_HEADER.read_bytes())
    return made.hexdigest()


class Tree:
    """A build tree made by Ninja, and what it says about how it is made."""

    def __init__(self, tree, work):
        self.tree, self.work = pathlib.Path(tree).resolve(), pathlib.Path(work).resolve()
        self.units = self._units()
        self.programs, self.links = self._programs()

    def _units(self):
        units = []
        for entry in json.loads((self.tree / "compile_commands.json").read_text(encoding="utf-8")):
            path = pathlib.Path(entry["file"])
            command = shlex.split(entry["command"])
            if pathlib.Path(command[0]).name == "ccache":
                command = command[1:]
            sources = [path]
            if path.name.startswith("unity_"):
                sources = [pathlib.Path(name) for name in re.findall(r'#include "(.*?)"', path.read_text(encoding="utf-8"))]
            names = [os.path.relpath(source, ROOT) for source in sources]
            if any(name.startswith(SCOPE) for name in names):
                units.append(Unit(command[command.index("-o") + 1], command, entry["directory"], names))
        return units

    def _programs(self):
        """(name -> archives it is linked with, name -> how it is linked) of the programs that this tree has."""
        known = subprocess.run(["ninja", "-C", self.tree, "-t", "targets", "all"], capture_output=True, text=True, check=True).stdout
        wanted = [name for name in ("bin/tfsim", *(f"tests/{program}" for program in PROGRAMS)) if f"\n{name}: " in "\n" + known]
        listed = subprocess.run(["ninja", "-C", self.tree, "-t", "commands", *wanted], capture_output=True, text=True,
                                check=True).stdout.splitlines()
        archive_of = {}
        for line in listed:
            archive = re.search(r"\bar qc (\S+\.a)\s+(.*?) &&", line)
            if archive:
                archive_of.update({made: archive[1] for made in archive[2].split()})
        for unit in self.units:
            unit.archive = archive_of.get(unit.made, "")
        self.units = [unit for unit in self.units if unit.archive]
        programs, links = {}, {}
        for name in wanted:
            line = next(line for line in listed if f" -o {name} " in line)
            short = pathlib.Path(name).name
            programs[short] = [word for word in line.split() if word.endswith(".a") and not word.startswith("/")]
            links[short] = line
        return programs, links

    def bring_up_to_date(self):
        wanted = [("bin/" if name == "tfsim" else "tests/") + name for name in self.links]
        subprocess.run(["ninja", "-C", self.tree, *wanted], check=True, stdout=subprocess.DEVNULL)

    # ------------------------------------------------------------ instrumented sources

    def weave(self, numbers):
        """Writes the instrumented copies of all files that have one of these sites. {path: Woven}"""
        shutil.rmtree(self.work / "tree", ignore_errors=True)
        of_file = collections.defaultdict(list)
        for site in numbers:
            of_file[site.file].append(site)
        woven = {}
        for name, sites in of_file.items():
            made = instrument.Woven(Source(name, (ROOT / name).read_text(encoding="utf-8")), sites, numbers)
            path = self.work / "tree" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(made.text, encoding="utf-8")
            woven[str(path)] = made
        return woven

    def units_of(self, files):
        return [unit for unit in self.units if set(unit.sources) & set(files)]

    def _command(self, unit, files, extra):
        """Of the unit with the instrumented copies of `files` in it."""
        text = "".join(f'#include "{self.work / "tree" / name if name in files else ROOT / name}"\n' for name in unit.sources)
        batch = self.work / "batch" / unit.made.replace("/", "_").removesuffix(".o")
        batch = batch.with_suffix(".cc")
        batch.parent.mkdir(parents=True, exist_ok=True)
        batch.write_text(text, encoding="utf-8")
        made = self.work / "made" / unit.made
        made.parent.mkdir(parents=True, exist_ok=True)
        command = [word for word in unit.command if word != "-Werror"]
        command[command.index("-o") + 1] = str(made)
        command[command.index("-c") + 1] = str(batch)
        return command + ["-w", "-Wno-narrowing", *extra]

    def check_only(self, files, checked, woven, at_once):
        """Sites of the files `checked` that do not compile; files: all with sites."""
        def ask(unit):
            command = self._command(unit, files, ["-fsyntax-only"])
            if shutil.which("clang++-14") and pathlib.Path(command[0]).name == "g++":  # Twice as fast.
                command[0] = "clang++-14"
                command += ["-ferror-limit=0", "-Wno-unknown-warning-option"]
            else:
                command += ["-fmax-errors=0"] if "g++" in command[0] else ["-ferror-limit=0"]
            return subprocess.run(command, cwd=unit.directory, capture_output=True, text=True, check=False)
        return self._blame(ask, self.units_of(checked), woven, at_once)

    def compile(self, files, woven, at_once):
        """Objects of all units with these files; sites that this compiler does not take."""
        sources = digest()

        def make(unit):
            command = self._command(unit, files, ["-O1"] if "-O2" in unit.command else [])
            made, key = pathlib.Path(command[command.index("-o") + 1]), self._key(unit, files, command, sources)
            stamp = made.with_suffix(".key")
            if made.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == key:
                return subprocess.CompletedProcess(command, 0)
            stamp.unlink(missing_ok=True)
            done = subprocess.run(command, cwd=unit.directory, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                stamp.write_text(key, encoding="utf-8")
            return done
        return self._blame(make, self.units_of(files), woven, at_once)

    def _key(self, unit, files, command, sources):
        """Of what an object is made from."""
        key = hashlib.sha256((sources + repr(command)).encode())
        for name in sorted(set(unit.sources) & set(files)):
            key.update((self.work / "tree" / name).read_bytes())
        return key.hexdigest()

    def _blame(self, ask, units, woven, at_once):
        bad = set()
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            for unit, done in zip(units, pool.map(ask, units)):
                if done.returncode == 0:
                    continue
                found = instrument.blamed(done.stderr, woven)
                if not found:
                    raise SystemExit(f"mutation: {unit.made} does not compile, and no mutant is the cause:\n{done.stderr[:4000]}")
                bad |= found
        return bad

    # ------------------------------------------------------------ programs

    def link(self, files, into, at_once):
        """The programs, in folder `into`."""
        into.mkdir(parents=True, exist_ok=True)
        replaced = {}
        of_archive = collections.defaultdict(list)
        for unit in self.units_of(files):
            of_archive[unit.archive].append(unit.made)
        for archive, objects in of_archive.items():
            copy = self.work / "made" / archive
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(self.tree / archive, copy)
            subprocess.run(["ar", "r", copy, *(self.work / "made" / made for made in objects)], check=True, capture_output=True)
            replaced[archive] = str(copy)

        def link(name):
            line = self.links[name]
            line = " ".join(replaced.get(word, word) for word in line.split(" "))
            line = re.sub(r" -o \S+ ", f" -o {shlex.quote(str(into / name))} ", line, count=1)
            done = subprocess.run(["sh", "-c", line], cwd=self.tree, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise SystemExit(f"mutation: {name} does not link:\n{done.stderr[:4000]}")
            subprocess.run(["strip", into / name], check=True)
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            list(pool.map(link, [name for name in self.links if name == "tfsim" or set(self.programs[name]) & set(replaced)]))

    def programs_with(self, file):
        """Unit-test programs that have this source in them."""
        archives = {unit.archive for unit in self.units if file in unit.sources}
        return [name for name in self.programs if name != "tfsim" and archives & set(self.programs[name])]


def all_sites(files):
    sites = []
    for name in files:
        sites += sites_of(Source(name, (ROOT / name).read_text(encoding="utf-8")))
    return sites
