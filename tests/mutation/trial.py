"""Tries mutants with programs that are ready in a folder (ready.py). Needs Python and nothing else."""
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

MOST_BYTES = 4 << 30
MOST_WRITTEN, MOST_READ = 256 << 20, 4 << 20
# A mutant that takes this much longer than the program without it hangs.
SLOWER, AND_SECONDS = 5, 15
MOST_SCENARIO_SECONDS = 4
OTHER_DIGEST, OTHER_THAN_RECORDED = 1000, 1001  # No exit codes.
# tests/recorded/check.py compares this search with its record; here it is the one without a mutant that counts.
RECORDED_SEED, RECORDED_RUNS = 15, 4000


def recorded_search(folder):
    """Arguments of a tfsim that writes folder/digests."""
    return ["explore", "--unguided", "--unshrunk", "--seed", str(RECORDED_SEED), "--budget", str(RECORDED_RUNS), "--quiet", "--out", folder,
            "--digests", f"{folder}/digests"]


# The tests that a folder's sources are tried with first.
OWN = {"core/model/": ["model_test"], "core/placement/": ["placement_test"],
       "core/policy/": ["policy_test", "am_golden_test"],
       "core/journal/": ["journal_test", "am_golden_test"], "core/allocation/": ["allocation_test", "am_golden_test"], "core/am/": ["am_test", "am_golden_test"], "core/agent/": ["agent_test"],
       "core/client/": ["client_test"], "core/trace/": ["trace_test"], "fakes/hdfs/": ["hdfs_fake_test"],
       "fakes/yarn-rm/": ["yarn_fake_test"], "fakes/server/": ["yarn_server_test", "yarn_contract"], "sim/": ["sim_test"]}


@dataclasses.dataclass
class Done:
    code: int  # Negative: ended by a signal; None: it hung.
    seconds: float
    output: str


def _limit():
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_WRITTEN, MOST_WRITTEN))


