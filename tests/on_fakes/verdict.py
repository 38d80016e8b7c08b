"""How a job on a cluster of fakes has ended, from all that tells of it: the command's own words, YARN's report, the history in HDFS, the
tasks' own notes; and whether anything is left of it."""
import json
import pathlib

import fake_cluster  # noqa: F401  (finds tests/hadoop)
from hadoop_processes import wait_until
from history import home, names, no_staging, until_told, whole
from submitted import PATIENCE, all_work, check, tfyarn, waiting


def working(cluster, more="", instances=3):
    """A job whose workers all run."""
    job = waiting(cluster, more=more, instances=instances).submit()
    all_work(job, 0, instances)
    return job


def told(job):
    """Until its history says that its workers run."""
    application, = names(job.cluster, f"{home(job.cluster)}/staging")
    until_told(job.cluster, application)
    return job


def unfinished(cluster):
    """Bundles that were not uploaded whole: until then each has another name."""
    return [name for name in names(cluster, f"{home(cluster)}/runtime") if name.endswith(".part")]


def nothing_left(job, application):
    def look():
        return not job.processes("tfyarn-a") and not job.processes(str(job.folder))
    wait_until("the end of every process of the job", PATIENCE, look)
    no_staging(job.cluster, application)
    parts = unfinished(job.cluster)
    check(not parts, f"left in HDFS: {parts}")


def ended_well(job, attempts=(1, 1, 1), am_attempts=1, epochs=1, all_met=True):
    """Lets it end. `attempts`: of each task; `epochs`: cluster specs that there were; `all_met`: of the rules for
    calls none may be left."""
    (job.folder / "end").touch()
    code, said = job.end()
    check(code == 0 and said["status"] == "succeeded", f"exit code {code}: {said}")
    application = said["application"]
    left = job.cluster.order("rules")
    check(left == "" or not all_met, f"faults that no call met: {left}")
    job.cluster.order("clear")
    code, out, err = tfyarn(job.cluster.conf, "status", application, "--json")
    check(code == 0 and json.loads(out)["final_status"] == "succeeded", f"status: {code} {out} {err}")
    result = whole(job.cluster, application, am_attempts)
    check(result["status"] == "SUCCEEDED" and result["am_attempts"] == am_attempts, f"{result}")
    check(tuple(len(task["attempts"]) for task in result["tasks"]) == tuple(attempts), f"attempts of tasks: {result['tasks']}")
    check(result["epochs"] == epochs, f"epochs: {result['epochs']}")
    noted = [path.read_text().count("attempt") for path in sorted(job.folder.glob("worker-*"))]
    check(noted == list(attempts), f"processes of tasks that began: {noted}")
    nothing_left(job, application)
    return result


def ended_badly(job, code, *words):
    """It has not run, and says why."""
    found, said = job.end()
    check(found == code, f"exit code {found}, expected {code}: {said}")
    for word in words:
        check(word in said["diagnostics"], f"no '{word}' in: {said['diagnostics']}")
    wait_until("the end of every process of the job", PATIENCE,
               lambda: not job.processes("tfyarn-a") and not job.processes(str(job.folder)))


def pids(job):
    """By the file in which each task notes its attempts."""
    return {path.name: path.read_text().split("pid ")[-1].strip() for path in sorted(pathlib.Path(job.folder).glob("worker-*"))}
