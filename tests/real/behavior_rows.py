"""What a scenario's `behavior` says of a job's processes, as a shell program that does it for real: one text for all tasks."""

STEPS = "n=0; while [ $n -lt %d ]; do n=$((n+1)); echo step $n; sleep 0.1; done"


def seconds(text):
    return float(text.removesuffix("ms")) / 1000 if text.endswith("ms") else float(text.removesuffix("s"))


def program_of(row, steps, at_end):
    """The shell text of one row."""
    text = "trap '' TERM; " if row.get("on_term", {}).get("ignore") else ""
    if row["runs"] == "forever":
        return text + "while :; do sleep 0.1; done"
    if steps:
        text += STEPS % round(seconds(row["runs"]) * 10)
    else:
        text += f"sleep {seconds(row['runs'])}"
    return text + f"; {at_end}exit {row.get('exit', 0)}"


def shell_of(rows, steps=False, before="", at_end=""):
    """The program looks which row is its own. `steps`: it shows its progress. `before`, `at_end`: shell text, with a `;` at its
    end, that every process runs first, and before it exits by itself."""
    arms = []
    for row in rows:
        task = row.get("task", "*")
        task = task if ":" in task else task + ":*"
        attempt = str(row["attempt"]) if "attempt" in row else "*"
        arms.append(f"{task}/{attempt}) {program_of(row, steps, at_end)} ;;")
    return before + 'case "$TFYARN_TASK_TYPE:$TFYARN_TASK_INDEX/$TFYARN_ATTEMPT" in ' + " ".join(arms) + " esac"
