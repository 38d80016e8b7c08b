// What the measuring programs share: repeats, their median and spread, and one line per result.
//
// A line is NAME <tab> CASE <tab> UNIT <tab> MEDIAN <tab> LEAST <tab> MOST; bench/run_all.py makes tables of them. No part of
// tfyarn is used here, so that the peers' programs can share it.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace tfyarn::bench {

/// `values`: one for each repeat; not empty.
inline void PrintResult(const std::string& name, const std::string& which, const std::string& unit,
                        std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::printf("%s\t%s\t%s\t%.6g\t%.6g\t%.6g\n", name.c_str(), which.c_str(), unit.c_str(), values[values.size() / 2],
              values.front(), values.back());
  std::fflush(stdout);
}

}  // namespace tfyarn::bench
