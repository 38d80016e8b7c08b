#include "config/shell_line.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace tfyarn::config::shell_line_test {
namespace {

TEST(ShellLineTest, TheLastProgramOfAPipeIsNamed) {
  for (const auto& [line, last] : std::vector<std::pair<const char*, const char*>>{
           {"python3 train.py | tee log", "tee"},
           {"python3 train.py 2>&1 | /usr/bin/tee -a log", "tee"},
           {"python3 train.py |& tee log", "tee"},
           {"python3 train.py | grep -v WARN | tee log", "tee"},
           {"cd src && python3 train.py | tee log && echo done", "tee"},
           {"python3 train.py | tee log; echo done", "tee"},
           {"python3 train.py |\n  tee log", "tee"},
           {"python3 train.py | LC_ALL=C sort >out", "sort"},
           {"(python3 train.py | tee log)", "tee"},
           {"grep -c 'a|b' in | python3 train.py", "python3"},
           {"test -f in || true; python3 train.py | tee log", "tee"},
           {"python3 train.py & tail -f log | ts", "ts"}}) {
    EXPECT_EQ(LastOfPipe(line), last) << line;
  }
}

TEST(ShellLineTest, WhatIsNoPipeOfTheLineIsNone) {
  for (const char* line :
       {"", "python3 train.py", "python3 train.py || exit 7", "python3 train.py > log 2>&1",
        "python3 train.py &> log", "echo a >| log", "grep 'a|b' in", "grep \"a\\\"|b\" in",
        "grep a\\|b in", "python3 train.py --seed $(date | cksum)", "x=`date | cksum`; run $x",
        "run $(a $(b | c) | d)", "python3 train.py # | tee log", "set -o pipefail; a | tee log",
        "bash -o pipefail -c 'a | tee log'", "a | tee log; exit ${PIPESTATUS[0]}"}) {
    EXPECT_EQ(LastOfPipe(line), "") << line;
  }
}

TEST(ShellLineTest, ALineThatIsCutShortIsReadToItsEnd) {
  for (const char* line : {"'", "\"", "`", "\\", "$(", "$((", "a |", "a | X=1", "|", "#", "a | \\"})
    EXPECT_TRUE(LastOfPipe(line).size() <= 1) << line;
}

}  // namespace
}  // namespace tfyarn::config::shell_line_test
