#!/usr/bin/env python3
"""How smoothly the report pans: 100,000 bars in a headless Chromium, frame by frame.

Usage: report_pan.py TFSIM [REPEATS]. Prints lines as bench/summary.h does. A frame is the time from one animation frame to the
next while each of 240 frames moves the timeline by half a percent of what is in sight, and its rows by a few pixels. Chromium
draws in software here (--disable-gpu): a browser with a graphics card has less to do. The drawing alone, from the spans in
sight to the canvas, is reported beside it: other work on the machine disturbs it less. Exit 77 where there is no Chromium.
"""
import json
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "e2e" / "browser"))
from devtools import Browser  # noqa: E402

BARS = 100_000
FRAMES = 240
PAN = """new Promise(done => {
  const {view, timeline} = tfsimReport;
  const times = [];
  const drawing = [];
  let last = null;
  const draw = Object.getPrototypeOf(timeline).draw;
  timeline.draw = (...all) => {
    const begin = performance.now();
    draw.apply(timeline, all);
    drawing.push(performance.now() - begin);
  };
  const frame = now => {
    if (last !== null) times.push(now - last);
    last = now;
    if (times.length === %d) return done([times, drawing]);
    view.pan(Math.floor(times.length / 60) %% 2 === 0 ? 0.005 : -0.005);
    timeline.scroll(Math.floor(times.length / 120) %% 2 === 0 ? 7 : -7);
    requestAnimationFrame(frame);
  };
  view.set(0, view.end);
  view.zoom(0.8);
  requestAnimationFrame(frame);
})""" % FRAMES


def documents(template, jobs, nodes):
    """The two documents with so many jobs that share the bars, or so many nodes of 8 GPUs that do."""
    draw = random.Random(1)
    result, report = json.loads(template["result"]), json.loads(template["report"])
    end = result["simulated_seconds"] = 1e6
    job = {**result["jobs"][0], "submitted": 0, "finished": end}
    result["jobs"] = [{**job, "name": f"job-{i}"} for i in range(jobs)]
    result["faults"] = []
    timeline = report["timeline"]
    timeline.update(marks=[], bars=[], losses=[], outages=[], nodes=[[f"node-{i}", "r1", 8, 64] for i in range(max(1, nodes))])
    phases = ["training", "checkpoint", "training", "restart", "restore"]
    marks = BARS // jobs if nodes == 0 else 1
    for i in range(jobs):
        for n, at in enumerate(sorted(draw.uniform(0, end) for _ in range(marks))):
            timeline["marks"].append([i, at, phases[n % len(phases)]])
    for i in range(nodes):
        for lane in range(8):
            cuts = sorted(draw.uniform(0, end) for _ in range(BARS // nodes // 8 + 1))
            for n, (a, b) in enumerate(zip(cuts, cuts[1:])):
                timeline["bars"].append([f"node-{i}", f"container_{i}_{lane}_{n}", draw.randrange(jobs), "worker:0", 1, a, b])
    return {"result": json.dumps(result), "report": json.dumps(report)}


def page_of(html, texts):
    for name, text in texts.items():
        html = re.sub(rf'(<script type="application/json" id="{name}">).*?(</script>)', lambda m, t=text: m[1] + t + m[2], html, count=1, flags=re.S)
    return html


def main():
    tfsim, repeats = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10
    with tempfile.TemporaryDirectory() as directory, Browser(longest=600) as browser:
        path = directory + "/report.html"
        subprocess.run([tfsim, "run", str(ROOT / "scenarios/failover/worker-node-dies.yaml"), "--quiet", "--html", path], check=True, stdout=subprocess.DEVNULL)
        html = pathlib.Path(path).read_text(encoding="utf-8")
        template = {name: re.search(rf'id="{name}">(.*?)</script>', html, re.S)[1] for name in ("result", "report")}
        for case, jobs, nodes in (("25 rows of jobs, all in sight", 25, 0), ("10,000 rows of jobs", 10_000, 0), ("25 nodes of 8 GPUs", 100, 25)):
            pathlib.Path(path).write_text(page_of(html, documents(template, jobs, nodes)), encoding="utf-8")
            page = browser.open(path, width=1400, height=1000)
            page.run(f"document.querySelectorAll('#timeline .bar button')[{1 if nodes else 0}].click(); document.getElementById('timeline').scrollIntoView()")
            page.frame()
            both = [page.run(PAN) for _ in range(repeats)]
            runs, drawing = [sorted(times) for times, _ in both], [statistics.median(times) for _, times in both]
            name = "report, 100,000 bars, pan"
            for figure, unit, values in (("95th percentile of a frame", "ms", [run[int(len(run) * 0.95)] for run in runs]),
                                         ("frames below 50 ms", "%", [100 * sum(t < 50 for t in run) / len(run) for run in runs]),
                                         ("median drawing of a frame", "ms", drawing)):
                print(f"{name}\t{case}: {figure}\t{unit}\t{statistics.median(values):.4g}\t{min(values):.4g}\t{max(values):.4g}", flush=True)
            if page.problems():
                sys.exit(str(page.problems()))
            page.call("Page.close")


if __name__ == "__main__":
    main()
