#!/usr/bin/env python3
"""What processes of the simulator say last is heard by their agents, and told by the result, as the tail of a real process's stderr is.

Usage: last_words.py TFSIM.
"""
import json
import sys

from program import BASE, Suite

def main():
    suite = Suite(sys.argv[1])
    text = BASE.replace("    strategy: multi-worker\n", "    strategy: multi-worker\n    retries: {user: 2}\n") + """\
faults:
  - {kind: port_in_use, target: {job: a, task: "worker:0"}}
  - {kind: node_crash, when: {job: a, state: running}, after: 20s, target: {job: a, task: "worker:1"}}
"""
    suite.write("words.yaml", text)
    done = suite.run("run", "words.yaml", "--json", "--quiet")
    suite.check(done.code == 0, "the job ends well", done)
    said = [attempt.get("diagnostics", "") for task in json.loads(done.out)["jobs"][0]["tasks"] for attempt in task["attempts"]]
    for words in ("address already in use", "lost connection to worker:1"):
        suite.check(any(words in each for each in said), f"{words}: {said}", done)
    suite.finish()


if __name__ == "__main__":
    main()
