#!/usr/bin/env python3
"""The progress line: on a terminal it says how far the run is, and is gone at the end; anywhere else there is none.

Usage: check_progress.py TFSIM SCENARIO.  The scenario must run for some tenths of a second.
"""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

COLOUR = re.compile(rb"\x1b\[[0-9;]*m")
COLUMNS = 72


def on_terminal(command, **environment):
    """What the program writes to a terminal of 72 columns."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    base = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "TERM")}
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=follower, stderr=follower, env={**base, "TERM": "xterm", **environment})
    os.close(follower)
    text = b""
    while True:
        try:
            data = os.read(leader, 65536)
        except OSError:  # Linux says so when no process holds the other end any more
            break
        if not data:
            break
        text += data
    process.wait()
    os.close(leader)
    return text


def check(condition, what, text):
    if not condition:
        sys.exit(f"FAIL {what}\n{text!r}")


def main():
    command = [sys.argv[1], "run", sys.argv[2]]
    text = on_terminal(command)
    lines = re.findall(rb"\r([^\r\n\x1b]+)\x1b\[K", text)
    check(lines, "there is a progress line", text)
    check(all(re.fullmatch(rb"\d+/\d+ jobs  \S+( \S+)* simulated( \(\d+x\))?(  ~\S+( \S+)* left)?", line) for line in lines),
          "the line says jobs done, simulated time, speed and time left", lines)
    check(any(b"x)" in line for line in lines) and any(b"left" in line for line in lines), "speed and time left come", lines)
    check(all(len(line) < COLUMNS for line in lines), "the line fits the terminal", lines)
    check(re.search(rb"\r\x1b\[K[^\r]", text[text.rindex(lines[-1]):]), "the line is taken away before the verdict", text)
    check(COLOUR.search(text), "a terminal gets colours", text)

    plain = on_terminal(command, NO_COLOR="1")
    check(not COLOUR.search(plain) and b" jobs  " in plain, "NO_COLOR takes the colours, not the line", plain)
    for name, options, environment in (("--quiet", ["--quiet"], {}), ("a dumb terminal", [], {"TERM": "dumb"})):
        text = on_terminal(command + options, **environment)
        check(b"simulated (" not in text and b"\x1b[K" not in text, f"{name}: no progress line", text)
    done = subprocess.run(command, capture_output=True)
    check(done.stderr == b"" and b"\x1b" not in done.stdout, "nothing of it in a pipe", done.stderr + done.stdout)
    print(f"ok, {len(lines)} lines, the last: {lines[-1].decode()}")


if __name__ == "__main__":
    main()
