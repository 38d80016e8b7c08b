#!/usr/bin/env python3
"""Takes the picture of the report that the README shows: docs/report.png, from a run of the demo.

Usage: screenshot_report.py [TFSIM [PNG]]. Needs chromium; the picture is 1,400 pixels wide and must stay below 300 KiB.
"""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "e2e" / "browser"))
from devtools import Browser  # noqa: E402

WIDTH, MOST = 1400, 300 * 1024


def main():
    tfsim = sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "bin" / "tfsim"
    png = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "docs" / "report.png")
    with tempfile.TemporaryDirectory() as directory, Browser() as browser:
        html = directory + "/report.html"
        subprocess.run([tfsim, "run", ROOT / "scenarios" / "demo.yaml", "--quiet", "--html", html], check=True, stdout=subprocess.DEVNULL)
        page = browser.open(html, width=WIDTH, height=1000)
        # The first day: scarcity, a node that dies, and jobs that start again.
        page.run("tfsimReport.view.set(0, 43200); tfsimReport.timeline.scroll(200)")
        page.frame()
        bottom = page.run("Math.ceil(document.getElementById('timeline').getBoundingClientRect().bottom + scrollY + 12)")
        page.size(WIDTH, bottom)
        page.frame()
        data = page.screenshot()
    if len(data) > MOST:
        sys.exit(f"the picture has {len(data):,} bytes, more than {MOST:,}")
    png.write_bytes(data)
    print(f"{png}: {WIDTH} x {bottom}, {len(data):,} bytes")


if __name__ == "__main__":
    main()
