"""A job on a real cluster that is configured as its scenario says: what it ran, when it reached its stages, and how fast the parts
of the cluster were meanwhile.

Its processes do what `behavior` says of them, and one fault strikes as `faults` says. The AM's own records give most instants, the
ResourceManager (RM), the user's processes and this program's clock the others; all of them are on one machine.
"""
import functools
import json
import random
import re
import signal
import socket
import threading
import time

import hadoop_web
import stages
from behavior_rows import seconds, shell_of
from hadoop_processes import wait_until
from hadoop_sites import HOST
from history import attempt, names, read, result_of, running_application
from losses import kill_containers, node_of
from submitted import PATIENCE, Job, check, variable_of

SIMULATED_ONLY = {"submit", "training", "behavior", "files_size"}
# Processes write down when they begin, and when they end by themselves.
STAMP = 'stamp() { echo "$1 $TFYARN_TASK_TYPE:$TFYARN_TASK_INDEX $$ $EPOCHREALTIME" >> %s/times; }; stamp began; '


def mebibytes(text):
    return int(text.removesuffix("GiB")) * 1024 if text.endswith("GiB") else int(text.removesuffix("MiB"))


def milliseconds(text):
    return round(seconds(text) * 1000)


def cluster_options(scenario):
    """What Cluster.up is told, of cluster.yaml. Errors: KeyError for what is not there."""
    (nodes,), yarn = scenario["cluster"]["nodes"], scenario["yarn"]
    own = {"yarn.resourcemanager.am.max-attempts": yarn["am_max_attempts"],
           "yarn.scheduler.minimum-allocation-mb": mebibytes(yarn["minimum_allocation"]["memory"]),
           "yarn.nodemanager.sleep-delay-before-sigkill.ms": milliseconds(yarn["sigkill_delay"]),
           "yarn.resourcemanager.work-preserving-recovery.scheduling-wait-ms": milliseconds(yarn["scheduling_wait"])}
    for queue in yarn["queues"]:
        for key, value in (("capacity", queue["capacity"].removesuffix("%")), ("user-limit-factor", queue["user_limit_factor"])):
            own[f"yarn.scheduler.capacity.{queue['path']}.{key}"] = value
    return {"nodes": nodes["count"], "gpus": (nodes["resources"]["gpus"],), "node_vcores": nodes["resources"]["vcores"],
            "node_memory_mb": mebibytes(nodes["resources"]["memory"]), "heartbeat_ms": milliseconds(yarn["heartbeat"]["nm"]),
            "nm_expiry_ms": milliseconds(yarn["expiry"]["nm"]), "am_expiry_ms": milliseconds(yarn["expiry"]["am"]),
            "settings": [f"{key}={value}" for key, value in own.items()]}


def scatter_heartbeats(cluster, interval):
    """Gives each NodeManager's heartbeats a moment of their own, at random, as each seed of the simulator does: those of one cluster
    keep what they have to each other over many runs, and all of them beat at once after a restart of their ResourceManager.
    `interval`: seconds between two of them; a NodeManager stopped for as long is late, and beats when it goes on."""
    moments = sorted((random.uniform(interval, 2 * interval), name) for name in cluster.of_kind("nm"))
    begun = time.monotonic()
    for _, name in moments:
        cluster.kill(name, signal.SIGSTOP)
    for moment, name in moments:
        time.sleep(max(0, begun + moment - time.monotonic()))
        cluster.kill(name, signal.SIGCONT)


