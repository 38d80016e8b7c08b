#!/usr/bin/env python3
"""A small real Hadoop cluster on loopback, for tests: one NameNode and ResourceManager, some DataNodes and NodeManagers.

As a program it keeps a cluster in a directory between calls; tests use the class Cluster. The jars are those of `./dev setup
--hadoop`, or of the version that TFYARN_HADOOP_VERSION names. It is an insecure cluster (no Kerberos), and every daemon runs as
the caller.
"""
import argparse
import getpass
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

import hadoop_sites
import hadoop_web
from hadoop_processes import MARK, ClusterError, Daemon, end_all, owned, patience, send, started, wait_until
from hadoop_sites import HOST, LABEL, host_of, kind_of

BUILD = pathlib.Path(__file__).resolve().parents[2] / "build"
# Another version of Hadoop than that of pom.xml; "" = that.
VERSION = os.environ.get("TFYARN_HADOOP_VERSION", "")
JARS = BUILD / (f"hadoop-{VERSION}" if VERSION else "hadoop") / "jars"
# Longest wait for a daemon, in seconds: a JVM starts slowly on a busy machine.
PATIENCE = patience(120)
PLAN = "cluster.json"
SERVERS = {
    "nn": ("org.apache.hadoop.hdfs.server.namenode.NameNode", "192m"),
    "dn": ("org.apache.hadoop.hdfs.server.datanode.DataNode", "128m"),
    "rm": ("org.apache.hadoop.yarn.server.resourcemanager.ResourceManager", "256m"),
    "nm": ("org.apache.hadoop.yarn.server.nodemanager.NodeManager", "192m"),
}
# Logged once the master knows the daemon; the master's own list may still show its predecessor.
REGISTERED = {"nm": b"Registered with ResourceManager as", "dn": b"successfully registered with NN"}
# Packages that Hadoop's libraries look into by reflection.
OPENED = ("java.io", "java.lang", "java.lang.reflect", "java.math", "java.net", "java.text", "java.util",
          "java.util.concurrent", "java.util.zip", "sun.security.util", "sun.security.x509")
FLAGS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
         *(f"--add-opens=java.base/{each}=ALL-UNNAMED" for each in OPENED))


