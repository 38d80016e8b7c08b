#!/usr/bin/env python3
"""`tfyarn submit` on a real cluster: jobs that end well and badly, what is refused, and what becomes of a job when its processes,
its AM or the ResourceManager are killed. Usage: submit.py BIN_DIR [CASE...]; exit code 77 without Hadoop."""
import json
import os
import pathlib
import re
import signal
import zipfile

from hadoop_processes import wait_until
from submitted import PATIENCE, Job, all_work, check, pid_of, run_cases, tfyarn, waiting


def ends_well(cluster):
    job = waiting(cluster).submit()
    all_work(job, 0)
    hosts = {re.search(rb"NM_HOST=([^\0]*)", pathlib.Path(f"/proc/{pid_of(job, index)}/environ").read_bytes()).group(1)
             for index in range(3)}
    check(len(hosts) == 3, f"they are on {hosts}")
    job.finish(restarts=[1, 1, 1])


def runtime_kept(cluster):
    """A node unpacks the runtime for the first of its user's jobs; the next finds it there."""
    for _ in range(2):
        code, result = Job(cluster, "name: a\ntasks: {worker: {instances: 3, memory: 128MiB, command: ['true']}}\n").submit().end()
        check(code == 0, f"{result}")
    kept = cluster.folder.glob("nm*/local/usercache/*/filecache/*/tfyarn-runtime-*")
    there = [path.relative_to(cluster.folder).parts[0] for path in kept]
    check(there and len(there) == len(set(there)), f"it is on {there}")


def ends_badly(cluster):
    job = Job(cluster, """\
name: bad
framework: generic
retries: {user: 1}
tasks:
  worker: {memory: 128MiB, command: [bash, -c, 'echo what is wrong >&2; exit 7']}
""").submit()
    code, result = job.end()
    check(code == 10 and result["status"] == "failed", f"exit code {code}: {result}")
    for word in ("worker:0", "7", "what is wrong"):
        check(word in result["diagnostics"], f"no '{word}' in {result['diagnostics']}")


def words_survive(cluster):
    """Any argument and variable reaches the user's process as it was written. An image reaches the NodeManager's launch: these
    have no docker, and start the process as it is."""
    job = Job(cluster, """\
name: words
framework: generic
container: {image: "repo/tf:2"}
env: {ODD: "a \\"b\\" $HOME `id` \\\\ {{X}} <LOG_DIR>"}
tasks:
  worker:
    memory: 128MiB
    command: [python3, -c, "import json,os,sys; json.dump([os.environ['ODD'], sys.argv[1:], os.environ['YARN_CONTAINER_RUNTIME_DOCKER_IMAGE']], open('%s/seen', 'w'))", "$HOME 'x' \\"y\\"", ""]
""").submit()
    code, result = job.end()
    check(code == 0, f"{result}")
    odd, argv, image = json.loads((job.folder / "seen").read_text())
    check(odd == 'a "b" $HOME `id` \\ {{X}} <LOG_DIR>', f"{odd}")
    check(argv == ["$HOME 'x' \"y\"", ""], f"{argv}")
    check(image == "repo/tf:2", f"{image}")


def names_stay_apart(cluster):
    """A file named as one of ours is the task's, and the agent's own stand in a directory of theirs; archives of one name come from
    two directories."""
    job = Job(cluster, """\
name: names
framework: generic
files: [mine/job.yaml, mine/runtime]
archives: [{path: x/a.zip, as: x}, {path: y/a.zip, as: y}]
tasks:
  worker:
    memory: 128MiB
    command: [bash, -c, "cat job.yaml runtime x/word y/word > %s/part; ls -a .tfyarn >> %s/part; mv %s/part %s/seen"]
""")
    for name in ("mine", "x", "y"):
        (job.folder / name).mkdir()
    for name in ("job.yaml", "runtime"):
        (job.folder / "mine" / name).write_text(f"my {name}\n")
    for name in ("x", "y"):
        with zipfile.ZipFile(job.folder / name / "a.zip", "w") as archive:
            archive.writestr("word", f"in {name}\n")
    code, result = job.submit().end()
    check(code == 0, f"{result}")
    seen = (job.folder / "seen").read_text()
    check(seen == "my job.yaml\nmy runtime\nin x\nin y\n.\n..\njob.yaml\ntmp\n", seen)


