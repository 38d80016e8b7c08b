"""The configuration of a small Hadoop cluster on loopback, as {file: {key: value}} for each of its daemons.

NameNode, DataNodes and ResourceManager are at 127.0.0.1, NodeManager i at 127.0.0.(10+i) with the same port as all others:
hosts that differ, for locality, blacklists and anti-affinity, without any name service. DataNodes stay at 127.0.0.1, as the
NameNode takes a DataNode's address from where its registration comes from. Intervals are short, so that what a test waits for
comes soon; the comments give Hadoop's own.
"""
import pathlib
import re
import xml.etree.ElementTree

HOST = "127.0.0.1"
LABEL = "gpu"
SHARED_PORTS = ("nn", "nn-http", "nn-https", "rm", "rm-scheduler", "rm-tracker", "rm-admin", "rm-http", "rm-https", "nm",
                "nm-localizer", "nm-http", "nm-https")
DATANODE_PORTS = ("data", "ipc", "http", "https")
LOG_SETTINGS = """\
log4j.rootLogger=INFO,stderr
log4j.appender.stderr=org.apache.log4j.ConsoleAppender
log4j.appender.stderr.target=System.err
log4j.appender.stderr.layout=org.apache.log4j.PatternLayout
log4j.appender.stderr.layout.ConversionPattern=%d{ISO8601} %p %c{1}: %m%n
log4j.logger.org.apache.hadoop.util.NativeCodeLoader=ERROR
log4j.logger.org.apache.hadoop.metrics2=WARN
"""


def kind_of(daemon):
    """nm2 -> nm"""
    return daemon.rstrip("0123456789")


def host_of(daemon):
    return f"127.0.0.{10 + int(daemon[2:])}" if kind_of(daemon) == "nm" else HOST


def port_names(daemons):
    return [*SHARED_PORTS, *(f"{each}-{use}" for each in daemons if kind_of(each) == "dn" for use in DATANODE_PORTS)]


def file_of(key):
    """The file that Hadoop looks for a key in."""
    for beginning, name in (("yarn.scheduler.capacity.", "capacity-scheduler"), ("yarn.resource-types", "resource-types"),
                            ("yarn.nodemanager.resource-type.", "node-resources"), ("yarn.", "yarn-site"),
                            ("dfs.", "hdfs-site")):
        if key.startswith(beginning):
            return name
    return "core-site"


def core_keys(plan):
    user = plan["user"]
    return {
        "fs.defaultFS": f"hdfs://{HOST}:{plan['ports']['nn']}",
        "hadoop.tmp.dir": f"{plan['folder']}/tmp",
        "hadoop.http.staticuser.user": user,
        f"hadoop.proxyuser.{user}.hosts": "*",
        f"hadoop.proxyuser.{user}.groups": "*",
        "net.topology.node.switch.mapping.impl": "org.apache.hadoop.net.TableMapping",
        "net.topology.table.file.name": f"{plan['folder']}/conf/topology",
        "ipc.client.connect.retry.interval": 200,  # 1000
    }


def hdfs_keys(plan):
    ports = plan["ports"]
    return {
        "dfs.replication": 1,
        "dfs.namenode.rpc-address": f"{HOST}:{ports['nn']}",
        "dfs.namenode.http-address": f"{HOST}:{ports['nn-http']}",
        "dfs.namenode.https-address": f"{HOST}:{ports['nn-https']}",
        "dfs.namenode.name.dir": f"file://{plan['folder']}/nn",
        "dfs.namenode.handler.count": 4,
        "dfs.namenode.safemode.extension": 0,  # 30000
        "dfs.namenode.fs-limits.min-block-size": 512,
        "dfs.namenode.datanode.registration.ip-hostname-check": "false",
        "dfs.datanode.hostname": HOST,
        "dfs.heartbeat.interval": 1,  # 3 s
        "dfs.namenode.heartbeat.recheck-interval": 2000,  # 300000
    }


