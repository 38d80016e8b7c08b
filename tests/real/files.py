#!/usr/bin/env python3
"""Files, archives and Python environments that a job brings along. Usage: files.py BIN_DIR [CASE...]"""
import contextlib
import io
import random
import sys
import tarfile
import zipfile

from harness import Job, check, run_cases, small_disk

BIN = sys.argv[1]


def job(more, command, prepare=None):
    run = Job(BIN, f"""\
name: files
framework: generic
strategy: independent
{more}
tasks:
  worker: {{instances: 1, memory: 64MiB, command: {command}}}
""")
    if prepare:
        prepare(run.folder)
    return run


def tar(path, members):
    """members: (name, bytes or a link's target, mode)."""
    with tarfile.open(path, "w:gz") as archive:
        for name, content, mode in members:
            info = tarfile.TarInfo(name)
            info.mode = mode
            if isinstance(content, str):
                info.type, info.linkname = tarfile.SYMTYPE, content
                archive.addfile(info)
            else:
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))


def succeeds(run, text):
    code = run.run("-q")
    check(code == 0, f"exit code {code}: {run.output}{run.log_text('worker:0', stream='stderr')}")
    check(text in run.log_text("worker:0"), run.log_text("worker:0"))
    run.close()


def files_and_folders():
    def prepare(folder):
        (folder / "one.txt").write_text("one")
        (folder / "data").mkdir()
        (folder / "data" / "two.txt").write_text("two")
    succeeds(job("files: [one.txt, data]", '[bash, -c, "cat one.txt data/two.txt"]', prepare), "onetwo")


def archives():
    def prepare(folder):
        tar(folder / "data.tar.gz", [("a/deep.txt", b"deep", 0o644), ("link", "a/deep.txt", 0o777)])
        with zipfile.ZipFile(folder / "more.zip", "w") as archive:
            archive.writestr("zipped.txt", "zipped")
    succeeds(job("archives: [{path: data.tar.gz, as: data}, more.zip]", '[bash, -c, "cat data/link more/zipped.txt"]', prepare),
             "deepzipped")


def python_environment():
    """Its bin/ comes first in PATH."""
    def prepare(folder):
        tar(folder / "env.tar.gz", [("bin/python3", b"#!/bin/sh\necho packed python $@\n", 0o755)])
    succeeds(job("python: {archive: env.tar.gz}", "[python3, train.py]", prepare), "packed python train.py")


def missing():
    job("files: [gone.py]\narchives: [lost.tar.gz]", '["true"]').refused("gone.py", "lost.tar.gz")
    job("container: {image: repo/tf}", '["true"]').refused("container")


def two_sources_for_one_name():
    """Told before anything starts, on every host: the file is wrong. A name that tfyarn or YARN needs is theirs."""
    more = {
        "files: [a.py, d/a.py]": ("`d/a.py` and `a.py` of `files` (line 5): both become `a.py`", "rename one"),
        "files: [a.py, a.py/]": ("both become `a.py`",),
        "files: [env]\npython: {archive: env.tar.gz}": ("`env.tar.gz` and `env` of `files`", "both become `env`"),
        "archives: [x/env.zip, y/env.tgz]": ("both become `env`", "as: NAME"),
        "archives: [{path: a.zip, as: d}, {path: b.zip, as: d/e}]": ("`d` and `d/e` lie in one another",),
        "python: {archive: {worker: x/env.tgz, ps: y/env.tgz}}": ("both become `env`",),
        "files: [x/.tfyarn]": ("`.tfyarn` in the work directory is tfyarn's own",),
        "archives: [{path: a.zip, as: ./.tfyarn/lib}]": ("tfyarn's own",),
        "files: [container_tokens]": ("YARN's own",),
        "files: [d/..]": ("gives no name in the work directory",),
    }
    for text, words in more.items():
        run = job(text, '["true"]')
        if "ps:" in text:
            run.write_job(run.text.replace("tasks:\n", "tasks:\n  ps: {memory: 64MiB, command: ['true']}\n"))
        for program in (["run", "job.yaml", "--out", str(run.out)], ["validate", "job.yaml"], ["submit", "job.yaml", "--dry-run"]):
            done = run.tfyarn(*program)
            check(done.returncode == 3, f"{text}: {program[0]}: exit code {done.returncode}: {done.stderr}")
            for word in words:
                check(word in done.stderr, f"{text}: {program[0]}: no '{word}' in: {done.stderr}")
        check(not run.out.exists(), "a run directory was made")
        run.close()


