// What the measuring programs share: repeats, their median and spread, and one line per result.
//
// Time is this process's CPU time, which a busy machine disturbs less than a wall clock; all
// programs here have one thread. A line is NAME <tab> CASE <tab> UNIT <tab> MEDIAN <tab> LEAST
// <tab> MOST; bench/run_all.py makes tables of them. No part of tfyarn is used here, so that the
// peers' programs can share it.
#pragma once

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

namespace tfyarn::bench {

/// CPU time of this process since some moment, in nanoseconds.
inline double CpuNanoseconds() {
  std::timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// `values`: one for each repeat; not empty.
inline void PrintResult(const std::string& name, const std::string& which, const std::string& unit,
                        std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::printf("%s\t%s\t%s\t%.6g\t%.6g\t%.6g\n", name.c_str(), which.c_str(), unit.c_str(),
              values[values.size() / 2], values.front(), values.back());
  std::fflush(stdout);
}

}  // namespace tfyarn::bench
