"""How fast the parts of a real cluster are, taken from runs that are not compared with anything: the simulator is told of these
parts, and its stages are what it makes of them.

Each part is a pair of lines in the cluster's own logs, or a call and its answer in the AM's records.
"""
import stages


def zero_of(records, attempt):
    """The wall clock at the records' zero."""
    for at, number, name, event in stages.am_events(records):
        if name == "AmStarted" and number == attempt:
            return event["wall_ms"] / 1e3 - at
    raise ValueError(f"no record of AM attempt {attempt}")


def localizations(containers):
    """(of the first container of an application on a node, of the others there: these wait for the first, and then so long)."""
    firsts, others = [], []
    nodes = {}
    for states in containers.values():
        if "START" in states and "SCHEDULED" in states:
            nodes.setdefault(states["node"], []).append((states["START"], states["SCHEDULED"]))
    for spans in nodes.values():
        (begun, done), *rest = sorted(spans)
        firsts.append(done - begun)
        others += [scheduled - max(asked, done) for asked, scheduled in rest]
    return firsts, others


def agents_words(records):
    """By container: when its agent was first heard of, by the wall clock."""
    zero = zero_of(records, 1)
    heard = {}
    for at, _, name, event in stages.am_events(records):
        if name == "AgentSaid" and event["message"]["type"] == "RegisterAgent":
            heard.setdefault(event["message"]["fence"]["container"], zero + at)
    return heard


def masters_words(records):
    zero = zero_of(records, 1)
    return {event["container"]: zero + at for at, _, name, event in stages.am_events(records) if name == "AmStarted"}


def launches(heard, containers):
    """From the end of localization until the process in it was heard of."""
    return [at - containers[container]["SCHEDULED"] for container, at in heard.items() if "SCHEDULED" in containers.get(container, {})]


def journal_writes(records):
    begun = {}
    for at, attempt, name, action in stages.am_actions(records):
        if name == "AppendJournal":
            begun.setdefault((attempt, action["seq"]), at)
    return [at - begun[attempt, event["seq"]] for at, attempt, name, event in stages.am_events(records)
            if name == "JournalAppended" and (attempt, event["seq"]) in begun]


def calls(records, order, answer):
    """How long calls to the RM (CallRm, RmReplied) or to NodeManagers (CallNm, NmReplied) took."""
    begun = {(attempt, action["call"]): at for at, attempt, name, action in stages.am_actions(records) if name == order}
    return [at - begun[attempt, event["call"]] for at, attempt, name, event in stages.am_events(records)
            if name == answer and (attempt, event["call"]) in begun]
