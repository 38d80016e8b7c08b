#!/usr/bin/env python3
"""`tfyarn config show` reads a configuration as Hadoop's own `hdfs getconf` does, and its defaults are those of Hadoop's jars.

The only argument is the folder of our programs. Exit code 77 where Hadoop is not installed.
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
import zipfile

import hadoop_cluster
from hadoop_processes import ClusterError

CORE = """<?xml version="1.0"?>
<configuration xmlns:xi="http://www.w3.org/2001/XInclude">
  <property><name>fs.default.name</name><value>hdfs://${env.TEST_HOST}:${env.TEST_PORT:-8020}</value></property>
  <property><name> dfs.replication </name><value>5</value><final>true</final></property>
  <property><name>dfs.blocksize</name><value></value></property>
  <property name="dfs.http.policy" value="HTTPS_ONLY"/>
  <property name="dfs.client.socket-timeout" value="5" final="true"/>
  <property name="test.attribute" value="&lt;"/>
  <property name="test.nothing" value=""/>
  <property><name>test.blanks</name><value> a <!-- b --><![CDATA[<c>]]> d</value></property>
  <property><name>test.loop</name><value>x${test.loop}</value></property>
  <property><name>test.unbound</name><value>${user.name}/${nobody}/${user.name}</value></property>
  <property><name>test.empty</name><value>[${env.TEST_EMPTY:-e}][${env.TEST_EMPTY-e}][${env.TEST_NONE-e}]</value></property>
  <property><name>test.odd</name><value>${} ${a b} ${ {x} $ ${test.one</value></property>
  <xi:include href="part.xml"/>
  <xi:include href="gone.xml"><xi:fallback><property><name>test.gone</name><value>f</value></property></xi:fallback></xi:include>
</configuration>
"""
PART = """<configuration>
  <property><name>test.part</name><value>${dfs.replication}</value></property>
  <property><name>test.gone</name><value>p</value></property>
</configuration>
"""
HDFS = """<configuration>
  <property><name>dfs.replication</name><value>9</value></property>
  <property><name>dfs.http.address</name><value>h:1</value></property>
  <property><name>test.gone</name><value>late ${test.part}</value></property>
</configuration>
"""
KEYS = ("fs.defaultFS", "dfs.replication", "dfs.blocksize", "dfs.http.policy", "dfs.client.socket-timeout", "test.attribute", "test.nothing", "test.blanks", "test.loop", "test.unbound",
        "test.empty", "test.odd", "test.part", "test.gone", "dfs.namenode.http-address")
DEFAULTS = (("hadoop-common", "core-default.xml"), ("hadoop-hdfs-client", "hdfs-default.xml"),
            ("hadoop-hdfs", "hdfs-default.xml"), ("hadoop-yarn-common", "yarn-default.xml"))


def ours(program, environment, *keys):
    done = subprocess.run([program, "config", "show", "--json", *keys], env=environment, capture_output=True, text=True,
                          check=False)
    return {entry["key"]: entry["value"] for entry in json.loads(done.stdout)}


def hadoops(environment, key):
    command = [hadoop_cluster.find_java(), *hadoop_cluster.FLAGS, "-cp",
               f"{environment['HADOOP_CONF_DIR']}:{hadoop_cluster.JARS}/*", "org.apache.hadoop.hdfs.tools.GetConf", "-confKey",
               key]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ClusterError(f"getconf {key}: {done.stderr[-500:]}")
    return done.stdout.removesuffix("\n")  # Without blanks around it.


def defaults_of_jars():
    values = {}
    for jar, name in DEFAULTS:
        for path in hadoop_cluster.JARS.glob(f"{jar}-[0-9]*.jar"):
            with zipfile.ZipFile(path) as archive:
                if name not in archive.namelist():
                    continue
                for entry in xml.etree.ElementTree.fromstring(archive.read(name)):
                    if entry.tag == "property":
                        values[entry.findtext("name").strip()] = entry.findtext("value") or None
    return values


def main():
    if what := hadoop_cluster.missing():
        print(f"skipped: {what}")
        return 77
    program = pathlib.Path(sys.argv[1]) / "tfyarn"
    with tempfile.TemporaryDirectory(prefix="tfyarn-configuration-") as name:
        folder = pathlib.Path(name)
        for file, text in (("core-site.xml", CORE), ("part.xml", PART), ("hdfs-site.xml", HDFS)):
            (folder / file).write_text(text)
        environment = os.environ | {"HADOOP_CONF_DIR": str(folder), "TEST_HOST": "somewhere", "TEST_EMPTY": ""}
        found = ours(program, environment, *KEYS)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            expected = dict(zip(KEYS, pool.map(lambda key: hadoops(environment, key), KEYS)))
        differences = [f"{key}: {found[key]!r}, Hadoop has {value!r}" for key, value in expected.items() if found[key].strip() != value]
        for file in ("core-site.xml", "hdfs-site.xml"):
            (folder / file).write_text("<configuration/>")
        stock = defaults_of_jars()
        for key, value in ours(program, environment).items():
            # Ours are expanded.
            real = (stock.get(key) or "").replace("${yarn.resourcemanager.hostname}", "0.0.0.0")
            real = real.replace("${yarn.nodemanager.hostname}", "0.0.0.0")
            if "${user.name}" not in real and (value or "") != real:
                differences.append(f"default of {key}: {value!r}, Hadoop has {real!r}")
    print("\n".join(differences) or "ok")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
