"""Changes of sources as tables say them, and programs with such a change: what mutants and planted bugs share.

A change quotes lines of one source (`-`) and says what stands there instead (`+`); the quoted lines occur once in the file, so a table
that is stale is noticed. A program with a change costs one compiled source and one link: all other objects are those of a tree that was
built already. Where that tree compiles sources in batches (cmake/TfyarnTarget.cmake), the others of the batch are compiled once, apart,
and kept.
"""
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import subprocess
import threading

MOST_BYTES = 4 << 30


@dataclasses.dataclass
class Change:
    file: str
    old: list = dataclasses.field(default_factory=list)
    new: list = dataclasses.field(default_factory=list)

    def old_text(self):
        return "\n".join(self.old)

    def new_text(self):
        return "\n".join(self.new)

    def apply(self, text):
        return text.replace(self.old_text(), self.new_text(), 1)

    def problem(self, root):
        """Why it cannot be applied to the sources below `root`, as a sentence; "" where it can."""
        if not self.file.endswith(".cc"):
            return f"changes {self.file}, and only a .cc is compiled again"
        if self.old == self.new:
            return "changes nothing"
        file = root / self.file
        count = file.read_text(encoding="utf-8").count(self.old_text()) if file.is_file() else 0
        return "" if count == 1 else f"its old text occurs {count} times in {self.file}, not once"


def texts_with(changes, root):
    """Source -> its text below `root` with all the changes."""
    texts = {}
    for change in changes:
        before = texts.get(change.file) or (root / change.file).read_text(encoding="utf-8")
        texts[change.file] = change.apply(before)
    return texts


def limit():
    """For preexec_fn: a changed program must not take the machine's memory, nor leave a core."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def faster_linker():
    """What g++ is told for the fastest linker there is."""
    for name, program in (("mold", "mold"), ("lld", "ld.lld"), ("gold", "ld.gold")):
        if shutil.which(program):
            return f"-fuse-ld={name}"
    return ""


def output_of(command):
    """What a compiler's command writes."""
    arguments = shlex.split(command)
    return arguments[arguments.index("-o") + 1]


class Compiler:
    """Links tfsim with some sources changed; all else as `build`, the built tree of `root`, has it.

    `kept`: a folder for objects of batches; `optimize`: how what it compiles is optimized. Safe to use from several threads.
    """

    def __init__(self, root, build, kept, optimize="-O0"):
        self.root, self.tree, self.kept, self.optimize = root, build, kept, optimize
        listed = subprocess.run(["ninja", "-t", "commands", "tfsim"], cwd=build, check=True, capture_output=True,
                                text=True).stdout.splitlines()
        self.link = next(line for line in listed if " -o bin/tfsim " in line)
        compiled = {output_of(line) for line in listed if " -c " in line}
        self.commands, self.batches = {}, {}
        for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
            if output_of(entry["command"]) not in compiled:
                continue  # Of another program.
            path = pathlib.Path(entry["file"])
            if "Unity" not in path.parts:
                self.commands[os.path.relpath(path, root)] = entry["command"]
                continue
            batch = re.findall(r'#include "(.*)"', path.read_text(encoding="utf-8"))
            for source in batch:
                self.commands[os.path.relpath(source, root)] = entry["command"]
                self.batches[os.path.relpath(source, root)] = [os.path.relpath(other, root) for other in batch]
        self.locks, self.lock = {}, threading.Lock()
        self.headers = hashlib.sha256()
        for path in sorted(root.rglob("*.h")):
            if path.relative_to(root).parts[0] not in ("build", "tests"):
                self.headers.update(path.read_bytes())

    def build(self, texts, folder):
        """folder/tfsim with `texts` (source: its text) in place of those sources; None, or what the compiler said."""
        objects, away = [], []
        siblings = {other for source in texts for other in self.batches.get(source, [])} - set(texts)
        for number, (source, text) in enumerate(texts.items()):
            if source not in self.commands:
                return f"{source} is no part of tfsim"
            made = self._kept(source, text)
            if not made.exists():
                changed = folder / f"{number}-{pathlib.Path(source).name}"
                changed.write_text(text, encoding="utf-8")
                # A check that fails names the source as it is called in the tree.
                errors = self._compile(source, changed, changed.with_suffix(".o"), [f"-fmacro-prefix-map={changed}={source}"])
                if errors is not None:
                    return errors
                self.kept.mkdir(parents=True, exist_ok=True)
                changed.with_suffix(".o").replace(made)
            objects.append(made)
            away.append(output_of(self.commands[source]))
        for source in sorted(siblings):
            made, errors = self._sibling(source)
            if errors is not None:
                return errors
            objects.append(made)
        link = self.link.replace(" -o bin/tfsim ", f" -o {shlex.quote(str(folder / 'tfsim'))} ", 1)
        for was in away:
            link = link.replace(f" {was} ", " ", 1)  # It is named where it is no library's.
        # In front of the libraries they are found first, and the library's own object is then not asked for.
        in_front = " ".join(shlex.quote(str(made)) for made in objects)
        link = link.replace(" -o ", f" {faster_linker()} {in_front} -o ", 1)
        return self._run(["sh", "-c", link])

    def _kept(self, source, text):
        """Where the object of a changed source is kept: it is compiled again when it, a header or its command is another."""
        key = self.headers.copy()
        key.update("\0".join((self.commands[source], self.optimize, text)).encode())
        return self.kept / f"changed-{key.hexdigest()[:32]}.o"

    def _sibling(self, source):
        """(The object of a source that shares a batch with a changed one, None), or (_, what the compiler said)."""
        made = self.kept / (source.replace("/", "-") + ".o")
        with self.lock:
            mine = self.locks.setdefault(source, threading.Lock())
        with mine:
            whole = self.tree / output_of(self.commands[source])
            if made.exists() and made.stat().st_mtime >= whole.stat().st_mtime:
                return made, None
            self.kept.mkdir(parents=True, exist_ok=True)
            half = made.with_suffix(".half")
            errors = self._compile(source, self.root / source, half, [])
            if errors is None:
                half.rename(made)
            return made, errors

    def _compile(self, source, text, made, more):
        arguments = shlex.split(self.commands[source])
        if pathlib.Path(arguments[0]).name == "ccache":
            arguments = arguments[1:]
        arguments[arguments.index("-o") + 1] = str(made)
        arguments[arguments.index("-c") + 1] = str(text)
        # A mechanism that is gone leaves names that nothing uses: no warnings.
        arguments = [argument for argument in arguments if argument != "-Werror"]
        return self._run([*arguments, self.optimize, "-w", *more])

    def _run(self, command):
        done = subprocess.run(command, cwd=self.tree, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr if done.returncode != 0 else None