def temporary_files(cluster):
    """Each container has its TMPDIR, in its work directory under a name that leaves room for a socket's, and it goes with it; a job may
    name its own."""
    job = Job(cluster, """\
name: temporary
framework: generic
strategy: independent
tasks:
  worker:
    instances: 2
    memory: 128MiB
    command:
    - bash
    - -c
    - >-
      python3 -c "import multiprocessing.connection as c, tempfile, os; c.Listener(family='AF_UNIX'); open(tempfile.gettempdir() + '/file', 'w')"
      && stat -L -c "%a" $TMPDIR > %s/$TFYARN_TASK_INDEX.part && realpath $TMPDIR >> %s/$TFYARN_TASK_INDEX.part
      && mv %s/$TFYARN_TASK_INDEX.part %s/place-$TFYARN_TASK_INDEX; while [ ! -e %s/end ]; do sleep 0.1; done
  named: {memory: 128MiB, env: {TMPDIR: /nowhere}, command: [bash, -c, "echo $TMPDIR > %s/named.part; mv %s/named.part %s/named"]}
""").submit()
    places = []
    for index in (0, 1):
        job.wait_for(f"place-{index}")
        mode, place = (job.folder / f"place-{index}").read_text().splitlines()
        places.append(pathlib.Path(place))
        check(mode == "700", f"open to others: {mode}")
        check((places[-1] / "file").exists() and "container_" in place and cluster.folder in places[-1].parents, f"{place}")
    check(places[0] != places[1], f"one for all: {places}")
    job.wait_for("named", "/nowhere")
    job.finish()
    wait_until("the removal with the containers", PATIENCE, lambda: not any(place.exists() for place in places))


def refused(cluster):
    small = "name: a\ntasks: {worker: {memory: 128MiB, command: ['true']}}\n"
    for text, wanted, words in (("queue: nowhere\n" + small, 3, ["queue 'nowhere' does not exist"]),
                                (small.replace("128MiB", "64GiB"), 3, ["worker needs 64 GiB", "--no-check"]),
                                (small.replace("128MiB", "128MiB, gpus: 5"), 3, ["worker needs 5 GPUs", "largest node has 4"]),
                                (small + "files: [missing.py]\n", 3, ["missing.py"])):
        code, result = Job(cluster, text).submit().end()
        check(code == wanted, f"exit code {code}: {result}")
        for word in words:
            check(word in result["diagnostics"], f"no '{word}' in: {result['diagnostics']}")


def worker_killed(cluster):
    job = waiting(cluster, more="retries: {user: 0}").submit()
    all_work(job, 0)
    os.kill(pid_of(job, 1), signal.SIGKILL)
    all_work(job, 1)
    job.finish(restarts=[2, 2, 2])


def am_killed(cluster):
    """Training does not notice."""
    job = waiting(cluster).submit()
    all_work(job, 0)
    master = job.masters()
    check(len(master) == 1, f"AMs: {master}")
    os.kill(master[0], signal.SIGKILL)
    wait_until("another AM", PATIENCE, lambda: job.masters() and job.masters() != master)
    job.finish(restarts=[1, 1, 1])


def rm_killed(cluster):
    job = waiting(cluster).submit()
    all_work(job, 0)
    cluster.kill("rm")
    cluster.start("rm")
    job.finish(restarts=[1, 1, 1])


def job_killed(cluster):
    job = waiting(cluster).submit()
    all_work(job, 0)
    pids = [pid_of(job, index) for index in range(3)]
    job.process.send_signal(signal.SIGINT)
    code, result = job.end()
    check(code == 11 and result["status"] == "killed", f"exit code {code}: {result}")
    wait_until("the end of its processes", PATIENCE, lambda: not any(pathlib.Path(f"/proc/{pid}").exists() for pid in pids))


def looked_at(cluster):
    """Submitted by one, shown, waited for and killed by others."""
    def said(*words):
        code, out, err = tfyarn(cluster.conf, *words)
        return code, out + err

    def submitted():
        job = waiting(cluster)
        code, out = said("submit", str(job.folder / "job.yaml"), "-q")
        check(code == 0 and out.startswith("application_"), f"submit: {code} {out}")
        all_work(job, 0)
        return job, out.strip()

    job, first = submitted()
    code, out = said("status", first)
    check(code == 0 and re.search(r"state +running", out) and re.search(r"name +waiting", out), f"status: {code} {out}")
    code, out = said("list", "--json")
    check(code == 0 and [entry["application"] for entry in json.loads(out)] == [first], f"list: {code} {out}")
    (job.folder / "end").touch()
    code, out = said("wait", first)
    check(code == 0 and re.search(r"status +succeeded", out), f"wait: {code} {out}")
    job, second = submitted()
    code, out = said("kill", second)
    check(code == 0 and re.search(r"status +killed", out), f"kill: {code} {out}")
    code, out = said("wait", second)
    check(code == 11, f"wait for what was killed: {code} {out}")
    code, out = said("list")
    check(code == 0 and out == "", f"list: {code} {out}")
    code, out = said("list", "--all")
    check(code == 0 and out.index(second) < out.index(first), f"list --all: {code} {out}")
    code, out = said("status", first[:-4] + "9999")
    check(code == 3 and "9999" in out, f"an unknown application: {code} {out}")
    code, out = said("status", "job_1")
    check(code == 3 and "application_1700000000000_0007" in out, f"no id: {code} {out}")


CASES = {"ends-well": ends_well, "ends-badly": ends_badly, "words-survive": words_survive, "names-stay-apart": names_stay_apart,
         "temporary-files": temporary_files, "refused": refused,
         "worker-killed": worker_killed, "am-killed": am_killed, "rm-killed": rm_killed, "job-killed": job_killed,
         "looked-at": looked_at, "runtime-kept": runtime_kept}

if __name__ == "__main__":
    run_cases(CASES, nodes=3, gpus=(4,))
