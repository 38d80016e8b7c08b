#!/usr/bin/env python3
"""Do the documents point to what is there? Every relative link of a tracked *.md leads to a file or folder, and a #fragment to
a heading in it; every folder that ARCHITECTURE.md lists exists, and every folder of sources is listed; every function that it
places in a file is defined there."""
import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.S | re.M)


def tracked(*patterns):
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns], capture_output=True,
                            text=True, check=False)
    if listed.returncode != 0:
        print("not a checkout:", listed.stderr.strip())
        sys.exit(77)
    return [pathlib.Path(line) for line in listed.stdout.splitlines()]


def anchors(path):
    """As GitHub makes them from headings."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    made = []
    for heading in re.findall(r"^#+ +(.*?)\s*$", text, re.M):
        plain = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower())
        made.append(plain.replace(" ", "-"))
    return set(made)


def dead_links(document):
    text = FENCE.sub("", document.read_text(encoding="utf-8"))
    for link in LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, fragment = link.partition("#")
        path = document.parent / target if target else document
        if not path.exists():
            yield f"{document}: {link}: there is no {path}"
        elif fragment and path.suffix == ".md" and fragment not in anchors(path):
            yield f"{document}: {link}: {path} has no such heading"


def folder_table():
    text = pathlib.Path("ARCHITECTURE.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| ([a-z][\w/-]*) \|", text, re.M)) - {"folder"}
    for folder in sorted(listed):
        if not pathlib.Path(folder).is_dir():
            yield f"ARCHITECTURE.md lists {folder}, which is not there"
    for source in tracked("*/CMakeLists.txt"):
        folder = source.parent
        known = {str(folder), *map(str, folder.parents)} & listed
        holds_listed = any(name.startswith(f"{folder}/") for name in listed)
        if not known and not holds_listed:
            yield f"ARCHITECTURE.md does not list {folder}"


def function_table():
    text = pathlib.Path("ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = re.findall(r"\| ([\w/]+\.cc) \| `([\w:]+)` \|$", text, re.M)
    for file, function in rows:
        path = pathlib.Path(file)
        if not path.exists():
            yield f"ARCHITECTURE.md: there is no {file}"
        elif not re.search(rf"^\w[^;=]*\b{re.escape(function)}\([^;]*?\{{$", path.read_text(encoding="utf-8"), re.M):
            yield f"ARCHITECTURE.md: {file} does not define {function}"
    if not rows:
        yield "ARCHITECTURE.md: no row places a function in a file"


def main():
    documents = tracked("*.md")
    problems = [problem for document in documents if document.exists() for problem in dead_links(document)]
    problems += folder_table()
    problems += function_table()
    print("\n".join(problems))
    print(f"{len(documents)} documents, {len(problems)} problems")
    sys.exit(1 if problems or not documents else 0)


if __name__ == "__main__":
    main()