def find_java():
    """The java to run, or None."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=f"{home}/bin" if home else None)
    return pathlib.Path(found).resolve() if found else None


def missing():
    """What a cluster cannot be started without, as a sentence; "" when all is there."""
    if not find_java():
        return "no java: install openjdk-17-jre-headless or set JAVA_HOME"
    if not any(JARS.glob("hadoop-yarn-server-resourcemanager-*.jar")):
        return f"the Hadoop jars are not there: `./dev setup --hadoop{' ' + VERSION if VERSION else ''}` fetches them"
    return ""


def free_ports(names, hosts):
    """A block of ports, free at all hosts, below those that the system gives away: a daemon that is started again finds its
    own port free."""
    for _ in range(100):
        first = random.randrange(10000, 32000, 50)
        try:
            for host in hosts:
                for port in range(first, first + len(names)):
                    with socket.socket() as probe:
                        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                        probe.bind((host, port))
        except OSError:
            continue
        return dict(zip(names, range(first, first + len(names))))
    raise ClusterError("no block of free ports between 10000 and 32000")


class Cluster:
    """A cluster in `plan["folder"]`. Also a context, at whose end it is taken down and, if all went well, removed."""

    def __init__(self, plan):
        self.plan = plan
        self.folder = pathlib.Path(plan["folder"])
        self.daemons = {name: Daemon(self.folder, name) for name in plan["daemons"]}

    # ---- making one, and finding it again

    @classmethod
    def up(cls, folder=None, nodes=3, datanodes=1, gpus=(4,), partition=0, heartbeat_ms=100, nm_expiry_ms=15000,
           am_expiry_ms=30000, node_memory_mb=8192, node_vcores=32, settings=(), patience=PATIENCE):
        """Configures and starts a cluster, and waits until all of it is there.

        gpus: yarn.io/gpu of each node; the last one counts for all further nodes. partition: so many of the last nodes form
        the exclusive partition `gpu`. settings: [DAEMON:]KEY=VALUE. Errors: ClusterError; nothing is left running then.
        """
        if what := missing():
            raise ClusterError(what)
        if folder is None:
            folder = tempfile.mkdtemp(prefix="tfyarn-hadoop-")
        folder = pathlib.Path(folder).resolve()
        if (folder / PLAN).exists():
            raise ClusterError(f"{folder} holds a cluster already: `start` it, or take it `down --purge`")
        for part in ("logs", "pids", "tmp"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        java = find_java()
        # The heaviest first.
        daemons = ["rm", "nn", *(f"nm{i + 1}" for i in range(nodes)), *(f"dn{i + 1}" for i in range(datanodes))]
        ports = free_ports(hadoop_sites.port_names(daemons), [HOST, *(host_of(each) for each in daemons if each[:2] == "nm")])
        cluster = cls({
            "folder": str(folder), "jars": str(JARS), "java": str(java), "java_home": str(java.parent.parent),
            "user": getpass.getuser(), "daemons": daemons, "ports": ports, "gpus": list(gpus),
            "partition": min(partition, nodes), "heartbeat_ms": heartbeat_ms, "nm_expiry_ms": nm_expiry_ms,
            "am_expiry_ms": am_expiry_ms, "node_memory_mb": node_memory_mb, "node_vcores": node_vcores,
            "settings": list(settings)})
        try:
            hadoop_sites.write_all(cluster.plan)
        except ValueError as error:
            raise ClusterError(str(error)) from error
        (folder / PLAN).write_text(json.dumps(cluster.plan, indent=2))
        try:
            cluster.format()
            cluster.start(patience=patience)
            cluster.label_nodes()
        except BaseException:
            cluster.down()
            (folder / PLAN).unlink()  # The logs stay, for their reader.
            raise
        return cluster

    @classmethod
    def find(cls, folder):
        try:
            return cls(json.loads((pathlib.Path(folder).resolve() / PLAN).read_text()))
        except (OSError, ValueError) as error:
            raise ClusterError(f"there is no cluster in {folder}") from error

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.down()
        if kind is None:
            shutil.rmtree(self.folder)

    # ---- addresses

    def address(self, port, host=HOST):
        """port: a name of hadoop_sites.port_names."""
        return f"{host}:{self.plan['ports'][port]}"

    @property
    def conf(self):
        """For HADOOP_CONF_DIR."""
        return hadoop_sites.conf_folder(self.plan)

    @property
    def webhdfs(self):
        return f"http://{self.address('nn-http')}/webhdfs/v1"

    @property
    def rm_web(self):
        return f"http://{self.address('rm-http')}/ws/v1/cluster"

    def of_kind(self, kind):
        return [name for name in self.daemons if kind_of(name) == kind]

    def node_id(self, name):
        return self.address("nm", host_of(name))

    def environment(self):
        """What a client of the cluster needs, and what tests ask for."""
        return {
            "HADOOP_CONF_DIR": str(self.conf), "HADOOP_CLUSTER_DIR": str(self.folder), "JAVA_HOME": self.plan["java_home"],
            "CLASSPATH": f"{self.conf}:{self.plan['jars']}/*", "HADOOP_CLUSTER_WEBHDFS": self.webhdfs,
            "HADOOP_CLUSTER_RM_WEB": self.rm_web, "HADOOP_CLUSTER_RM": self.address("rm"),
            "HADOOP_CLUSTER_RM_SCHEDULER": self.address("rm-scheduler"), "HADOOP_CLUSTER_NN": self.address("nn"),
        }

    # ---- processes

    def command(self, daemon, *words):
        main, heap = SERVERS[kind_of(daemon)]
        path = f"{hadoop_sites.conf_folder(self.plan, daemon)}:{self.plan['jars']}/*"
        return [self.plan["java"], f"-Xmx{heap}", *FLAGS, "-cp", path, main, *words]

    def daemon_environment(self):
        kept = {key: value for key, value in os.environ.items()
                if not key.startswith(("HADOOP_", "YARN_", "HDFS_", "JAVA_", "JDK_")) and key != "CLASSPATH"}
        return kept | {MARK: str(self.folder), "JAVA_HOME": self.plan["java_home"], "HADOOP_CONF_DIR": str(self.conf)}

    def format(self):
        done = subprocess.run(self.command("nn", "-format", "-nonInteractive"), cwd=self.folder, text=True, check=False,
                              env=self.daemon_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            raise ClusterError("the NameNode cannot be formatted:\n" + "\n".join(done.stdout.splitlines()[-15:]))

    def start(self, *names, wait=True, patience=PATIENCE):
        """Starts these daemons (all, without names) where they do not run, with their ports and data."""
        for name in names or self.daemons:
            if self.daemon(name).pid() is None:
                self.daemons[name].start(self.command(name), self.daemon_environment())
        if wait:
            self.wait_ready(patience)

    def daemon(self, name):
        if name not in self.daemons:
            raise ClusterError(f"no daemon '{name}': {', '.join(self.daemons)}")
        return self.daemons[name]

    def kill(self, target, number=signal.SIGKILL):
        """A daemon, the processes of a container_..., or the running master of an application_..."""
        if not target.startswith(("container_", "application_")):
            self.daemon(target).kill(number)
            return
        pid = self.container_pid(target)
        began = started(pid)
        os.killpg(pid, number)
        if number in (signal.SIGKILL, signal.SIGTERM):
            wait_until(f"the end of {target}", patience(30), lambda: started(pid) != began)

    def container_pid(self, target):
        """The leader of a container's session, which the NodeManager has written down."""
        of_master = f"{target}/container_*_000001/*.pid"
        pattern = of_master if target.startswith("application_") else f"*/{target}/{target}.pid"
        files = sorted(self.folder.glob(f"nm*/local/nmPrivate/{pattern}"), key=lambda each: each.stat().st_mtime)
        running = owned(self.folder)
        for file in reversed(files):
            text = file.read_text().strip()
            if text and int(text) in running:
                return int(text)
        raise ClusterError(f"no process of {target} runs")

    def down(self):
        """Ends every process of the cluster, those of containers too."""
        # A stopped process does not take SIGTERM.
        for pid in owned(self.folder):
            send(pid, signal.SIGCONT)
        end_all(self.folder, grace=5)

    # ---- what the cluster says of itself

    def wait_ready(self, patience=PATIENCE):
        """Every daemon that runs is known to its master. Errors: ClusterError with the last lines of who is missing."""
        running = {name: daemon for name, daemon in self.daemons.items() if daemon.pid()}

        def alive():
            for daemon in running.values():
                if not daemon.pid():
                    raise ClusterError(f"{daemon.name} has ended{daemon.last_lines()}")
            return True

        def registered(kind):
            return all(REGISTERED[kind] in daemon.output() for name, daemon in running.items() if kind_of(name) == kind)

        def count(kind):
            return sum(kind_of(name) == kind for name in running)

        def lines(*kinds):
            return lambda: "".join(daemon.last_lines() for name, daemon in running.items() if kind_of(name) in kinds)

        if "rm" in running:
            wait_until("the ResourceManager", patience, lambda: alive() and hadoop_web.get(f"{self.rm_web}/info"), lines("rm"))
            wait_until("the NodeManagers", patience, lambda: alive() and registered("nm")
                       and len(self.running_nodes()) >= count("nm"), lines("rm", "nm"))
        if "nn" in running:
            wait_until("the DataNodes", patience, lambda: alive() and registered("dn")
                       and self.live_datanodes() >= count("dn"), lines("nn", "dn"))

    def nodes(self):
        """NodeManagers as the ResourceManager's REST has them."""
        answer = hadoop_web.get(f"{self.rm_web}/nodes") or {}
        return (answer.get("nodes") or {}).get("node") or []

    def running_nodes(self):
        return [node for node in self.nodes() if node["state"] == "RUNNING"]

    def live_datanodes(self):
        """0 while the NameNode does not answer or takes no writes."""
        answer = hadoop_web.get(f"http://{self.address('nn-http')}/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState")
        beans = (answer or {}).get("beans") or [{}]
        return beans[0].get("NumLiveDataNodes", 0) if beans[0].get("FSState") == "Operational" else 0

    def label_nodes(self):
        """The label stays when the ResourceManager is started again."""
        last = self.of_kind("nm")[len(self.of_kind("nm")) - self.plan["partition"]:]
        if not last:
            return
        user = f"?user.name={self.plan['user']}"
        hadoop_web.post(f"{self.rm_web}/add-node-labels{user}", {"nodeLabelInfo": [{"name": LABEL, "exclusivity": "true"}]})
        hadoop_web.post(f"{self.rm_web}/replace-node-to-labels{user}",
                        {"nodeToLabels": [{"nodeId": self.node_id(name), "labels": [LABEL]} for name in last]})

    def status(self):
        """One line for each daemon and node."""
        for name, daemon in self.daemons.items():
            pid = daemon.pid()
            memory = pathlib.Path(f"/proc/{pid}/status").read_text() if pid else ""
            resident = re.search(r"VmRSS:\s+(\d+)", memory)
            yield f"{name:6} {pid or '-':>8} {int(resident[1]) // 1024 if resident else 0:>6} MiB"
        for node in self.nodes():
            yield (f"{node['id']:22} {node['state']:10} {node['rack']:8} containers={node['numContainers']} "
                   f"labels={','.join(node.get('nodeLabels', []))}")