class Ready:
    """A folder with instrumented programs, the libraries they load, what they read, and the list of the mutants."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        told = json.loads((self.folder / "mutants.json").read_text(encoding="utf-8"))
        self.seed, self.mutants, self.scenarios = told["seed"], told["mutants"], told["scenarios"]
        self.root = self.folder / "root"
        self._stand_in(pathlib.Path(told["root"]))
        self.usual = {}  # What runs take without a mutant: name -> seconds
        self.digests = {}  # Of a scenario, or of the recorded runs, without a mutant

    def _stand_in(self, root):
        """Where a program was told at its build where the sources are: they are there, or a link stands in for them."""
        if root.exists():
            return
        try:
            root.parent.mkdir(parents=True, exist_ok=True)
            root.symlink_to(self.root)
        except OSError as error:
            print(f"mutation: {root} cannot be made ({error}): some tests will be left out", file=sys.stderr)

    def run(self, mutant, program, arguments, limit):
        loader = self.folder / "lib" / "loader"
        command = [loader, "--library-path", loader.parent, self.folder / "bin" / program, *arguments]
        environment = {**os.environ, "TFYARN_MUTANT": str(mutant), "TFYARN_SOURCE_DIR": str(self.root)}
        with tempfile.TemporaryFile() as output:
            start = time.monotonic()
            process = subprocess.Popen(command, cwd=self.root, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=subprocess.STDOUT, preexec_fn=_limit, start_new_session=True)
            try:
                code = process.wait(limit)
            except subprocess.TimeoutExpired:
                code = None
            try:  # What it started ends with it.
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
            seconds = time.monotonic() - start
            output.seek(max(0, output.seek(0, os.SEEK_END) - MOST_READ))
            return Done(code, seconds, output.read().decode(errors="replace"))

    def limit_of(self, name):
        return AND_SECONDS + SLOWER * self.usual[name]

    # ------------------------------------------------------------ the four ways to notice

    def unit_tests(self, mutant, program, limit):
        return self.run(mutant, program, ["--gtest_fail_fast", "--gtest_brief=1"], limit)

    def explore(self, mutant, runs, seed, limit):
        with tempfile.TemporaryDirectory() as out:
            return self.run(mutant, "tfsim", ["explore", "--seed", str(seed), "--budget", str(runs), "-j", "1", "--stop-after", "1",
                                              "--quiet", "--out", out], limit)

    def recorded(self, mutant, limit):
        """The digests of explored runs, as the CTest case `recorded` compares them. Findings are left to explore()."""
        with tempfile.TemporaryDirectory() as out:
            done = self.run(mutant, "tfsim", [*recorded_search(out), "-j", "1"], limit)
            try:
                digests = pathlib.Path(out, "digests").read_text(encoding="utf-8")
            except FileNotFoundError:
                return done if done.code != 0 else dataclasses.replace(done, code=OTHER_THAN_RECORDED)
        return self._as_recorded("recorded", digests, dataclasses.replace(done, code=0))

    def _as_recorded(self, name, digests, done):
        """The first to come is the one without a mutant."""
        same = self.digests.setdefault(name, digests) == digests
        return done if same else dataclasses.replace(done, code=OTHER_THAN_RECORDED)

    def scenario(self, mutant, name, limit):
        """As its CTest case runs it, and `recorded`: what it expects, and one digest, whether idle heartbeats are skipped or not."""
        path = f"scenarios/{name}.yaml"
        done = self.run(mutant, "tfsim", ["run", path, "--json"], limit)
        if done.code == 0 and "# ctest: skips heartbeats" not in (self.root / path).read_text(encoding="utf-8"):
            again = self.run(mutant, "tfsim", ["run", path, "--json", "--no-elision"], limit)
            digests = [re.findall(r'"digest": ?"(\w+)"', run.output) for run in (done, again)]
            again.seconds += done.seconds
            if again.code == 0 and digests[0] != digests[1]:
                return dataclasses.replace(again, code=OTHER_DIGEST)
            done = dataclasses.replace(done, code=again.code, seconds=again.seconds, output=done.output if again.code == 0 else again.output)
        if done.code != 0:
            return done
        return self._as_recorded(name, re.findall(r'"digest": ?"(\w+)"', done.output), done)

    def measure(self, runs, seed, at_once, longest, say):
        """How everything goes without a mutant; what fails then is left out, and unit tests that take more than `longest` seconds."""
        programs = sorted({program for mutant in self.mutants for program in mutant["programs"]})
        tasks = [(program, lambda program=program: self.unit_tests(0, program, longest)) for program in programs]
        tasks += [(f"scenario {name}", lambda name=name: self.scenario(0, name, 60)) for name in self.scenarios]
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            explored, recorded = pool.submit(self.explore, 0, runs, seed, 1800), pool.submit(self.recorded, 0, 1800)
            for (name, _), done in zip(tasks, pool.map(lambda task: task[1](), tasks)):
                if done.code == 0:
                    self.usual[name] = done.seconds
                elif not name.startswith("scenario "):
                    say(f"{name} fails without a mutant, or takes more than {longest} s, and is left out: {done.output.strip()[-300:]}")
            done = explored.result()
        if done.code != 0:
            raise SystemExit(f"mutation: exploration with seed {seed} finds something without a mutant:\n{done.output[-2000:]}")
        self.usual["explore"], self.usual["recorded"] = done.seconds, recorded.result().seconds
        self.scenarios = [name for name in self.scenarios
                          if self.usual.get(f"scenario {name}", MOST_SCENARIO_SECONDS) < MOST_SCENARIO_SECONDS]
        say(f"without a mutant: exploration {done.seconds:.0f} s; " + ", ".join(
            f"{program} {self.usual[program]:.1f}" for program in programs if program in self.usual))

    def order_of(self, mutant):
        """A folder's own tests first, then those that take least, exploration among them."""
        own = next((programs for folder, programs in OWN.items() if mutant["file"].startswith(folder)), [])
        there = ["explore", "recorded", *(program for program in mutant["programs"] if program in self.usual)]
        return sorted(there, key=lambda program: (program not in own, own.index(program) if program in own else self.usual[program]))

    def try_mutant(self, mutant, runs, seed):
        """{number, by: unit, explore, recorded, scenario or None, what, seconds}"""
        start, number = time.monotonic(), mutant["number"]

        def told(by, what):
            return {"number": number, "by": by, "what": what, "seconds": round(time.monotonic() - start, 1)}
        for program in self.order_of(mutant):
            if program == "explore":
                done = self.explore(number, runs, seed, self.limit_of("explore"))
                if done.code != 0:
                    found = re.search(r"^1\. (.*)", done.output, re.M)
                    return told("explore", found[1][:160] if found else how_it_ended(done))
                continue
            if program == "recorded":
                done = self.recorded(number, self.limit_of("recorded"))
                if done.code != 0:
                    return told("recorded", how_it_ended(done))
                continue
            done = self.unit_tests(number, program, self.limit_of(program))
            if done.code != 0:
                failed = re.search(r"\[  FAILED  \] (\S+)", done.output)
                return told("unit", f"{program} {failed[1] if failed else how_it_ended(done)}")
        for name in self.scenarios:
            done = self.scenario(number, name, self.limit_of(f"scenario {name}"))
            if done.code != 0:
                return told("recorded" if done.code == OTHER_THAN_RECORDED else "scenario", f"{name} {how_it_ended(done)}")
        return told(None, "")

    def try_all(self, options, results, say):
        """Adds to `results` (number -> result) what is not there yet; `options`: runs, explore_seed, jobs, longest, until."""
        left = [mutant for mutant in self.mutants if mutant["number"] not in results]
        if not left:
            return
        self.measure(options.runs, options.explore_seed, options.jobs, options.longest, say)

        def attempt(mutant):
            if time.monotonic() > options.until:
                return None
            return self.try_mutant(mutant, options.runs, options.explore_seed)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            waiting = {pool.submit(attempt, mutant): mutant for mutant in left}
            for done in concurrent.futures.as_completed(waiting):
                mutant, result = waiting[done], done.result()
                if result is None:
                    continue
                results[mutant["number"]] = result
                options.store(results)
                how = f"{result['by']}: {result['what']}" if result["by"] else "SURVIVED"
                say(f"[{len(results)}/{len(self.mutants)}] {mutant['file']}:{mutant['line']} {mutant['kind']} "
                    f"{mutant['before'][:80]} -> {mutant['after'][:80]}\n    {how} ({result['seconds']} s)")


def how_it_ended(done):
    if done.code is None:
        return "hung"
    if done.code < 0:
        last = done.output.strip().splitlines()[-1:]
        return f"signal {-done.code} {' '.join(last)}"[:160]
    if done.code == OTHER_THAN_RECORDED:
        return "other digests than recorded"
    return "another digest without skipped heartbeats" if done.code == OTHER_DIGEST else f"exit {done.code}"
