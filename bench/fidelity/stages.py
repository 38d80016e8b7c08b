"""When a job reached each of its stages, from the records of its run: the same function for a run in the simulator and one on a
real cluster, as both have the records of the same ApplicationMaster.

What the AM does not see is given beside its records: when the client began and ended, when the ResourceManager (RM) took the
application, when a process of the user ended, when a fault struck. All instants are seconds from the submission.
"""

# (stage, from which instant, to which instant, what it is). Of a job, those count whose instants its runs have.
STAGES = (
    ("submitted", "asked", "submitted", "from the client's start until the RM has the application"),
    ("AM registered", "submitted", "am_registered", "until the RM has answered the AM's registration"),
    ("gang complete", "am_registered", "gang", "until the AM holds every container"),
    ("agents registered", "gang", "agents", "until the agent of the last container has registered"),
    ("started", "agents", "started", "until every process of the user runs"),
    ("fault detected", "fault", "detected", "from the fault until the AM knows, or the next AM has begun"),
    ("recovered", "detected", "recovered", "from there until every process runs, or the RM knows the AM again"),
    ("worked", "since", "worked", "from the start, or the restart, until the last process has ended"),
    ("finished", "worked", "finished", "from there until the application has ended in the RM's books"),
    ("client told", "finished", "told", "until the client has ended"),
    ("all of it", "asked", "told", "from the client's start to its end"),
)


def fault_kind_of(scenario):
    """A process that fails by itself is a fault too. None where nothing goes wrong."""
    if scenario.get("faults"):
        return scenario["faults"][0]["kind"]
    return "process_exit" if any(row.get("exit") for row in scenario["jobs"][0]["behavior"]) else None


def seconds(record):
    return record["at_ns"] / 1e9


def am_events(records):
    """(seconds, AM attempt, type, event) of what AMs were told."""
    return [(seconds(each), each["am_attempt"], each["event"]["type"], each["event"]) for each in records if each["type"] == "AmTold"]


def am_actions(records):
    return [(seconds(each), each["am_attempt"], each["action"]["type"], each["action"])
            for each in records if each["type"] == "AmOrdered"]


def first(instants):
    return next(iter(instants), None)


def response_times(records, kind):
    return [at for at, _, name, event in am_events(records) if name == "RmReplied" and event["response"]["type"] == kind]


def states(records, state):
    return [(at, attempt) for at, attempt, name, action in am_actions(records) if name == "JobStateChanged" and action["state"] == state]


def agents_registered(records, containers, until):
    """When the last of so many different containers' agents had registered first."""
    seen = {}
    for at, _, name, event in am_events(records):
        if name == "AgentSaid" and event["message"]["type"] == "RegisterAgent" and at <= until:
            seen.setdefault(event["message"]["fence"]["container"], at)
    return max(seen.values()) if len(seen) >= containers else None


def of_the_beginning(records):
    found = {"am_registered": first(response_times(records, "RegisterApplicationMasterResponse")),
             "started": first([at for at, _ in states(records, "running")])}
    gang = first([(at, action["containers"]) for at, _, name, action in am_actions(records) if name == "GangCompleted"])
    if gang:
        found["gang"] = gang[0]
        if found["started"] is not None:
            found["agents"] = agents_registered(records, gang[1], found["started"])
    return found


# ---- faults: by kind, when it was noticed and when all was well again

def of_a_failure(records, fault):
    """A process or container ended, and the job runs again in its next epoch."""
    noticed = first([at for at, _, name, action in am_actions(records)
                     if name == "TaskAttemptEnded" and at >= fault and action["exit_class"] != "ok"])
    again = first([at for at, _ in states(records, "running") if noticed is not None and at > noticed])
    return noticed, again


def of_a_lost_am(records, _fault):
    """The next attempt's process, and its record that the job runs."""
    began = first([at for at, attempt, name, _ in am_events(records) if name == "AmStarted" and attempt > 1])
    again = first([at for at, attempt in states(records, "running") if attempt > 1])
    return began, again


def of_a_lost_rm(records, fault):
    """A call without an answer, and the answer to the AM's second registration."""
    failed = first([at for at in response_times(records, "RpcError") if at >= fault])
    again = first([at for at in response_times(records, "RegisterApplicationMasterResponse") if at > fault])
    return failed, again


NOTICED = {"process_exit": of_a_failure, "container_lost": of_a_failure, "node_crash": of_a_failure, "am_crash": of_a_lost_am,
           "rm_restart": of_a_lost_rm}


def instants(records, outside, fault_kind=None):
    """All instants of a run by name. `outside`: what the AM does not see, with `fault` when something struck."""
    found = {"submitted": 0.0, **outside, **of_the_beginning(records)}
    if fault_kind:
        found["detected"], found["recovered"] = NOTICED[fault_kind](records, outside["fault"])
    # Neither a new AM nor a new RM starts processes again.
    restarts = fault_kind not in (None, "am_crash", "rm_restart")
    found["since"] = found["recovered"] if restarts else found["started"]
    return found


def durations(found):
    """Seconds by stage. Errors: ValueError naming an instant that is not there."""
    spans = {}
    for stage, begin, end, _ in STAGES:
        if begin == "fault" and "fault" not in found or begin == "detected" and "detected" not in found:
            continue
        if missing := [name for name in (begin, end) if found.get(name) is None]:
            raise ValueError(f"no record says when: {', '.join(missing)}; there is {found}")
        spans[stage] = found[end] - found[begin]
    return spans