def yarn_keys(plan):
    ports, folder = plan["ports"], plan["folder"]
    addresses = {"address": "rm", "scheduler.address": "rm-scheduler", "resource-tracker.address": "rm-tracker",
                 "admin.address": "rm-admin", "webapp.address": "rm-http", "webapp.https.address": "rm-https"}
    return {f"yarn.resourcemanager.{key}": f"{HOST}:{ports[port]}" for key, port in addresses.items()} | {
        "yarn.resourcemanager.hostname": HOST,
        "yarn.acl.enable": "true",
        "yarn.admin.acl": plan["user"],
        "yarn.scheduler.minimum-allocation-mb": 16,
        "yarn.scheduler.maximum-allocation-mb": plan["node_memory_mb"],
        "yarn.scheduler.maximum-allocation-vcores": plan["node_vcores"],
        "yarn.resourcemanager.placement-constraints.handler": "scheduler",
        "yarn.node-labels.enabled": "true",
        "yarn.node-labels.fs-store.root-dir": f"file://{folder}/node-labels",
        "yarn.node-attribute.fs-store.root-dir": f"file://{folder}/node-attributes",
        "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": plan["heartbeat_ms"],  # 1000
        "yarn.nm.liveness-monitor.expiry-interval-ms": plan["nm_expiry_ms"],  # 600000
        "yarn.am.liveness-monitor.expiry-interval-ms": plan["am_expiry_ms"],  # 900000, and it counts from the launch
        "yarn.resourcemanager.connect.retry-interval.ms": 500,  # 30000
        "yarn.client.application-client-protocol.poll-interval-ms": 50,  # 200
        "yarn.resourcemanager.recovery.enabled": "true",
        "yarn.resourcemanager.store.class":
            "org.apache.hadoop.yarn.server.resourcemanager.recovery.FileSystemRMStateStore",
        "yarn.resourcemanager.fs.state-store.uri": f"file://{folder}/rm-state",
        "yarn.resourcemanager.work-preserving-recovery.scheduling-wait-ms": 1000,  # 10000
        "yarn.resourcemanager.am.max-attempts": 4,  # 2
        "yarn.nodemanager.resource.memory-mb": plan["node_memory_mb"],
        "yarn.nodemanager.resource.cpu-vcores": plan["node_vcores"],
        "yarn.nodemanager.vmem-check-enabled": "false",
        "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": 100,  # 90
        "yarn.nodemanager.recovery.enabled": "true",
        # Containers outlive their NodeManager, which finds them again.
        "yarn.nodemanager.recovery.supervised": "true",
        "yarn.nodemanager.sleep-delay-before-sigkill.ms": 1000,  # 250
        "yarn.nodemanager.aux-services": "",
        "yarn.log-aggregation-enable": "true",
        "yarn.nodemanager.remote-app-log-dir": "/app-logs",
        "yarn.application.classpath": f"{folder}/conf,{plan['jars']}/*",
    }


def scheduler_keys(_plan):
    """Two queues that both may use the labelled partition; GPUs count."""
    keys = {
        "resource-calculator": "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator",
        "maximum-am-resource-percent": 1,
        "node-locality-delay": -1,  # 40
        "root.queues": "default,batch",
        "root.accessible-node-labels": "*",
        f"root.accessible-node-labels.{LABEL}.capacity": 100,
    }
    for queue, share in (("default", 70), ("batch", 30)):
        keys |= {
            f"root.{queue}.capacity": share,
            f"root.{queue}.maximum-capacity": 100,
            f"root.{queue}.user-limit-factor": 10,
            f"root.{queue}.accessible-node-labels": "*",
            f"root.{queue}.accessible-node-labels.{LABEL}.capacity": share,
            f"root.{queue}.accessible-node-labels.{LABEL}.maximum-capacity": 100,
        }
    return {f"yarn.scheduler.capacity.{key}": value for key, value in keys.items()}


