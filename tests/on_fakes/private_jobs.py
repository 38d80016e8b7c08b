#!/usr/bin/env python3
"""What a job on a cluster of fakes keeps from others: the cases of tests/hadoop/privacy.py. Usage: private_jobs.py BIN_DIR [CASE...]."""
import fake_cluster  # noqa: F401  (finds tests/hadoop)
import cases
import privacy

if __name__ == "__main__":
    cases.run((privacy.CASES, {}))
