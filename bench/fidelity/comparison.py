"""Stages of real and simulated runs side by side: medians, the bound that they are held to, and whether chance alone would do it."""
import dataclasses
import fnmatch
import functools
import random
import re
import statistics

import stages

SHARE = 0.20     # The larger of the two bounds a gap, as a share of the real median and in seconds.
LEAST = 0.200
DRAWS = 10000
ALARM = 0.05     # How often a comparison of two worlds that are the same may raise an alarm, all of its rows together.


@dataclasses.dataclass
class Row:
    job: str
    stage: str
    real: list
    simulated: list

    @property
    def gap(self):
        return statistics.median(self.simulated) - statistics.median(self.real)

    @property
    def bound(self):
        return max(LEAST, SHARE * statistics.median(self.real))

    @property
    def within(self):
        return abs(self.gap) <= self.bound

    @functools.cached_property
    def chance(self):
        """How often so few runs of the simulator, drawn at random, have a median as far from the simulator's own: where a wait for
        a heartbeat dominates, five runs say little."""
        draw = random.Random(f"{self.job} {self.stage}")
        own = statistics.median(self.simulated)
        medians = (statistics.median(draw.choices(self.simulated, k=len(self.real))) for _ in range(DRAWS))
        return sum(abs(median - own) >= abs(self.gap) for median in medians) / DRAWS


def rows_of(job, real, simulated):
    """`real`, `simulated`: seconds by stage of each run."""
    return [Row(job, stage, [run[stage] for run in real], [run[stage] for run in simulated])
            for stage, *_ in stages.STAGES if all(stage in run for run in real + simulated)]


def span(values):
    """The median, the least and the most, in seconds."""
    return f"{statistics.median(values):.2f} ({min(values):.2f}–{max(values):.2f})"


def causes(page):
    """(job, stage, least, most) of each row of the page's last table: how large a gap its cause explains, in seconds."""
    found = []
    for line in page.partition("\n## Gaps")[2].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        span = re.fullmatch(r"([+-]?\d+) to ([+-]?\d+)", cells[2]) if line.startswith("| ") and len(cells) > 3 else None
        if span:
            found.append((cells[0], cells[1], int(span.group(1)) / 1e3, int(span.group(2)) / 1e3))
    return found


def explained(rows, page):
    """{(job, stage): (least, most)} of the gaps that the page has a cause for; `*` stands for all."""
    return {(row.job, row.stage): (least, most) for row in rows for job, stage, least, most in causes(page)
            if fnmatch.fnmatch(row.job, job) and fnmatch.fnmatch(row.stage, stage)}


def is_explained(row, explained):
    """`explained`: by (job, stage), the least and the most seconds that a gap's cause explains. A larger one has another cause, too."""
    least, most = explained.get((row.job, row.stage), (1, 0))
    return least <= row.gap <= most


def open_gaps(rows, explained):
    """Rows that neither the bound, nor a cause, nor chance accounts for. Among many gaps the unlikeliest is not very likely: Holm's
    procedure asks the less of each, the more there are."""
    judged = sorted((row for row in rows if not row.within and not is_explained(row, explained)), key=lambda row: row.chance)
    found = []
    for row in judged:
        if row.chance * (len(judged) - len(found)) > ALARM:
            break
        found.append(row)
    return found


def verdict(row, explained, left):
    if row.within:
        return "yes"
    if is_explained(row, explained):
        return "**no**, explained below"
    return f"{'**no**' if row in left else 'no'}; chance {row.chance:.1%}"


def table(rows, explained):
    """Markdown."""
    left = open_gaps(rows, explained)
    yield "| job | stage | real, s | simulated, s | gap | within |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        yield (f"| {row.job} | {row.stage} | {span(row.real)} | {span(row.simulated)} | {row.gap * 1e3:+.0f} ms | "
               f"{verdict(row, explained, left)} |")
