#!/usr/bin/env python3
"""What real processes find in their environment, work directory and on their command line. Usage: environment.py BIN_DIR [CASE...]"""
import json
import os
import pathlib
import signal
import sys
import tempfile

from harness import Job, check, run_cases, wait_for

BIN = sys.argv[1]
# A task writes down what it sees and stays until all have: the job may end with its chief, and take with it who is slow.
DUMP = """\
import json, os, sys, time
seen = [dict(os.environ), sys.argv[1:], sorted(os.listdir(".")), os.getcwd()]
with open(sys.argv[1] + ".part", "w") as file:
    json.dump(seen, file)
os.rename(sys.argv[1] + ".part", sys.argv[1])
while sum(name.endswith(".json") for name in os.listdir(os.path.dirname(sys.argv[1]))) < ALL:
    time.sleep(0.02)
"""
TASKS = ("chief:0", "worker:0", "worker:1", "ps:0", "evaluator:0", "tensorboard:0")


def dump(more, tasks, environment=None, files=None):
    """Runs a job whose tasks write down what they see; {task: (environment, argv, files, directory)}."""
    lines = ""
    for name, count in tasks:
        lines += (f'  {name}: {{instances: {count}, memory: 64MiB, command: [python3, "%s/dump.py", '
                  f'"%s/shared/{{task_type}}-{{task_index}}.json", "--ps={{ps_hosts}}", "--port={{port}}", "{{odd}}"]}}\n')
    program = DUMP.replace("ALL", str(sum(count for _, count in tasks)))
    job = Job(BIN, f"name: seen\n{more}\ntasks:\n{lines}", {"dump.py": program, **(files or {})})
    code = job.run("-q", environment=environment)
    check(code == 0, f"exit code {code}: {job.output}")
    seen = {}
    for name, count in tasks:
        for index in range(count):
            seen[f"{name}:{index}"] = json.loads((job.shared / f"{name}-{index}.json").read_text())
    job.close()
    return seen


def common():
    seen = dump("framework: generic\nstrategy: independent\nenv: {MINE: a b}\nfiles: [data.txt]", [("worker", 2)],
                {"FROM_THE_SHELL": "kept", "TFYARN_NONSENSE": "dropped"}, {"data.txt": "x"})
    for index in (0, 1):
        env, argv, files, directory = seen[f"worker:{index}"]
        want = {"TFYARN_JOB_NAME": "seen", "TFYARN_TASK_TYPE": "worker", "TFYARN_TASK_INDEX": str(index), "TFYARN_TASK_COUNT": "2",
                "TFYARN_EPOCH": "1", "TFYARN_ATTEMPT": "0", "TFYARN_RESUME": "0", "MINE": "a b", "FROM_THE_SHELL": "kept"}
        check({key: env.get(key) for key in want} == want, f"{ {key: env.get(key) for key in want} }")
        check(env["TFYARN_APPLICATION_ID"].startswith("application_"), env["TFYARN_APPLICATION_ID"])
        spec = json.loads(env["TFYARN_CLUSTER_SPEC"])
        check(spec["worker"][index].endswith(":" + env["TFYARN_PORT"]), f"{spec} and port {env['TFYARN_PORT']}")
        check("TFYARN_NONSENSE" not in env and "TFYARN_NONCE" not in env, "the agent's own variables came through")
        check(argv[2] == "--port=" + env["TFYARN_PORT"] and argv[3] == "{odd}", f"argv {argv}")
        shared = pathlib.Path(env["TFYARN_SHARED_DIRECTORY"])
        check(shared.name == "shared" and shared.parent.name == "run", f"{shared}")
        check(files == [".tfyarn", "data.txt"], f"files {files}")
        check(directory.endswith(env["CONTAINER_ID"]) and directory == env["PWD"], f"{directory}, {env['PWD']}")
        secrets = [key for key, value in env.items() if "PRIVATE KEY" in value or "CERTIFICATE" in value]
        check(not secrets, f"secrets in {secrets}")