def names_of_ours():
    """A task has its own files under names that were once ours; it runs what the job says, and its agent keeps its key."""
    def prepare(folder):
        (folder / "mine").mkdir()
        for name in ("job.yaml", "identity.pem", "runtime"):
            (folder / "mine" / name).write_text(f"my {name}")
    run = job("files: [mine/job.yaml, mine/identity.pem, mine/runtime]",
              '[bash, -c, "cat job.yaml identity.pem runtime; echo broken > job.yaml; echo; ls .tfyarn"]', prepare)
    succeeds(run, "my job.yamlmy identity.pemmy runtime\nidentity.pem\njob.yaml\n")


def broken_archives():
    """Before anything starts, with the archive's name."""
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w:gz") as archive:
        info = tarfile.TarInfo("noise")
        info.size = 1 << 20
        archive.addfile(info, io.BytesIO(random.Random(1).randbytes(info.size)))
    for content in (b"\x1f\x8bnothing", b"no archive at all", b"", whole.getvalue()[:-1000]):
        run = job("archives: [bad.tar.gz]", '["true"]', lambda folder, what=content: (folder / "bad.tar.gz").write_bytes(what))
        run.refused("bad.tar.gz", "nothing was started")


def hostile_archives():
    """Nothing leaves the directory: refused before anything starts."""
    hostile = {
        "up": [("../up.txt", b"x", 0o644)],
        "absolute": [("/tmp/tfyarn-absolute.txt", b"x", 0o644)],
        "link-out": [("out", "../../..", 0o777), ("out/x.txt", b"x", 0o644)],
        "link-absolute": [("out", "/tmp", 0o777), ("out/tfyarn-link.txt", b"x", 0o644)],
    }
    for name, members in hostile.items():
        print(f"  {name}", flush=True)
        run = job("archives: [bad.tar.gz]", '["true"]', lambda folder, what=members: tar(folder / "bad.tar.gz", what))
        run.refused("bad.tar.gz", "nothing was started")


def disk_full_before_the_start():
    """Nothing is started, no result is claimed, and it is said why."""
    run = job("", '["true"]')
    with small_disk(run, "1m"):
        with open(run.out.parent / "filler", "wb", buffering=0) as filler, contextlib.suppress(OSError):
            while True:
                filler.write(bytes(4096))
        code = run.run("--json")
        check(code == 1 and "No space left on device" in run.output and "nothing was started" in run.output, f"{code}: {run.output}")
        check("verdict" not in run.output and not run.out.exists(), run.output)
    run.close()


def disk_filled_by_logs():
    """The job's end has its cause, and the largest log is named."""
    run = job("retries: {user: 0}", '[bash, -c, "head -c 60M /dev/zero | tr \'\\\\0\' x || exit 9; exit ${PIPESTATUS[1]}"]')
    with small_disk(run, "16m"):
        code = run.run()
        check(code == 10, f"exit code {code}: {run.output}")
        result = run.job()
        check(result["status"] == "FAILED" and result["cause"]["task"] == "worker:0", f"{result}")
        check("the disk was full" in run.output and "worker-0.attempt-0.stdout with" in run.output, run.output)
        run.replays()
    run.close()


CASES = {"files-and-folders": files_and_folders, "archives": archives, "python-environment": python_environment, "missing": missing,
         "two-sources-for-one-name": two_sources_for_one_name, "names-of-ours": names_of_ours, "broken-archives": broken_archives,
         "disk-full-before-the-start": disk_full_before_the_start, "disk-filled-by-logs": disk_filled_by_logs,
         "hostile-archives": hostile_archives}

if __name__ == "__main__":
    run_cases(CASES, sys.argv[2:])
