#!/usr/bin/env python3
"""Which folder includes which, and what no file of a folder may call: the table of ARCHITECTURE.md, enforced.

Reads #include lines and the text of sources; prints each breach as FILE:LINE and exits 1 when there is one.
"""
import pathlib
import re
import sys

CORE = ["core/model", "core/policy", "core/allocation", "core/journal", "core/am", "core/agent", "core/client", "core/placement", "core/trace"]
SIMULATED = ["fakes/yarn-rm", "fakes/hdfs", "sim"]
SERVED = ["fakes/server"]
REAL = ["wire", "wire/hadoop", "hosts/runtime", "hosts/agent", "hosts/local", "hosts/yarn"]

# Folder -> folders of ours that it may include, besides itself.
OURS = {
    "core/model": [],
    "core/agent": ["core/model"],
    "core/client": ["core/model"],
    "core/placement": ["core/model"],
    "core/trace": ["core/model"],
    "core/policy": ["core/model"],
    "core/allocation": ["core/model", "core/placement", "core/journal"],
    "core/journal": ["core/model", "core/policy"],
    "core/am": ["core/model", "core/placement", "core/policy", "core/allocation", "core/journal"],
    "config": ["core/model", "core/policy", "fakes/yarn-rm"],
    "fakes/hdfs": ["core/model"],
    "fakes/yarn-rm": ["core/model", "core/placement"],
    "fakes/server": ["core/model", "fakes/yarn-rm", "fakes/hdfs", "wire", "wire/hadoop"],
    "oracles": ["core/model", "core/trace", "config"],
    "reports": ["core/model", "core/trace"],
    "sim": CORE + ["config", "fakes/yarn-rm", "fakes/hdfs", "oracles"],
    "explore": ["core/model", "core/policy", "core/trace", "config", "sim", "fakes/yarn-rm"],
    "wire": ["core/model"],
    "wire/hadoop": ["core/model", "wire"],
    "hosts/runtime": CORE + ["wire", "reports"],
    "hosts/agent": CORE + ["config", "wire", "hosts/runtime"],
    "hosts/local": CORE + ["config", "wire", "hosts/runtime", "hosts/agent"],
    "hosts/yarn": CORE + ["config", "wire", "wire/hadoop", "wire/webhdfs", "hosts/runtime"],
    "bench": CORE + SIMULATED + REAL + ["config", "reports"],
    "apps": CORE + SIMULATED + REAL + ["config", "explore", "reports"],
    "tests": CORE + SIMULATED + SERVED + REAL + ["config", "explore", "oracles", "reports", "apps"],
}

# Headers of core/model that the fakes must not know: they may share YARN's words, never the AM's.
NOT_FOR_FAKES = ["am", "agent", "client", "channel", "launch", "elision", "cluster_spec", "job_spec", "exit", "success",
                 "codec", "rpc_meaning"]
ONE_USER = {"fakes/yarn-rm": {"core/placement": "schedulers/gang"}}
# Folder -> the headers of another folder that it may include: which schedulers there are, no more; the face of the AM's containers,
# and what a host tells it.
FACES = {folder: {"fakes/yarn-rm": ["fakes/yarn-rm/schedulers.h"]} for folder in ("config", "explore")}
FACES["core/am"] = {"core/allocation": ["core/allocation/allocation.h", "core/allocation/allocation_options.h"]}
# YARN's records stand behind that face.
YARN_FREE = re.compile(r"core/am/(?!am_options\.h)|core/allocation/allocation\.h")

# Folder -> patterns of third-party headers that it may include. The C++ standard library is free but for BANNED.
ALLOWED = {
    "core": [r"fmt/", r"tl/expected\.hpp", r"boost/(describe|mp11|container|unordered|intrusive|heap)", r"Random123/",
             r"xxhash\.h", r"nlohmann/", r"google/protobuf/"],
    "config": [r"yaml-cpp/", r"nlohmann/", r"pugixml\.hpp", r"fmt/", r"tl/expected\.hpp", r"boost/(describe|mp11)", r"lzma\.h",
               r"xxhash\.h"],
    "fakes": [r"fmt/", r"tl/expected\.hpp", r"boost/(describe|mp11|container|heap|random|unordered|intrusive)", r"Random123/"],
    "fakes/server": [r"boost/(asio|beast|system)", r"nlohmann/", r"fmt/", r"tl/expected\.hpp", r"sys/"],
    "sim": [r"fmt/", r"tl/expected\.hpp", r"boost/(describe|mp11|container|heap|random|unordered|intrusive)", r"Random123/",
            r"xxhash\.h"],
    "oracles": [r"fmt/", r"tl/expected\.hpp"],
    "explore": [r"fmt/", r"boost/(describe|mp11)"],
    "reports": [r"nlohmann/", r"zlib\.h", r"pugixml\.hpp", r"fmt/", r"tl/expected\.hpp", r"boost/(describe|mp11)"],
    "wire": [r"boost/(asio|beast|system|describe|mp11|url)", r"nlohmann/", r"google/protobuf/", r"openssl/", r"zlib\.h", r"fmt/",
             r"tl/expected\.hpp", r"wire/.*\.pb\.h", r"sasl/sasl\.h", r"sys/stat\.h"],
    "hosts": [r"boost/(asio|beast|system|describe|mp11)", r"spdlog/", r"fmt/", r"archive(_entry)?\.h", r"re2/", r"xxhash\.h", r"tl/expected\.hpp", r"nlohmann/",
              r"(sys|linux|netinet|arpa)/"],
    "apps": [r"CLI/", r"boost/asio", r"spdlog/", r"fmt/", r"tl/expected\.hpp", r"nlohmann/", r"boost/(describe|mp11)"],
}
PROTOBUF_IN_CORE = "core/journal/codec"
NLOHMANN_IN_CORE = ["core/agent/environment", "core/trace/"]

