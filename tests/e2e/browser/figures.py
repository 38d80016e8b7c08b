"""What a report must say, worked out from events.jsonl and from nothing else.

It shares no code with the simulator's books or with the page: it keeps every event, looks at each job's and container's own
list of them, and adds up intervals in whole nanoseconds.
"""
import json
import re
from collections import defaultdict
from fractions import Fraction

STAGES = ["queued", "gang", "localizing", "registering", "running", "training", "checkpoint", "lost", "restart", "restore", "ending"]
USES = ["training", "overhead", "incomplete", "free", "down"]
PATIENCE = 15 * 60 * 10**9


class Job:
    def __init__(self, index, event):
        self.index, self.name, self.submitted = index, event["job_name"], event["at_ns"]
        self.gpus = event["gpus"]
        self.status, self.finished = "UNFINISHED", None
        self.over = None  # of its application: (when, status)
        self.registered = self.complete = self.running = self.first_process = None
        self.changes = []  # (at, what, value), in order
        self.held = self.useful = 0


class Figures:
    def __init__(self, path):
        self.jobs, self.nodes, self.containers, self.faults = [], {}, {}, []
        self.power = defaultdict(list)
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                event = json.loads(line)
                self.end = event["at_ns"]
                handler = getattr(self, "on_" + event["type"], None)
                if handler:
                    handler(event["at_ns"], event)
        for job in self.jobs:
            if job.finished is None and job.over:
                job.finished, job.status = job.over
            if job.finished is not None and job.running is None:
                job.running = job.first_process
        for container in self.containers.values():
            if container["freed"] is None:
                container["freed"] = self.end
            self.jobs[container["job"]].held += container["gpus"] * (container["freed"] - container["granted"])

    # ---- one event each

    def on_NodeDeclared(self, _, e):
        assert e["node"] not in self.nodes, "a node whose capacity changes is beyond this script"
        self.nodes[e["node"]] = e["capacity"]["gpus"]

    def on_NodePower(self, at, e):
        self.power[e["node"]].append((at, e["up"]))

    def on_JobCreated(self, at, e):
        self.jobs.append(Job(e["job"], {"at_ns": at, "job_name": e["name"], "gpus": e["gpus"]}))

    def on_ContainerGranted(self, at, e):
        self.containers[e["container"]] = {"job": e["job"], "node": e["node"], "gpus": e["resource"]["gpus"], "am": e["am"],
                                           "granted": at, "freed": None, "launched": False}

    def on_ContainerLaunched(self, at, e):
        container = self.containers.get(e["container"])
        if container and container["freed"] is None and not container["launched"]:
            container["launched"] = True
            if not container["am"]:
                self.note(container["job"], at, "launched", 1)

    def on_ContainerFreed(self, at, e):
        container = self.containers.get(e["container"])
        if container and container["freed"] is None:
            container["freed"] = at
            if container["launched"] and not container["am"]:
                self.note(container["job"], at, "launched", -1)

    def on_TrainingPhaseChanged(self, at, e):
        self.note(e["job"], at, "phase", e["phase"])
        if e["phase"] in ("training", "restore"):
            self.healed(at, e["job"])

    def on_WorkLost(self, at, e):
        self.note(e["job"], at, "lost", e["work_ns"])

    def on_TrainingAccounted(self, _, e):
        self.jobs[e["job"]].useful += e["useful_ns"]

    def on_ApplicationEnded(self, at, e):
        job = self.jobs[e["job"]]
        words = {"succeeded": "SUCCEEDED", "killed": "KILLED"}
        job.over = (at, words.get(e["final_status"], "FAILED"))

    def on_FaultBegan(self, at, e):
        names = [name for part in re.split(r", | \| ", e["target"]) for name in [part.strip()] if name]
        self.faults.append({"index": e["fault"], "instance": e["instance"], "kind": e["kind"], "target": e["target"], "names": names,
                            "at": at, "ended": None, "detected": None, "recovered": None, "hurt": set()})

    def on_FaultEnded(self, at, e):
        for fault in self.faults:
            if (fault["index"], fault["instance"]) == (e["fault"], e["instance"]) and fault["ended"] is None:
                fault["ended"] = at

    def on_ClientOrdered(self, at, e):
        job, action = self.jobs[e["job"]], e["action"]
        if action["type"] == "JobEnded" and job.finished is None:
            job.finished, job.status = at, action["status"].upper()
            self.healed(at, e["job"])
        elif action["type"] == "ApplicationSubmitted" and action["resubmission"] > 0:
            job.over = None
            self.note(e["job"], at, "again", None)

    def on_AmTold(self, at, e):
        job, event = self.jobs[e["job"]], e["event"]
        if event["type"] == "RmReplied" and event["response"].get("type") == "RegisterApplicationMasterResponse":
            job.registered = job.registered or at
            self.note(e["job"], at, "registered", True)
        elif event["type"] == "AmStarted":
            hosts = [c["node"].rsplit(":", 1)[0] for c in self.containers.values() if c["job"] == e["job"] and c["am"]]
            if int(event["attempt"].rsplit("_", 1)[1]) > 1:
                self.noticed(at, e["job"], "am", ["am of " + job.name, hosts[-2] if len(hosts) > 1 else ""])

    def on_AmOrdered(self, at, e):
        job, action = self.jobs[e["job"]], e["action"]
        kind = action["type"]
        if kind == "GangCompleted":
            job.complete = job.complete or at
            self.note(e["job"], at, "gang", action["containers"])
        elif kind == "GangReleased":
            self.note(e["job"], at, "gang", 0)
        elif kind == "JobStateChanged":
            self.note(e["job"], at, "state", action["state"])
            if action["state"] == "running":
                job.running = job.running or at
                self.healed(at, e["job"])
        elif kind == "VerdictReached":
            self.note(e["job"], at, "verdict", True)
        elif kind == "TaskAttemptStarted":
            job.first_process = job.first_process or at
            phase = next((v for _, w, v in reversed(job.changes) if w == "phase"), "idle")
            if phase in ("training", "restore", "checkpoint"):
                self.healed(at, e["job"], action["task"])
        elif kind == "TaskAttemptEnded" and action["exit_class"] not in ("ok", "killed-by-us"):
            self.noticed(at, e["job"], action["task"],
                         [action["node"].rsplit(":", 1)[0], f"{job.name} {action['task']}", job.name])

    def note(self, index, at, what, value):
        if self.jobs[index].finished is None:
            self.jobs[index].changes.append((at, what, value))

    # ---- faults

    def noticed(self, at, job, task, names):
        for fault in self.faults:
            waited_for = fault["recovered"] is None and (fault["ended"] is None or at <= fault["ended"] + PATIENCE)
            if waited_for and set(names) & set(fault["names"]):
                fault["detected"] = fault["detected"] or at
                fault["hurt"].add((job, task))

    def healed(self, at, job, task=None):
        for fault in self.faults:
            if not fault["hurt"]:
                continue
            fault["hurt"] = {(j, t) for j, t in fault["hurt"] if j != job or (task is not None and t != task)}
            if not fault["hurt"]:
                fault["recovered"] = at

    # ---- jobs

    def stages(self, job):
        """Nanoseconds by stage; they sum to the job's whole time."""
        times = dict.fromkeys(STAGES, 0)
        now = {"phase": "idle", "state": "submitted", "registered": False, "gang": 0, "launched": 0, "verdict": False, "trained": False}
        last = job.submitted
        until = job.finished if job.finished is not None else self.end
        for at, what, value in job.changes + [(until, "end", None)]:
            at = min(at, until)
            times[self.stage(now)] += at - last
            last = at
            if what == "lost":
                moved = min(value, times["training"])
                times["training"] -= moved
                times["lost"] += moved
            elif what == "launched":
                now["launched"] += value
            elif what == "again":
                now.update(registered=False, gang=0, verdict=False, state="submitted")
            elif what != "end":
                now[what] = value
                if what == "phase" and value == "training":
                    now["trained"] = True
                if what == "state" and value == "allocating":
                    now["gang"] = 0
        return [times[stage] for stage in STAGES]

    @staticmethod
    def stage(now):
        if now["phase"] in ("restore", "training", "checkpoint"):
            return now["phase"]
        if now["phase"] == "done" or now["verdict"]:
            return "ending"
        if now["trained"]:
            return "restart"
        if not now["registered"]:
            return "queued"
        if now["state"] == "running":
            return "running"
        if now["state"] in ("draining", "finished"):
            return "ending"
        if now["gang"] == 0:
            return "gang"
        return "localizing" if now["launched"] < now["gang"] else "registering"

    def wait(self, name):
        """Waits of all jobs that have one, in nanoseconds."""
        pairs = {"queue": lambda j: (j.submitted, j.registered), "gang": lambda j: (j.registered, j.complete),
                 "start": lambda j: (j.submitted, j.running), "jct": lambda j: (j.submitted, j.finished)}[name]
        both = [pairs(job) for job in self.jobs]
        return sorted(b - a for a, b in both if a is not None and b is not None)

    # ---- the cluster

    def usage(self, until=None, since=0):
        """GPU-nanoseconds by use between two times, node by node and container by container."""
        until = self.end if until is None else until
        total = dict.fromkeys(USES, 0)
        downs = {node: self.outages(node) for node in self.nodes}
        for node, gpus in self.nodes.items():
            down = sum(overlap(a, b, since, until) for a, b in downs[node])
            total["down"] += gpus * down
            total["free"] += gpus * (until - since - down)
        for container in self.containers.values():
            if container["gpus"] == 0:
                continue
            for a, b, use in self.uses(self.jobs[container["job"]]):
                a, b = max(a, container["granted"], since), min(b, container["freed"], until)
                if a >= b:
                    continue
                up = b - a - sum(overlap(x, y, a, b) for x, y in downs[container["node"]])
                total[use] += container["gpus"] * up
                total["free"] -= container["gpus"] * up
        return [total[use] for use in USES]

    def outages(self, node):
        spans, since = [], None
        for at, up in self.power[node]:
            if not up and since is None:
                since = at
            elif up and since is not None:
                spans.append((since, at))
                since = None
        return spans + ([(since, self.end)] if since is not None else [])

    def uses(self, job):
        """[begin, end, use] of what the job holds."""
        phase, gang, since, spans = "idle", False, 0, []
        for at, what, value in job.changes + [(self.end, "end", None)]:
            use = "training" if phase == "training" else "overhead" if gang else "incomplete"
            spans.append((since, at, use))
            since = at
            if what == "phase":
                phase = value
            elif what == "gang":
                gang = value > 0
            elif what == "state" and value == "allocating":
                gang = False
        return spans

    def utilization(self):
        """Share of the GPU time of running nodes that was held, from the first submission to the last end."""
        if any(job.finished is None for job in self.jobs):
            until = self.end
        else:
            until = max(job.finished for job in self.jobs)
        training, overhead, incomplete, free, _ = self.usage(until, min(job.submitted for job in self.jobs))
        held = training + overhead + incomplete
        return Fraction(held, held + free) if held + free else None

    def goodput(self):
        held = sum(job.held for job in self.jobs)
        return Fraction(sum(job.useful for job in self.jobs), held) if held else None


def overlap(a, b, c, d):
    return max(0, min(b, d) - max(a, c))


def percentile(values, percent):
    """Nearest rank."""
    return values[(len(values) * percent + 99) // 100 - 1] if values else None
