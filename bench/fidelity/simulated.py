"""A job in the simulator: its scenario with one seed, and when it reached its stages."""
import json
import pathlib
import subprocess
import tempfile

import stages


def of_type(records, kind):
    return [each for each in records if each["type"] == kind]


def submission(records):
    """When the call that submits the application was made; it arrives with the network's latency, of which there is little."""
    for each in of_type(records, "ClientOrdered"):
        if each["action"]["type"] == "CallRm" and each["action"]["request"]["type"] == "SubmitApplicationRequest":
            return each["at_ns"]
    raise ValueError("no application was submitted")


def own_ends(records):
    """When processes ended by themselves: (seconds, exit code)."""
    return [(stages.seconds(each), each["event"]["exit"].get("code")) for each in of_type(records, "AgentTold")
            if each["event"]["type"] == "ProcessExited"]


def instants_of(records, fault_kind):
    """Instants as stages.py has them, in seconds after the submission. None for a run that is not to be compared: a node that
    was killed together with the AM on it."""
    zero = submission(records)
    records = [{**each, "at_ns": each["at_ns"] - zero} for each in records]
    created, verdict = (stages.seconds(of_type(records, kind)[0]) for kind in ("JobCreated", "ApplicationEnded"))
    ended = [stages.seconds(each) for each in of_type(records, "ClientOrdered") if each["action"]["type"] == "ExitClient"]
    outside = {"asked": created, "finished": verdict, "told": ended[0],
               "worked": max(at for at, code in own_ends(records) if code == 0 and at <= verdict)}
    if fault_kind == "process_exit":
        outside["fault"] = next(at for at, code in own_ends(records) if code)
    elif fault_kind:
        outside["fault"] = stages.seconds(of_type(records, "FaultBegan")[0])
    if fault_kind == "node_crash" and any(each["am_attempt"] > 1 for each in of_type(records, "AmTold")):
        return None
    return stages.instants(records, outside, fault_kind)


def run(tfsim, scenario, seed, settings=()):
    """The records of one run. Errors: RuntimeError with what tfsim said."""
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "events.jsonl"
        words = [str(tfsim), "run", str(scenario), "--seed", str(seed), "--trace", str(trace)]
        for setting in settings:
            words += ["--set", setting]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return [json.loads(line) for line in trace.read_text().split("\n") if line]
