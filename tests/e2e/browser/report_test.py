#!/usr/bin/env python3
"""The report in a real browser: what it says is what the events say, and it is the page it promises to be.

Usage: report_test.py TFSIM SOURCE_DIRECTORY.  Exit 77 (skipped) where there is no Chromium.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

from devtools import Browser, find_chromium
from figures import STAGES, Figures, percentile

TFSIM, SOURCE = "", ""
HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = """(label => [...document.querySelectorAll(`table[aria-label="${label}"] tbody tr:not(.space)`)]
  .map(row => [...row.cells].map(cell => cell.textContent)))"""
HEADS = """(label => [...document.querySelectorAll(`table[aria-label="${label}"] thead th`)].map(cell => cell.textContent))"""
EVIL = ["</script><img src=x onerror=alert(1)>", "<b onmouseover=alert(2)>bold</b>", "\u202egnp.exe\u202c", "ש" * 40,
        "long-" + "x" * 3000, "${alert(3)} {{script}}", "\"'`&amp;<!--"]


def seconds(text):
    """A number as the page writes it; None for a dash."""
    return None if text == "–" else float(text.replace(",", ""))


def human(text):
    """Seconds of '12.5 s', '3.4 min', '20.8 h', '3.54 d', '5 ms'."""
    if text == "–":
        return None
    number, unit = text.split(" ")
    return float(number) * {"ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400}[unit]


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser().__enter__()
        cls.directory = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.directory.cleanup()

    def simulate(self, scenario, *options):
        """The files of a run: its directory."""
        out = tempfile.mkdtemp(dir=self.directory.name)
        subprocess.run([TFSIM, "run", scenario, "--out", out, "--quiet", *options], stdout=subprocess.DEVNULL, check=False)
        return out

    def open(self, path, **options):
        page = self.browser.open(path, **options)
        self.addCleanup(self.judge, page)
        return page

    def judge(self, page):
        self.assertEqual(page.problems(), [])
        self.assertEqual(page.requests(), [])
        page.call("Page.close")

    def near(self, shown, exact, digits=3):
        """`shown` is `exact` rounded to so many significant digits."""
        if exact is None:
            self.assertIsNone(shown)
        else:
            self.assertAlmostEqual(shown, exact, delta=abs(exact) * 0.51 * 10 ** (1 - digits) + 1e-9)


class FiguresTest(Case):
    def check_run(self, scenario):
        out = self.simulate(scenario, "--events")
        figures = Figures(out + "/events.jsonl")
        page = self.open(out + "/report.html")
        self.check_tiles(page, figures)
        self.check_times(page, figures)
        self.check_gpu_times(page, figures)
        self.check_waits(page, figures)
        self.check_usage(page, figures)
        self.check_faults(page, figures)
        return figures

    def test_a_worker_whose_node_dies(self):
        figures = self.check_run(SOURCE + "/scenarios/failover/worker-node-dies.yaml")
        self.assertGreater(figures.stages(figures.jobs[0])[STAGES.index("lost")], 0)

    def test_many_jobs_and_failures(self):
        figures = self.check_run(HERE + "/busy.yaml")
        self.assertEqual({job.status for job in figures.jobs}, {"SUCCEEDED", "FAILED", "UNFINISHED"})
        self.assertTrue(any(fault["recovered"] for fault in figures.faults))

    def check_tiles(self, page, figures):
        tile = lambda name: page.run(f"document.getElementById('tile-{name}').textContent")
        status = [job.status for job in figures.jobs]
        self.assertEqual(seconds(tile("jobs")), len(status))
        self.assertEqual(seconds(tile("succeeded")), status.count("SUCCEEDED"))
        self.assertEqual(seconds(tile("failed")), status.count("FAILED") + status.count("KILLED"))
        self.assertEqual(seconds(tile("unfinished")), status.count("UNFINISHED"))
        self.assertEqual(seconds(tile("faults")), len(figures.faults))
        for name, exact in (("utilization", figures.utilization()), ("goodput", figures.goodput())):
            text = tile(name)
            self.near(None if text == "–" else float(text.rstrip(" %")) / 100, None if exact is None else float(exact))
        jct = percentile(figures.wait("jct"), 50)
        self.near(human(tile("jct")), None if jct is None else jct / 1e9)
        start = figures.wait("start")
        self.near(human(tile("start")), sum(start) / len(start) / 1e9 if start else None)

    def job_rows(self, page, figures, tab):
        """Rows of the jobs' table by name, all of them, however few exist at a time."""
        page.run(f"document.querySelector('#jobs [data-tab={tab}]').click()")
        rows = {}
        for top in range(0, 28 * len(figures.jobs) + 1, 28 * 40):
            page.run(f"document.querySelector('#jobs .scroll').scrollTop = {top}")
            page.frame()
            rows.update({row[0]: row for row in page.run(TABLE + "('jobs')")})
        self.assertEqual(sorted(rows), sorted(job.name for job in figures.jobs))
        return rows

    def check_times(self, page, figures):
        rows = self.job_rows(page, figures, "time")
        names = page.run(HEADS + "('jobs')")[4:]
        self.assertEqual(len(names), len(STAGES))
        for job in figures.jobs:
            row = rows[job.name]
            self.assertEqual(row[1], job.status)
            shown = [round(seconds(text) * 1000) for text in [row[2], *row[4:]]]
            self.assertEqual(shown[0], sum(shown[1:]), f"the parts of {job.name} sum to its total")
            exact = figures.stages(job)
            unit = 1 if "." in row[2] else 1000
            for name, part, nanos in zip(STAGES, shown[1:], exact):
                self.assertLess(abs(part - nanos / 1e6), unit + 1e-3, f"{name} of {job.name}")
            self.assertLessEqual(abs(shown[0] - sum(exact) / 1e6), unit / 2 + 1e-3, job.name)

    def check_gpu_times(self, page, figures):
        for name, row in self.job_rows(page, figures, "gpu").items():
            job = next(job for job in figures.jobs if job.name == name)
            shown = [round(seconds(text) * 1000) for text in [row[2], *row[4:]]]
            self.assertEqual(shown[0], sum(shown[1:]), f"the parts of {name} sum to its total")
            unit = 1 if "." in row[2] else 1000
            self.assertLessEqual(abs(shown[0] - job.held / 1e6), unit / 2 + 1e-3, name)
            self.assertLess(abs(shown[1] - job.useful / 1e6), unit + 1e-3, name)

    def check_waits(self, page, figures):
        notes = page.run("[...document.querySelectorAll('#waiting .charts > div')].map(d => [d.querySelector('h3').textContent, d.querySelector('.note').textContent])")
        self.assertEqual(len(notes), 4)
        for (title, note), name in zip(notes, ("queue", "gang", "start", "jct")):
            waits = figures.wait(name)
            self.assertEqual(int(re.search(r"of ([\d,]+) job", title)[1].replace(",", "")), len(waits))
            for quantile, percent in (("p50", 50), ("p90", 90), ("p99", 99), ("max", 100)):
                self.near(human(re.search(quantile + r" ([\d.]+ \w+)", note)[1]), percentile(waits, percent) / 1e9)

    def check_usage(self, page, figures):
        if not any(figures.nodes.values()):
            return
        exact = figures.usage()
        shown = page.run(TABLE + "('GPU-hours by use')")
        for (_, hours, share), nanos in zip(shown, exact, strict=True):
            self.assertAlmostEqual(seconds(hours), nanos / 3.6e12, delta=0.0051)
            self.assertAlmostEqual(float(share.rstrip(" %")), 100 * nanos / sum(exact), delta=0.0051)

    def check_faults(self, page, figures):
        rows = page.run(TABLE + "('faults')")
        self.assertEqual(len(rows), len(figures.faults))
        for row, fault in zip(rows, figures.faults):
            self.assertEqual(row[:3], [f"{fault['index']}.{fault['instance']}", fault["kind"], fault["target"]])
            for text, what in ((row[5], "detected"), (row[6], "recovered")):
                if fault[what] is None:
                    self.assertEqual(text, "–", f"{what} of {fault}")
                else:
                    self.assertAlmostEqual(seconds(text), (fault[what] - fault["at"]) / 1e9, delta=0.00051, msg=f"{what} of {fault}")


