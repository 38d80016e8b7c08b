// The ResourceManager of a small cluster of tests.
#pragma once

#include "fakes/yarn-rm/rm_options.h"

namespace tfyarn::fakes {

/// Two queues, default and batch, that may both use all of it; waits as short as those of a test's
/// real cluster (tests/hadoop/hadoop_sites.py), so that what is waited for comes soon.
[[nodiscard]] RmOptions QuickRmOptions();

}  // namespace tfyarn::fakes