def tensorflow():
    tasks = [("chief", 1), ("worker", 2), ("ps", 1), ("evaluator", 1), ("tensorboard", 1)]
    seen = dump("strategy: parameter-server\nsuccess: ok(chief)", tasks)
    chief = json.loads(seen["chief:0"][0]["TF_CONFIG"])
    check(sorted(chief["cluster"]) == ["chief", "ps", "worker"], f"{chief}")
    check(chief["task"] == {"type": "chief", "index": 0}, f"{chief['task']}")
    evaluator = json.loads(seen["evaluator:0"][0]["TF_CONFIG"])
    check(evaluator["task"] == {"type": "evaluator", "index": 0}, f"{evaluator['task']}")
    check(seen["chief:0"][0]["TF_GRPC_REUSE_PORT"] == "true", "TF_GRPC_REUSE_PORT")
    check(seen["worker:1"][1][1] == "--ps=" + chief["cluster"]["ps"][0], f"{seen['worker:1'][1]}")
    workers = [json.loads(seen[f"worker:{index}"][0]["TF_CONFIG"])["cluster"] for index in (0, 1)]
    check(workers == [chief["cluster"]] * 2, "tasks see different clusters")


def pytorch():
    seen = dump("framework: pytorch", [("worker", 3)])
    names = ("MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK")
    rows = [[seen[f"worker:{index}"][0].get(name) for name in names] for index in range(3)]
    check(len({tuple(row[:2]) for row in rows}) == 1, f"{rows}")
    check([row[2] for row in rows] == ["0", "1", "2"] and {row[3] for row in rows} == {"3"}, f"{rows}")
    check([row[4] for row in rows] == ["0", "1", "2"] and {row[5] for row in rows} == {"3"}, f"{rows}")
    spec = json.loads(seen["worker:0"][0]["TFYARN_CLUSTER_SPEC"])
    check(":".join(rows[0][:2]) == spec["worker"][0], f"{rows[0]} and {spec}")


def horovod():
    seen = dump("framework: horovod", [("worker", 2)])
    for index in (0, 1):
        env = seen[f"worker:{index}"][0]
        check((env["HOROVOD_RANK"], env["HOROVOD_SIZE"], env["HOROVOD_LOCAL_RANK"], env["HOROVOD_LOCAL_SIZE"]) ==
              (str(index), "2", str(index), "2"), f"{ {k: v for k, v in env.items() if k.startswith('HOROVOD')} }")


def tony():
    seen = dump("compat: tony\nstrategy: multi-worker", [("worker", 2)])
    env = seen["worker:1"][0]
    check((env["JOB_NAME"], env["TASK_INDEX"], env["TASK_NUM"]) == ("worker", "1", "2"), f"{env['JOB_NAME']} {env['TASK_INDEX']}")
    check(len(json.loads(env["CLUSTER_SPEC"])["worker"]) == 2, env["CLUSTER_SPEC"])


def temporary_files():
    """Each container has its TMPDIR, whose path leaves room for the name of a socket, and which goes with it; a job may name its own."""
    with tempfile.TemporaryDirectory(prefix="tfyarn-tmp-") as base:
        job = Job(BIN, """\
name: temporary
framework: generic
strategy: independent
retries: {infrastructure: 1}
tasks:
  worker:
    instances: 2
    memory: 64MiB
    command: [bash, -c, "mkdir $TMPDIR/much; touch $TMPDIR/much/file; echo dir $TMPDIR; while [ ! -e %s/shared/end ]; do sleep 0.05; done"]
  named: {instances: 1, memory: 64MiB, env: {TMPDIR: /nowhere}, command: [bash, -c, "echo dir $TMPDIR"]}
""")
        job.start("-q", environment={"TMPDIR": base})
        places = []
        for index in (0, 1):
            job.wait_for_line(f"worker:{index}", "dir ")
            places.append(pathlib.Path(job.log_text(f"worker:{index}").split("dir ")[1].strip()))
        job.wait_for_line("named:0", "dir /nowhere")
        check(places[0] != places[1], f"one for all: {places}")
        for place in places:
            check(pathlib.Path(base) in place.parents, f"{place} is not in the user's own")
            check((place / "much" / "file").exists(), f"{place} is not there")
            check(place.stat().st_mode & 0o077 == 0 or place.parent.stat().st_mode & 0o077 == 0, f"{place} is open to others")
            check(len(str(place)) < len(base) + 24, f"{place} is long")
        agent = job.agent_of("worker:0")
        os.kill(agent, signal.SIGKILL)
        wait_for("the removal with the container", lambda: not places[0].exists())
        check(places[1].exists(), "another container's was removed")
        (job.shared / "end").touch()
        check(job.end() == 0, job.output)
        job.close()
        check(not list(pathlib.Path(base).iterdir()), f"left: {list(pathlib.Path(base).iterdir())}")


CASES = {"temporary-files": temporary_files, "common": common, "tensorflow": tensorflow, "pytorch": pytorch, "horovod": horovod,
         "tony": tony}

if __name__ == "__main__":
    run_cases(CASES, sys.argv[2:])
