"""Programs of another checkout, with objects of this one wherever all that they are made of is the same there.

A checkout of the parent commit differs from this tree in a few sources. Building it from nothing takes as long as any build from nothing;
here only the objects one of whose inputs differs are compiled again, without optimizing. Objects and commands are those of a build folder
of this tree that is up to date. Not seen: a change of how the tree is configured (CMakeLists.txt, generated sources).
"""
import hashlib
import os
import pathlib
import re
import shlex
import subprocess


class OverlayError(Exception):
    """It cannot be built; `source`: what did not compile, "" where it was something else."""

    def __init__(self, text, source=""):
        super().__init__(text)
        self.source = source


class Overlay:
    """`checkout`: the other tree; `made`: a folder for its programs; `objects`: one for what is compiled, which other checkouts may share;
    `root` and `build`: this tree."""

    def __init__(self, checkout, made, objects, root, build, jobs=1):
        self.checkout, self.made, self.objects, self.root, self.build, self.jobs = checkout, made, objects, root, build, jobs
        self.same = {}

    def program(self, name):
        """Builds bin/tfsim or tests/am_test in `made`, and returns its path."""
        done = subprocess.run(["ninja", "-C", str(self.build), name], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise OverlayError(f"{name} does not build here: {(done.stdout + done.stderr)[-4000:]}")
        commands = self._ninja("commands", name).splitlines()
        dependencies = self._dependencies()
        again = {}
        for command in commands:
            if " -c " not in command:
                continue
            output = output_of(command)
            if not all(self._is_same(path) for path in dependencies.get(output, [])):
                again[output] = command
        objects, unused = [], set()
        waiting = list(again.items())
        running = []
        while waiting or running:
            while waiting and len(running) < self.jobs:
                output, command = waiting.pop(0)
                running.append(self._start(output, command, dependencies.get(output, [])))
            self._finish(*running.pop(0), objects, unused)
        objects += self._new_sources(commands)
        target = self.made / name
        target.parent.mkdir(parents=True, exist_ok=True)
        link = commands[-1]
        for output in [*again, *unused]:
            link = link.replace(f" {output} ", " ", 1)
        # In front of the libraries they are found first, and the library's own objects are then not asked for.
        in_front = " ".join(shlex.quote(str(one)) for one in objects)
        link = re.sub(r" -o \S+ ", lambda _: f" {in_front} -o {shlex.quote(str(target))} ", link, count=1)
        done = subprocess.run(["sh", "-c", link], cwd=self.build, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise OverlayError(f"{name} cannot be linked: {(done.stdout + done.stderr)[-4000:]}")
        return target

    def _ninja(self, tool, *words):
        return subprocess.run(["ninja", "-t", tool, *words], cwd=self.build, check=True, capture_output=True, text=True).stdout

    def _dependencies(self):
        """Object -> what it was made of."""
        found, current = {}, None
        for line in self._ninja("deps").splitlines():
            if line.startswith("    "):
                current.append(line.strip())
            elif ": #deps" in line:
                current = found.setdefault(line.partition(":")[0], [])
        return found

    def _is_same(self, path):
        """Whether the other checkout has the same there; what is no part of the tree is the same."""
        known = self.same.get(path)
        if known is None:
            here = pathlib.Path(os.path.normpath(self.build / path))
            inside = here.is_relative_to(self.root) and not here.is_relative_to(self.build)
            there = self.checkout / here.relative_to(self.root) if inside else here
            known = self.same[path] = not inside or (there.is_file() and here.is_file() and there.read_bytes() == here.read_bytes())
        return known

    def _there(self, text):
        """Paths of this tree, in a command or a source, as paths of the other; those of the build folder stay."""
        pattern = re.escape(str(self.root)) + r"(?!" + re.escape(str(self.build)[len(str(self.root)):]) + r"(/|\s|\"|$))(?=[/\s\"]|$)"
        return re.sub(pattern, str(self.checkout), text)

    def _key(self, command, dependencies):
        """What an object there depends on."""
        digest = hashlib.sha256(command.encode())
        for path in dependencies:
            here = pathlib.Path(os.path.normpath(self.build / path))
            if here.is_relative_to(self.root) and not here.is_relative_to(self.build):
                there = self.checkout / here.relative_to(self.root)
                digest.update(path.encode() + b"\0" + (there.read_bytes() if there.is_file() else b"\0"))
        return digest.hexdigest()

    def _start(self, output, command, dependencies):
        """(output, process, object, source) of a compiler that runs; process None where there is nothing to compile there, and "" where
        the object is there from an earlier call."""
        arguments = shlex.split(command)
        arguments = arguments[1:] if pathlib.Path(arguments[0]).name == "ccache" else arguments
        source = pathlib.Path(arguments[arguments.index("-c") + 1])
        made = self.objects / f"{self._key(command, dependencies)}.o"
        made.parent.mkdir(parents=True, exist_ok=True)
        if source.is_relative_to(self.build):  # A batch, which includes its sources.
            there = made.with_suffix(".cxx")
            names = re.findall(r'#include "(.*)"', source.read_text(encoding="utf-8"))
            mine = [self._there(name) for name in names]
            there.write_text("".join(f'#include "{name}"\n' for name in mine if pathlib.Path(name).is_file()), encoding="utf-8")
        else:
            there = pathlib.Path(self._there(str(source)))
        if not there.is_file():
            return output, None, None, there
        arguments = [self._there(one) for one in arguments]
        half = made.with_suffix(".half")
        arguments[arguments.index("-o") + 1] = str(half)
        arguments[arguments.index("-c") + 1] = str(there)
        for flag in ("-MF", "-MT"):
            if flag in arguments:
                arguments[arguments.index(flag) + 1] = str(made.with_suffix(".d"))
        arguments = [one for one in arguments if one != "-Werror"] + ["-O0", "-w"]
        if dependencies and made.exists():
            return output, "", made, there
        process = subprocess.Popen(arguments, cwd=self.build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return output, process, made, there

    def _finish(self, output, process, made, source, objects, unused):
        if process is None:
            unused.add(output)
            return
        if process == "":
            objects.append(made)
            return
        words, _ = process.communicate()
        if process.returncode != 0:
            inside = source.relative_to(self.checkout) if source.is_relative_to(self.checkout) else source.name
            raise OverlayError(words[-4000:], str(inside))
        made.with_suffix(".half").rename(made)
        objects.append(made)

    def _new_sources(self, commands):
        """Objects of sources that only the other checkout has, in folders whose sources the program is made of."""
        batches = [pathlib.Path(output_source(command)) for command in commands if " -c " in command]
        mine, patterns = set(), {}
        for command, source in zip([one for one in commands if " -c " in one], batches):
            named = re.findall(r'#include "(.*)"', source.read_text(encoding="utf-8")) if source.is_relative_to(self.build) else [str(source)]
            for name in named:
                path = pathlib.Path(name)
                mine.add(path)
                if path.is_relative_to(self.root) and "tests" not in path.relative_to(self.root).parts:
                    patterns.setdefault(path.parent, command)
        objects = []
        for folder, command in patterns.items():
            there = self.checkout / folder.relative_to(self.root)
            for source in sorted(there.glob("*.cc")) if there.is_dir() else []:
                here = folder / source.name
                if here in mine or here.is_file():
                    continue
                fake = re.sub(r" -c \S+", f" -c {here}", command)
                _, process, made, _ = self._start(f"new-{here.relative_to(self.root)}", fake, [])
                self._finish("", process, made, source, objects, set())
        return objects


def output_of(command):
    arguments = shlex.split(command)
    return arguments[arguments.index("-o") + 1]


def output_source(command):
    arguments = shlex.split(command)
    return arguments[arguments.index("-c") + 1]
