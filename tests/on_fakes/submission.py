#!/usr/bin/env python3
"""What `tfyarn submit` looks at before it submits, waits for before it says so, and says while nothing answers.
Usage: submission.py BIN_DIR [CASE...]."""
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import tarfile
import zipfile

import fake_cluster  # noqa: F401  (finds tests/hadoop)
import cases
import client
import hadoop_web
import verdict
from hadoop_processes import wait_until
from history import home, names
from submitted import BIN, PATIENCE, Job, all_work, check, tfyarn, waiting


def submit(cluster, file, *words, **more):
    return tfyarn(cluster.conf, "submit", str(file), *words, **more)


# ---- accepted, or not

def accepted(cluster):
    """The client asks until the ResourceManager says that it has taken the job."""
    cluster.order("drop-calls getApplicationReport 2")
    application = client.expect(submit(cluster, client.asking(), "-q"), 0).strip()
    check(cluster.order("rules") == "", "it ends before it has heard of the job")
    listed = json.loads(client.expect(tfyarn(cluster.conf, "list", "--json"), 0))
    check([each["application"] for each in listed] == [application], f"{listed}")
    client.expect(tfyarn(cluster.conf, "kill", application), 0)


def stopped_queue(cluster):
    def listed():
        return json.loads(client.expect(tfyarn(cluster.conf, "list", "--all", "--json"), 0))
    before = len(listed())
    with cases.while_it_is(cluster, "stop-queue default", "start-queue default"):
        client.expect(submit(cluster, client.asking(), "--dry-run=cluster"), 3, "'default' is STOPPED", "would be refused")
        client.expect(submit(cluster, client.asking()), 3, "'default' is STOPPED")
        check(len(listed()) == before, "something has been submitted")
    client.expect(submit(cluster, client.asking(), "--dry-run=cluster"), 0, "fits now")


def denied_queue(cluster):
    with cases.while_it_is(cluster, "deny-queue default", "allow-queue default"):
        client.expect(submit(cluster, client.asking(), "--dry-run=cluster"), 3, "no right to submit to queue 'default'", "would be refused")
        client.expect(submit(cluster, client.asking()), 3, "no right to submit to queue 'default'")
    client.expect(submit(cluster, client.asking(), "--dry-run=cluster"), 0, "fits now")


def changed_meanwhile(cluster, order, end, code, word):
    """All was well when the client looked."""
    cluster.order("delay getNewApplication 1 3")
    process = subprocess.Popen([str(BIN / "tfyarn"), "submit", str(client.asking())], text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, env={**os.environ, "HADOOP_CONF_DIR": str(cluster.conf)})
    wait_until("the delayed call", PATIENCE, lambda: cluster.order("rules") == "")
    with cases.while_it_is(cluster, order, end):
        said = process.communicate(timeout=PATIENCE)[0]
    check(process.returncode == code and word in said, f"exit code {process.returncode}: {said}")
    check(not names(cluster, f"{home(cluster)}/staging"), "its staging directory is left")


def stopped_meanwhile(cluster):
    changed_meanwhile(cluster, "stop-queue default", "start-queue default", 10, "STOPPED")


def denied_meanwhile(cluster):
    changed_meanwhile(cluster, "deny-queue default", "allow-queue default", 3, "does not have permission to submit")


# ---- what the job file says of the submission

def its_own_user(cluster):
    """`user` of the job submits it, as HADOOP_USER_NAME would; both must not name two."""
    put(cluster, "/user/other", "MKDIRS", cluster.plan["user"], permission="777")
    file = client.asking(more="user: other")
    client.expect(submit(cluster, file, HADOOP_USER_NAME="third"), 3, "`user` is other, and HADOOP_USER_NAME is third; they must agree")
    application = client.expect(submit(cluster, file, "-q"), 0).strip()
    check(json.loads(client.expect(tfyarn(cluster.conf, "status", application, "--json"), 0))["user"] == "other", "another user has submitted it")
    check(application in names(cluster, "/user/other/.tfyarn/staging"), "its files are another user's")
    client.expect(tfyarn(cluster.conf, "kill", application, HADOOP_USER_NAME="other"), 0)


def folders(cluster):
    """A directory among `files` is one in the work directory, with all that is in it; what a link leads to is there in its place."""
    job = Job(cluster, "name: folders\nframework: generic\nfiles: [one.txt, data]\n"
                       "tasks: {worker: {memory: 128MiB, command: [bash, -c, '(cat one.txt data/two.txt data/deep/link && data/run && ls -d data/none) > %s/seen']}}\n")
    deep = job.folder / "data" / "deep"
    deep.mkdir(parents=True)
    (job.folder / "data" / "none").mkdir()
    for path, text in ((job.folder / "one.txt", "one "), (job.folder / "data" / "two.txt", "two "), (job.folder / "three.txt", "three ")):
        path.write_text(text)
    (deep / "link").symlink_to(job.folder / "three.txt")
    (job.folder / "data" / "run").write_text("#!/bin/sh\necho four\n")
    (job.folder / "data" / "run").chmod(0o755)
    code, said = job.submit().end()
    check(code == 0, f"exit code {code}: {said}")
    seen = (job.folder / "seen").read_text()
    check(seen == "one two three four\ndata/none\n", f"it has seen: {seen}")