def main():
    top = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB")

    def verb(name, about):
        parser = verbs.add_parser(name, help=about)
        parser.add_argument("--dir", default=os.environ.get("HADOOP_CLUSTER_DIR"),
                            help="the cluster's directory (default: $HADOOP_CLUSTER_DIR; up: a new one)")
        return parser

    up = verb("up", "configure and start a cluster; prints its directory")
    up.add_argument("--nodes", type=int, default=3, help="NodeManagers (%(default)s)")
    up.add_argument("--datanodes", type=int, default=1, help="DataNodes (%(default)s)")
    up.add_argument("--gpus", type=lambda text: [int(each) for each in text.split(",")], default=[4], metavar="N[,N...]",
                    help="yarn.io/gpu of each node; the last one counts for all further nodes (4)")
    up.add_argument("--partition", type=int, default=0, metavar="K",
                    help=f"the last K nodes form the exclusive partition `{LABEL}` (%(default)s)")
    up.add_argument("--node-memory-mb", type=int, default=8192, help="%(default)s")
    up.add_argument("--node-vcores", type=int, default=32, help="%(default)s")
    up.add_argument("--heartbeat-ms", type=int, default=100, help="of NodeManagers (%(default)s)")
    up.add_argument("--nm-expiry-ms", type=int, default=15000, help="a NodeManager so long silent is LOST (%(default)s)")
    up.add_argument("--am-expiry-ms", type=int, default=30000,
                    help="an AM so long silent has failed; counts from its launch (%(default)s)")
    up.add_argument("--set", action="append", default=[], dest="settings", metavar="[DAEMON:]KEY=VALUE",
                    help="a Hadoop property, of all or of one dnI or nmI; may be repeated")
    verb("env", "shell lines that export HADOOP_CONF_DIR, CLASSPATH and addresses")
    verb("status", "the daemons, and the nodes as the ResourceManager has them; 1 when a daemon does not run")
    start = verb("start", "start what does not run, with its ports and data")
    start.add_argument("daemons", nargs="*", metavar="DAEMON")
    start.add_argument("--no-wait", action="store_true")
    kill = verb("kill", "send a signal to a daemon, a container_... or the master of an application_...")
    kill.add_argument("target")
    kill.add_argument("--signal", default="KILL", choices=("KILL", "TERM", "STOP", "CONT"), help="%(default)s")
    verb("logs", "print a daemon's log").add_argument("daemon")
    verb("down", "end every process of the cluster").add_argument("--purge", action="store_true",
                                                                  help="remove the directory too")
    arguments = top.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return run(arguments)
    except ClusterError as error:
        print(f"hadoop_cluster: {error}", file=sys.stderr)
        return 2


def run(arguments):
    options = dict(vars(arguments))
    verb, folder = options.pop("verb"), options.pop("dir")
    if verb == "up":
        print(Cluster.up(folder, **options).folder)
        return 0
    if not folder:
        raise ClusterError("which cluster? give --dir, or set HADOOP_CLUSTER_DIR")
    cluster = Cluster.find(folder)
    if verb == "env":
        print("\n".join(f"export {key}={shlex.quote(value)}" for key, value in cluster.environment().items()))
    elif verb == "status":
        print("\n".join(cluster.status()))
        return 0 if all(daemon.pid() for daemon in cluster.daemons.values()) else 1
    elif verb == "start":
        cluster.start(*arguments.daemons, wait=not arguments.no_wait)
    elif verb == "kill":
        cluster.kill(arguments.target, getattr(signal, f"SIG{arguments.signal}"))
    elif verb == "logs":
        sys.stdout.write(cluster.daemon(arguments.daemon).log.read_text(errors="replace"))
    else:
        cluster.down()
        if arguments.purge:
            shutil.rmtree(cluster.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
