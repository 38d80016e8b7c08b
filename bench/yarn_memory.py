#!/usr/bin/env python3
"""How much memory the ApplicationMaster of a large job takes, and its agents, on a cluster of fakes: the programs are the ones that run
on a real one, where a hundred containers on one machine would wait for NodeManagers most of the time.

Usage: yarn_memory.py BIN_DIR [REPEATS [TASKS]]; TASKS is 100. Prints NAME <tab> CASE <tab> UNIT <tab> MEDIAN <tab> LEAST <tab> MOST.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.argv[2:] = [*sys.argv[2:], *["3", "100"][len(sys.argv) - 2:]]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "on_fakes"))
# pylint: disable=wrong-import-position
import fake_cluster  # noqa: E402
from yarn_runs import BIN, JOB, REPEATS, TASKS, Sampler, of_tfyarn, show  # noqa: E402

WORK_SECONDS = 15


def most_resident(cluster):
    """MiB by program, of its largest process, in a job all of whose tasks run at once."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tfyarn-bench-"))
    work = f"sleep {WORK_SECONDS}"
    (folder / "job.yaml").write_text(JOB.format(work, TASKS))
    sampler = Sampler(of_tfyarn)
    sampler.start()
    done = subprocess.run([BIN / "tfyarn", "submit", folder / "job.yaml", "--wait", "-q"], capture_output=True, text=True, check=False,
                          env={**os.environ, "HADOOP_CONF_DIR": str(cluster.conf)})
    assert done.returncode == 0, done.stdout + done.stderr
    seen = {}
    for kind, _, mib in sampler.stop():
        seen[kind] = max(mib, seen.get(kind, 0))
    return seen


def main():
    if what := fake_cluster.missing():
        sys.exit(what)
    with fake_cluster.Cluster.up(nodes=TASKS // 8 + 1, node_expiry=60, am_expiry=60) as cluster:
        runs = [most_resident(cluster) for _ in range(REPEATS)]
    for kind in ("tfyarn-am", "tfyarn-agent"):
        show("tfyarn submit --wait", f"{kind}, {TASKS} tasks: most resident", "MiB", [run[kind] for run in runs])


if __name__ == "__main__":
    main()
