#!/usr/bin/env python3
"""`tfyarn config show`: values with their origin, as lines and as JSON, and what it says when it cannot."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from harness import check, run_cases

PROGRAM = pathlib.Path(sys.argv[1]).resolve() / "tfyarn"
SITE = """<configuration>
<property><name>fs.defaultFS</name><value>hdfs://nn</value><final>true</final></property>
<property><name>yarn.resourcemanager.address.rm1</name><value>h:1</value></property>
<property><name>my.password</name><value>sesame</value></property>
%s</configuration>
"""


def show(*words, more="", environment=None):
    """(exit code, stdout, stderr) with a configuration of one file."""
    with tempfile.TemporaryDirectory(prefix="tfyarn-config-") as folder:
        (pathlib.Path(folder) / "yarn-site.xml").write_text(SITE % more)
        around = {key: value for key, value in os.environ.items() if not key.startswith("HADOOP_")}
        around |= {"HADOOP_CONF_DIR": folder} if environment is None else environment
        done = subprocess.run([PROGRAM, "config", "show", *words], env=around, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.replace(folder, "DIR"), done.stderr.replace(folder, "DIR")


def lines():
    code, out, error = show("--origin")
    check(code == 0, error)
    for line in ("fs.defaultFS = hdfs://nn  # DIR/yarn-site.xml:2, final", "dfs.replication = 3  # default",
                 "yarn.resourcemanager.address.rm1 = h:1  # DIR/yarn-site.xml:3"):
        check(line in out.splitlines(), f"no '{line}' in {out}")
    check("sesame" not in out, "another program's secret is shown")


def one_key():
    check(show("fs.default.name") == (0, "fs.default.name = hdfs://nn\n", ""), "an old name is not understood")
    check(show("my.password") == (0, "my.password = ***\n", ""), "a password is shown")
    check(show("dfs.nameservices") == (0, "dfs.nameservices is not set\n", ""), "what is not set is not said so")


def document():
    code, out, _ = show("--json", "fs.defaultFS", "dfs.nameservices")
    check(code == 0 and json.loads(out) == [
        {"key": "fs.defaultFS", "value": "hdfs://nn", "origin": "DIR/yarn-site.xml:2", "final": True},
        {"key": "dfs.nameservices", "value": None, "origin": None, "final": False}], out)


def refusals():
    for words, more, environment, said in (
            ([], "", {}, "HADOOP_CONF_DIR is not set"),
            ([], "", {"HADOOP_CONF_DIR": "/nowhere"}, "HADOOP_CONF_DIR is '/nowhere', which is no directory"),
            ([], "", {"HADOOP_HOME": "/nowhere"}, "HADOOP_HOME/etc/hadoop is '/nowhere/etc/hadoop'"),
            (["dfs.replicaton"], "", None, "did you mean dfs.replication?"),
            ([], "<property><name>dfs.replication</name><value>many</value></property>\n", None,
             "DIR/yarn-site.xml:5:46: error: 'many' of dfs.replication is no whole number"),
            ([], "<property>", None, "this is no XML")):
        code, _, error = show(*words, more=more, environment=environment)
        check(code == 3 and said in error, f"{words}: {code} {error}")


if __name__ == "__main__":
    run_cases({"lines": lines, "one-key": one_key, "document": document, "refusals": refusals}, sys.argv[2:])
