#!/usr/bin/env python3
"""`tfyarn submit` on a cluster of fakes: the cases of tests/hadoop/submit.py and losses.py that are about jobs.
Usage: jobs.py BIN_DIR [CASE...]."""
import fake_cluster  # noqa: F401  (finds tests/hadoop)
import cases
import losses
import submit

SUBMIT = {name: submit.CASES[name] for name in ("ends-well", "ends-badly", "words-survive", "names-stay-apart",
                                                "temporary-files", "refused", "worker-killed", "am-killed", "rm-killed", "job-killed")}

# Its quota is set as an administrator of a real HDFS does; refusals.py has it for this one.
LOSSES = {name: case for name, case in losses.CASES.items() if name != "hdfs-full"}

if __name__ == "__main__":
    cases.run((SUBMIT, {}), (LOSSES, {"nodes": 4, "gpus": (2,)}))
