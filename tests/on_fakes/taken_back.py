#!/usr/bin/env python3
"""A queue of a cluster of fakes takes its share back from a multi-worker job: the case of tests/hadoop/preemption.py with programs that
save by themselves. Usage: taken_back.py BIN_DIR [CASE...]."""
import fake_cluster  # noqa: F401  (finds tests/hadoop)
import cases
import preemption

if __name__ == "__main__":
    cases.run((preemption.PROGRAMS, {"nodes": 1, "node_memory_mb": 4096, "preemption_notice": preemption.NOTICE}))