def waited_for_in_vain(cluster):
    """The time of `wait --timeout` is over before the job is, which goes on."""
    job = verdict.working(cluster)
    application, = names(cluster, f"{home(cluster)}/staging")
    client.expect(tfyarn(cluster.conf, "wait", application, "--timeout", "1s"), 6, "has not ended within 1s (--timeout); it goes on")
    code, out, err = tfyarn(cluster.conf, "wait", application, "--timeout", "0s", "--json")
    check(code == 6 and json.loads(out)["state"] == "running", f"exit code {code}: {out}{err}")
    client.expect(tfyarn(cluster.conf, "wait", application, "--timeout", "soon"), 2, "--timeout takes a duration")
    verdict.ended_well(job)


# ---- the runtime

def no_right_before_packing(cluster):
    """Seconds of a processor are not spent on what HDFS will not take: there is no place here to pack into, and that is not what it
    says."""
    client.expect(submit(cluster, client.asking(), HADOOP_USER_NAME="stranger", TMPDIR="/proc"), 5, "Permission denied")
    with cases.while_it_is(cluster, "safe-mode on", "safe-mode off"):
        said = client.expect(submit(cluster, client.asking(), "--timeout", "4s", TMPDIR="/proc"), 5)
        check("/proc" not in said, said)
    client.expect(submit(cluster, client.asking(), TMPDIR="/nowhere-at-all"), 3, "TMPDIR is no directory")


def changed(cluster, key, value):
    """The client's configuration with one more key."""
    @contextlib.contextmanager
    def conf():
        with client.changed(cluster, {}) as folder:
            path = folder / "core-site.xml"
            path.write_text(path.read_text().replace("</configuration>", f"<property><name>{key}</name><value>{value}</value>"
                                                                         "</property></configuration>"))
            yield folder
    return conf()


def put(cluster, path, operation, user, **parameters):
    status, body = hadoop_web.webhdfs("PUT", cluster.webhdfs, path, operation, **{"user.name": user, **parameters})
    check(status == 200, f"{operation} {path}: {status} {body}")


def one_runtime_for_all(cluster):
    """Its owner uploads it for all; another user takes that, and believes no stranger's."""
    owner, place = cluster.plan["user"], "/apps/tfyarn"
    put(cluster, place, "MKDIRS", owner, permission="755")
    put(cluster, "/user/other", "MKDIRS", owner, permission="777")
    with changed(cluster, "tfyarn.runtime.dir", place) as conf:
        def run(user):
            application = client.expect(tfyarn(conf, "submit", str(client.asking()), "-q", HADOOP_USER_NAME=user), 0).strip()
            client.expect(tfyarn(conf, "kill", application, HADOOP_USER_NAME=user), 0)
        before = names(cluster, f"{home(cluster)}/runtime")
        run(owner)
        run("other")
        kept = names(cluster, place)
        check([entry["permission"] for entry in kept.values()] == ["644"], f"in the shared place: {kept}")
        check(names(cluster, f"{home(cluster)}/runtime") == before, "its owner has another one")
        check(not names(cluster, "/user/other/.tfyarn/runtime"), "the other user has another one")
        # A directory in which any user may put programs for others to run.
        put(cluster, "/apps/open", "MKDIRS", owner, permission="777")
        bundle, = kept
        put(cluster, f"/apps/open/{bundle}", "MKDIRS", "stranger")
    with changed(cluster, "tfyarn.runtime.dir", "/apps/open") as conf:
        run("other")
        check(list(names(cluster, "/user/other/.tfyarn/runtime")) == [bundle], "a stranger's programs are run")


def shown_as(cluster):
    """What ps says of our processes."""
    job = verdict.working(cluster)
    for program in ("tfyarn-am", "tfyarn-agent"):
        for pid in job.processes(program):
            words = [pathlib.Path(f"/proc/{pid}/{name}").read_text().strip("\0\n") for name in ("comm", "cmdline")]
            check(words == [program] * 2, f"{program} is shown as {words}")
    verdict.ended_well(job)


# ---- archives

def large_archives(cluster):
    """What is broken far from the beginning of a large archive is found before anything is submitted."""
    file = client.asking(more="archives: [{path: a.tar.gz, as: a}, {path: b.zip, as: b}]")
    data = file.parent / "data"
    data.write_bytes(bytes(80 << 20))
    tar, zipped = file.parent / "a.tar.gz", file.parent / "b.zip"
    with tarfile.open(tar, "w:gz", compresslevel=0) as archive:
        archive.add(data, "data")
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.write(data, "data")
        archive.writestr("last", b"the last one")
    client.expect(submit(cluster, file, "--dry-run"), 0)
    for broken, change in ((tar, lambda all_: all_[:78 << 20]), (zipped, lambda all_: all_.replace(b"the last one", b"the lost one"))):
        whole = broken.read_bytes()
        broken.write_bytes(change(whole))
        client.expect(submit(cluster, file, "--dry-run"), 3, broken.name)
        client.expect(submit(cluster, file), 3, broken.name)
        broken.write_bytes(whole)
    check(not names(cluster, f"{home(cluster)}/staging"), "something is left in HDFS")