# What a pure machine cannot call: clocks, files, threads, hidden randomness, the environment.
BANNED_IN_PURE = [
    (r"\b(system_clock|steady_clock|high_resolution_clock)\b", "reads a clock"),
    (r"\b(std::random_device|rand\s*\(|srand\s*\()", "draws hidden randomness"),
    (r"\bgetenv\b", "reads the environment"),
    (r"#include <(thread|mutex|condition_variable|future|fstream|filesystem|iostream|random|atomic)>", "has no place here"),
    (r"\b(fopen|::open|::socket|::read|::write)\s*\(", "does I/O"),
    (r"\bco_(await|yield|return)\b", "is a coroutine (miscompiled by g++ 12)"),
]
PURE = CORE + ["fakes/yarn-rm", "fakes/hdfs", "oracles", "sim", "explore"]
# std::atomic: the interrupt's flag, and marks that no decision reads.
PURE_EXCEPTIONS = {(name, "has no place here") for name in ("sim/run.h", "explore/trial.h", "core/model/probe.h")}


def folder_of(path):
    parts = path.parts
    two = "/".join(parts[:2])
    if two in OURS:
        return two
    return parts[0] if parts[0] in OURS else None


def third_party_of(folder):
    return ALLOWED.get(folder) or ALLOWED.get(folder.split("/")[0])


def check_file(root, path, breaches):
    relative = path.relative_to(root)
    folder = folder_of(relative)
    if folder is None:
        return
    name = str(relative)
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        where = f"{name}:{number}"
        match = re.match(r'\s*#include ([<"])([^>"]+)[>"]', line)
        if match:
            check_include(folder, name, match.group(1), match.group(2), where, breaches)
        code = line.split("//")[0]
        if YARN_FREE.match(name) and re.search(r"(?<!tf)\byarn::", code):
            breaches.append(f"{where}: YARN's records stand behind core/allocation/allocation.h")
        if folder in PURE:
            for pattern, why in BANNED_IN_PURE:
                if re.search(pattern, code) and (name, why) not in PURE_EXCEPTIONS:
                    breaches.append(f"{where}: {code.strip()}: {why}")


def check_include(folder, name, quote, target, where, breaches):
    if quote == '"':
        used = folder_of(pathlib.PurePosixPath(target))
        if used is None:
            breaches.append(f"{where}: include \"{target}\" is not written from the root")
        elif used != folder and used not in OURS[folder]:
            breaches.append(f"{where}: {folder} may not use {used}")
        elif used in ONE_USER.get(folder, {}) and ONE_USER[folder][used] not in name:
            breaches.append(f"{where}: only {ONE_USER[folder][used]} of {folder} may use {used}")
        elif target not in FACES.get(folder, {}).get(used, [target]):
            breaches.append(f"{where}: {folder} may use {' and '.join(FACES[folder][used])} of {used} only")
        elif folder.startswith("fakes/") and used == "core/model":
            if pathlib.PurePosixPath(target).stem in NOT_FOR_FAKES:
                breaches.append(f"{where}: fakes may not know {target}")
        return
    allowed = third_party_of(folder)
    if allowed is None or "/" not in target and not target.endswith(".h"):
        return
    if target.startswith("nlohmann/") and folder.startswith("core/"):
        if not any(name.startswith(prefix) for prefix in NLOHMANN_IN_CORE):
            breaches.append(f"{where}: JSON is written in {', '.join(NLOHMANN_IN_CORE)} only")
        return
    if target.startswith("google/protobuf/") and folder.startswith("core/") and not name.startswith(PROTOBUF_IN_CORE):
        breaches.append(f"{where}: protobuf is for {PROTOBUF_IN_CORE} only")
        return
    if "/" in target or target in ("xxhash.h", "lzma.h", "pugixml.hpp", "zlib.h"):
        if target.startswith(("sys/", "bits/")) and folder in ("apps", "config"):
            return
        if not any(re.match(pattern, target) for pattern in allowed):
            breaches.append(f"{where}: {folder} may not use <{target}>")


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    breaches = []
    count = 0
    for top in ("core", "config", "fakes", "oracles", "sim", "reports", "wire", "hosts", "apps", "bench", "tests"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in (".h", ".cc"):
                count += 1
                check_file(root, path, breaches)
    for breach in breaches:
        print(breach)
    if count == 0:
        print("no sources found")
        return 1
    print(f"{count} files, {len(breaches)} breaches")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