class RealRun:
    """One run. `scenario`: its file as a dictionary, with one job and one fault at most."""

    def __init__(self, cluster, scenario):
        self.cluster = cluster
        self.spec = scenario["jobs"][0]
        self.fault = (scenario.get("faults") or [None])[0]
        self.fault_kind = stages.fault_kind_of(scenario)
        fields = {key: value for key, value in self.spec.items() if key not in SIMULATED_ONLY}
        program = shell_of(self.spec["behavior"], before=STAMP, at_end="stamp ended; ")
        fields["command"] = ["bash", "-c", program]
        self.job = Job(cluster, "".join(f"{key}: {json.dumps(value)}\n" for key, value in fields.items()))
        self.struck = None   # When the fault struck, by the wall clock; likewise:
        self.asked = None
        self.told = None
        self.down = None     # Seconds for which the RM was down.
        self.application = None
        self.dead = None     # The NodeManager of a node that is to be dead.

    def tasks(self):
        return sum(task.get("instances", 1) for task in self.spec["tasks"].values())

    def stamps(self, word):
        """(task, pid, when) of every process that has written so."""
        path = self.job.folder / "times"
        lines = [line.split() for line in path.read_text().splitlines()] if path.exists() else []
        return [(task, int(pid), float(at)) for said, task, pid, at in lines if said == word]

    # ---- the run

    def go(self):
        """To its end, and until nothing of it is left. Errors: ClusterError."""
        self.asked = time.time()
        self.job.submit()
        ended = threading.Thread(target=self.wait, daemon=True)
        ended.start()
        if self.fault:
            wait_until("the user's processes", PATIENCE, lambda: len(self.stamps("began")) >= self.tasks())
            self.application = running_application(self.cluster)
            time.sleep(seconds(self.fault["after"]))
            FAULTS[self.fault["kind"]](self)
        ended.join(PATIENCE)
        check(self.told is not None, "the client does not end")
        check(self.code == 0 and self.said["status"] == "succeeded", f"exit code {self.code}: {self.said}")
        self.application = self.said["application"]
        if self.dead:
            self.cluster.kill(self.dead)
            self.cluster.start(self.dead)
        wait_until("the end of its containers", PATIENCE, lambda: not any(node["numContainers"] for node in self.cluster.nodes()))
        return self

    def wait(self):
        self.code, self.said = self.job.end()
        self.told = time.time()

    def strike(self, act):
        self.struck = time.time()
        act()

    def pid_of(self, task):
        return [pid for name, pid, _ in self.stamps("began") if name == task][-1]

    def kill_container(self):
        container = variable_of(self.pid_of(self.fault["target"]["task"]), "CONTAINER_ID")
        self.strike(lambda: self.cluster.kill(container))

    def kill_node(self):
        """The node of some task that is not the AM's: a run whose AM goes too is another case. Its NodeManager is stopped rather than
        killed: a machine without power does not even refuse a connection."""
        of_master = node_of(self.cluster, self.job.masters()[0])
        nodes = {node_of(self.cluster, pid) for _, pid, _ in self.stamps("began")} - {of_master}
        check(nodes, "every process is on the AM's node")
        self.dead = min(nodes)

        def act():
            self.cluster.kill(self.dead, signal.SIGSTOP)
            kill_containers(self.cluster, self.dead)
        self.strike(act)

    def kill_am(self):
        self.strike(lambda: self.cluster.kill(self.application))

    def restart_rm(self):
        port = self.cluster.plan["ports"]["rm-scheduler"]

        def listens():
            with socket.socket() as probe:
                return probe.connect_ex((HOST, port)) == 0
        self.strike(lambda: self.cluster.kill("rm"))
        # Threads of a killed JVM may outlive its first one for a moment, and its sockets with them.
        wait_until("the end of the ResourceManager's port", PATIENCE, lambda: not listens())
        self.cluster.start("rm", wait=False)
        wait_until("the ResourceManager", PATIENCE, listens)
        self.down = time.time() - self.struck
        self.cluster.wait_ready()

    # ---- what is known of it

    @functools.cached_property
    def records(self):
        """Of all AM attempts, in their order."""
        found = []
        wait_until("the whole history", PATIENCE, self.is_whole)
        for number in range(1, self.attempts() + 1):
            text = read(self.cluster, f"{attempt(self.cluster, self.application, number)}/events.jsonl") or ""
            by_seq = {}
            for line in text.split("\n"):
                try:
                    record = json.loads(line)
                    by_seq.setdefault(record["seq"], record)
                except (ValueError, KeyError):  # An append that was cut.
                    continue
            found += [by_seq[seq] for seq in sorted(by_seq)]
        return found

    def attempts(self):
        folder = attempt(self.cluster, self.application, 1).rpartition("/")[0]
        return len([name for name in names(self.cluster, folder) if name.startswith("attempt-")])

    def is_whole(self):
        return self.attempts() and result_of(self.cluster, self.application, self.attempts()).get("status") == "SUCCEEDED"

    def instants(self):
        """As stages.py has them."""
        report = hadoop_web.get(f"{self.cluster.rm_web}/apps/{self.application}")["app"]
        zero = report["startedTime"] / 1000
        ends = [at for _, _, at in self.stamps("ended")]
        outside = {"asked": self.asked - zero, "told": self.told - zero, "finished": report["finishedTime"] / 1000 - zero,
                   "worked": max(ends) - zero}
        if self.fault_kind == "process_exit":
            outside["fault"] = min(ends) - zero
        elif self.fault:
            outside["fault"] = self.struck - zero
        return stages.instants(self.records, outside, self.fault_kind)


FAULTS = {"container_lost": RealRun.kill_container, "node_crash": RealRun.kill_node, "am_crash": RealRun.kill_am,
          "rm_restart": RealRun.restart_rm}


# ---------------------------------------------------------------- how fast the parts are

CHANGED = re.compile(r"^(\S+ \S+) INFO ContainerImpl: Container (container_\S+) transitioned from \w+ to (\w+)", re.M)
ASKED = re.compile(r"^(\S+ \S+) INFO ContainerManagerImpl: Start request for (container_\S+)", re.M)


def calendar(text):
    whole, _, thousandths = text.partition(",")
    return time.mktime(time.strptime(whole, "%Y-%m-%d %H:%M:%S")) + int(thousandths) / 1000


def containers(cluster, application):
    """{container: {NodeManager's state: when, by the wall clock}}, START being the call, and `node` where it is."""
    found = {}
    for name in cluster.of_kind("nm"):
        log = cluster.daemons[name].log.read_text(errors="replace")
        starts = [(at, container, "START") for at, container in ASKED.findall(log)]
        for at, container, state in starts + CHANGED.findall(log):
            if application.removeprefix("application_") in container:
                found.setdefault(container, {"node": name}).setdefault(state, calendar(at))
    return found