# ---- who is away

def told_in_the_middle(cluster, part, order, end, *words):
    """A part that goes silent when the client has begun is named, with what it was asked, and given up after the time."""
    cluster.order("delay getNewApplication 1 3")
    # Without the check before it, which asks for an application of its own.
    process = subprocess.Popen([str(BIN / "tfyarn"), "submit", str(client.asking()), "--no-check", "--timeout", "15s"], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env={**os.environ, "HADOOP_CONF_DIR": str(cluster.conf)})
    wait_until("the delayed call", PATIENCE, lambda: cluster.order("rules") == "")
    with cases.while_it_is(cluster, order, end):
        out, err = process.communicate(timeout=PATIENCE)
    check(process.returncode == 5, f"exit code {process.returncode}: {out} {err}")
    line = next((line for line in err.splitlines() if "has not answered" in line), "")
    check(line.startswith(part) and "15s in all (--timeout)" in line and all(word in line for word in words), f"it says: {err}")


def rm_away(cluster):
    told_in_the_middle(cluster, "the ResourceManager", "kill rm", "start rm")


def hdfs_away(cluster):
    told_in_the_middle(cluster, "HDFS", "kill hdfs", "start hdfs", "/staging/")


def frozen(cluster):
    """It accepts connections, and answers nothing."""
    cluster.process.send_signal(signal.SIGSTOP)
    try:
        code, out, err = submit(cluster, client.asking(), "--timeout", "2s")
    finally:
        cluster.process.send_signal(signal.SIGCONT)
    check(code == 5 and "the ResourceManager gives no answer" in err and "(--timeout)" in err, f"exit code {code}: {out} {err}")


def bad_timeout(cluster):
    client.expect(submit(cluster, client.asking(), "--timeout", "soon"), 2, "--timeout")
    check(re.search(r"--timeout DURATION", client.expect(tfyarn(None, "submit", "--help"), 0)), "the help")


def unnoticed(cluster):
    """A job that runs while the ResourceManager is away for as long as would end its submission."""
    job = waiting(cluster).submit("--timeout", "2s")
    all_work(job, 0)
    cluster.order("away rm 5")
    verdict.ended_well(job)


def rm_just_back(cluster):
    """It does not know all of its nodes yet: what does not fit so far is not refused for that."""
    cluster.order("away nm3 3")
    cluster.order("kill rm")
    cluster.order("start rm")
    verdict.ended_well(verdict.working(cluster))


def silent_task(cluster):
    """A client that waits for a job hears which task does not listen on its port; one that attaches later, too."""
    job = Job(cluster, """\
name: silent
framework: pytorch
deadlines: {listen: 2s}
tasks:
  worker: {instances: 2, memory: 128MiB, command: [bash, -c, 'while [ ! -e %s/end ]; do sleep 0.1; done']}
""")

    def follow(name, *words):
        with open(job.folder / name, "w") as told:
            return subprocess.Popen([str(BIN / "tfyarn"), *words], stdout=told, stderr=told,
                                    env={**os.environ, "HADOOP_CONF_DIR": str(cluster.conf)})
    waits = [follow("submitted", "submit", str(job.folder / "job.yaml"), "--wait")]
    silent = "worker:0 does not listen on its port"
    job.wait_for("submitted", silent)
    application, = names(cluster, f"{home(cluster)}/staging")
    waits.append(follow("attached", "attach", application))
    job.wait_for("attached", silent)
    (job.folder / "end").touch()
    check([each.wait(PATIENCE) for each in waits] == [0, 0], "the job ends otherwise")
    for name in ("submitted", "attached"):
        text = (job.folder / name).read_text()
        check(text.count("does not listen") == 1, f"{name}: {text}")


CASES = {"silent-task": silent_task, "hdfs-away": hdfs_away, "rm-away": rm_away, "frozen": frozen, "unnoticed": unnoticed, "rm-just-back": rm_just_back,
         "one-runtime-for-all": one_runtime_for_all,
         "shown-as": shown_as, "stopped-meanwhile": stopped_meanwhile, "stopped-queue": stopped_queue, "denied-queue": denied_queue,
         "denied-meanwhile": denied_meanwhile, "accepted": accepted,
         "its-own-user": its_own_user, "folders": folders, "waited-for-in-vain": waited_for_in_vain,
         "no-right-before-packing": no_right_before_packing, "bad-timeout": bad_timeout,
         "large-archives": large_archives}

if __name__ == "__main__":
    cases.run((CASES, {}))