def own_keys(plan, daemon):
    """What one DataNode or NodeManager has for itself."""
    ports, host, folder = plan["ports"], host_of(daemon), f"{plan['folder']}/{daemon}"
    if kind_of(daemon) == "dn":
        addresses = {"address": "data", "ipc.address": "ipc", "http.address": "http", "https.address": "https"}
        return {"dfs.datanode.data.dir": f"file://{folder}"} | {
            f"dfs.datanode.{key}": f"{host}:{ports[f'{daemon}-{port}']}" for key, port in addresses.items()}
    addresses = {"address": "nm", "localizer.address": "nm-localizer", "webapp.address": "nm-http",
                 "webapp.https.address": "nm-https"}
    gpus = plan["gpus"][min(int(daemon[2:]), len(plan["gpus"])) - 1]
    # Without a plugin the NodeManager reports what is said here, and looks for no device. One that does not know the resource
    # type does not start with it.
    own_gpus = {"yarn.nodemanager.resource-type.yarn.io/gpu": gpus} if gpus else {}
    return own_gpus | {f"yarn.nodemanager.{key}": f"{host}:{ports[port]}" for key, port in addresses.items()} | {
        "yarn.nodemanager.hostname": host,
        "yarn.nodemanager.local-dirs": f"{folder}/local",
        "yarn.nodemanager.log-dirs": f"{folder}/log",
        "yarn.nodemanager.recovery.dir": f"{folder}/recovery",
    }


def split_setting(text, daemons):
    """`[DAEMON:]KEY=VALUE` as (daemon or "", key, value). Errors: ValueError."""
    match = re.fullmatch(r"(?:((?:nm|dn)\d+):)?([^=:]+)=(.*)", text, re.DOTALL)
    if not match or (match[1] and match[1] not in daemons):
        raise ValueError(f"'{text}' is not [DAEMON:]KEY=VALUE with a DAEMON of {', '.join(daemons)}")
    return match[1] or "", match[2], match[3]


def write_site(path, keys):
    root = xml.etree.ElementTree.Element("configuration")
    for key, value in keys.items():
        entry = xml.etree.ElementTree.SubElement(root, "property")
        xml.etree.ElementTree.SubElement(entry, "name").text = key
        xml.etree.ElementTree.SubElement(entry, "value").text = str(value)
    xml.etree.ElementTree.indent(root)
    xml.etree.ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def conf_folder(plan, daemon=""):
    """conf serves clients, NameNode and ResourceManager; each DataNode and NodeManager has its own."""
    own = kind_of(daemon) in ("dn", "nm")
    return pathlib.Path(plan["folder"]) / (f"conf-{daemon}" if own else "conf")


def write_all(plan):
    """Writes the folders of all daemons. Errors: ValueError for a setting that is none."""
    settings = [split_setting(each, plan["daemons"]) for each in plan["settings"]]
    shared = core_keys(plan) | hdfs_keys(plan) | yarn_keys(plan) | scheduler_keys(plan)
    shared |= {"yarn.resource-types": "yarn.io/gpu"}
    nodes = [each for each in plan["daemons"] if kind_of(each) in ("dn", "nm")]
    for daemon in ["", *nodes]:
        keys = dict(shared) | (own_keys(plan, daemon) if daemon else {})
        keys |= {key: value for owner, key, value in settings if owner in ("", daemon)}
        folder = conf_folder(plan, daemon)
        for page in ("hdfs", "datanode"):  # Their web servers want these on the class path; no jar has them.
            (folder / "webapps" / page).mkdir(parents=True, exist_ok=True)
        (folder / "log4j.properties").write_text(LOG_SETTINGS)
        sites = {}
        for key, value in keys.items():
            sites.setdefault(file_of(key), {})[key] = value
        for name, content in sites.items():
            write_site(folder / f"{name}.xml", content)
    racks = (f"{host_of(each)} /rack{2 - int(each[2:]) % 2}\n" for each in nodes if kind_of(each) == "nm")
    (conf_folder(plan) / "topology").write_text("".join(racks))