class PageTest(Case):
    def test_the_verdict_and_the_effective_scenario_are_on_the_page(self):
        out = self.simulate(HERE + "/busy.yaml", "--set", "horizon=4h")
        page = self.open(out + "/report.html")
        with open(out + "/result.json", encoding="utf-8") as file:
            result = json.load(file)
        self.assertIn(result["verdict"], page.run("document.getElementById('verdict').textContent"))
        self.assertIn("horizon: 4h", page.run("document.querySelector('#scenario pre').textContent"))
        before_tables = page.run("document.getElementById('checks').compareDocumentPosition(document.getElementById('timeline'))")
        self.assertTrue(before_tables & 4, "checks come before the timeline")

    def test_keys_wheel_and_drag_move_the_timeline(self):
        page = self.open(self.simulate(HERE + "/busy.yaml") + "/report.html")
        sight = lambda: page.run("(v => [v.from, v.to])(tfsimReport.view)")
        page.run("document.getElementById('timeline-canvas').scrollIntoView({block: 'center'}); document.getElementById('timeline-canvas').focus()")
        page.frame()
        everything, text = sight(), page.run("document.getElementById('timeline-range').textContent")
        page.key("+")
        zoomed = sight()
        self.assertAlmostEqual(zoomed[1] - zoomed[0], (everything[1] - everything[0]) / 2, places=3)
        self.assertNotEqual(page.run("document.getElementById('timeline-range').textContent"), text)
        page.key("ArrowRight")
        self.assertGreater(sight()[0], zoomed[0])
        page.key("ArrowLeft")
        page.key("-")
        page.key("0")
        self.assertEqual(sight(), everything)
        box = page.run("(b => [b.left, b.top, b.width, b.height])(document.getElementById('timeline-canvas').getBoundingClientRect())")
        x, y = box[0] + box[2] / 2, box[1] + box[3] / 2
        page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-120, modifiers=2)
        page.frame()
        zoomed = sight()
        self.assertLess(zoomed[1] - zoomed[0], everything[1] - everything[0])
        page.drag(x, y, x + 100, y)
        self.assertLess(sight()[0], zoomed[0])
        page.key("Home")
        self.assertEqual(sight(), everything)
        first_rows = page.run("document.getElementById('timeline-range').textContent")
        page.key("PageDown")
        self.assertNotEqual(page.run("document.getElementById('timeline-range').textContent"), first_rows)

    def test_both_schemes_draw_and_text_has_contrast(self):
        path = self.simulate(HERE + "/busy.yaml") + "/report.html"
        looks = []
        for dark in (False, True):
            page = self.open(path, dark=dark)
            for worst, what in page.run(CONTRAST):
                self.assertGreaterEqual(worst, 4.5, f"{what}, dark={dark}")
            colours = page.run("(c => new Set(new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)).size)(document.getElementById('timeline-canvas'))")
            self.assertGreater(colours, 5, "the timeline has colours")
            looks.append(page.run("getComputedStyle(document.body).backgroundColor"))
        self.assertNotEqual(*looks)

    def test_a_narrow_window_does_not_scroll_sideways(self):
        page = self.open(self.simulate(HERE + "/busy.yaml") + "/report.html", width=400)
        self.assertLessEqual(page.run("document.documentElement.scrollWidth"), 400)

    def test_an_empty_run_and_an_ensemble_are_pages_too(self):
        empty = os.path.join(self.directory.name, "empty.yaml")
        with open(empty, "w", encoding="utf-8") as file:
            file.write("schema: tfsim/v1\nname: empty\nhorizon: 1h\ncluster: {nodes: [{name: n, count: 1, resources: {memory: 8GiB, vcores: 4}}]}\n"
                       "jobs: [{name: late, submit: 2h, tasks: {worker: {instances: 1, memory: 1GiB, vcores: 1}}, training: {steps: 1, step_time: 1s}}]\n")
        page = self.open(self.simulate(empty) + "/report.html")
        self.assertIn("No job was submitted", page.run("document.body.innerText"))
        page = self.open(self.simulate(SOURCE + "/scenarios/failover/worker-node-dies.yaml", "--seeds", "1..3") + "/report.html")
        self.assertIn("3 runs", page.run("document.getElementById('about').textContent"))

    def test_hostile_text_stays_text(self):
        path = os.path.join(self.simulate(HERE + "/busy.yaml", "--tasks"), "report.html")
        with open(path, encoding="utf-8") as file:
            html = file.read()

        def poison(match):
            document = json.loads(match[2])
            if match[1] == "result":
                document["scenario"], document["reason"] = EVIL[0], EVIL[1]
                for i, job in enumerate(document["jobs"]):
                    job["name"] = EVIL[i % len(EVIL)] + str(i)
                    job["diagnostics"] = job["queue"] = EVIL[(i + 1) % len(EVIL)]
                for i, fault in enumerate(document["faults"]):
                    fault["kind"], fault["target"] = EVIL[i % len(EVIL)], EVIL[(i + 3) % len(EVIL)]
                document["expectations"] = [{"text": text, "passed": False, "got": text} for text in EVIL]
            else:
                document["scenario_yaml"] = "\n".join(EVIL)
                for row in document["timeline"]["bars"]:
                    row[1] = row[3] = EVIL[0]
            text = json.dumps(document)
            return match[0].replace(match[2], text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))

        html = re.sub(r'<script type="application/json" id="(\w+)">(.*?)</script>', poison, html, flags=re.S)
        with open(path, "w", encoding="utf-8") as file:
            file.write(html)
        page = self.open(path, width=900)
        page.run("document.querySelectorAll('details').forEach(d => { d.open = true; }); for (const t of ['gpu', 'detail', 'time']) document.querySelector(`[data-tab=${t}]`).click()")
        page.frame()
        self.assertEqual(page.run("document.querySelectorAll('img, [onerror], [onmouseover], main script, iframe').length"), 0)
        self.assertEqual(page.run("document.getElementById('title').textContent"), EVIL[0])
        self.assertIn(EVIL[0] + "0", page.run("document.querySelector('#jobs tbody').textContent"))
        self.assertEqual(page.run("document.querySelector('#scenario pre').textContent"), "\n".join(EVIL))
        self.assertLessEqual(page.run("document.documentElement.scrollWidth"), 900)

    def test_the_policy_stops_scripts_and_requests(self):
        page = self.browser.open(self.simulate(SOURCE + "/scenarios/failover/worker-node-dies.yaml") + "/report.html")
        page.run("window.hit = 0; (s => { s.text = ''; })(document.createElement('i'));"
                 "const bad = document.createElement('div'); try { bad.innerHTML = '<b>x</b>'; window.hit = 1; } catch (e) { window.refused = String(e); }")
        self.assertEqual(page.run("window.hit"), 0, "markup from text is refused")
        self.assertTrue(page.run("fetch('https://example.org/').then(() => false, () => true)"))
        self.assertIn("sha256-", page.run("document.querySelector('meta[http-equiv]').content"))
        page.call("Page.close")


# The lowest contrast of a text with what is behind it, for each kind of text.
CONTRAST = """(() => {
  const parse = c => c.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => { const f = v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
    return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
  const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  const worst = new Map();
  for (const e of document.querySelectorAll('h1, h2, h3, p, span, b, th, td, button, summary, code, li')) {
    if (!e.textContent || !e.checkVisibility()) continue;
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(behind(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const key = `${e.tagName}.${e.className}`;
    worst.set(key, Math.min(worst.get(key) ?? 99, ratio));
  }
  return [...worst].map(([key, ratio]) => [ratio, key]);
})()"""


if __name__ == "__main__":
    TFSIM, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    find_chromium()
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
