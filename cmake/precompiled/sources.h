// Compiled once with clang: what most sources include. Nothing that needs a library at link time,
// as Asio's headers do.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "core/model/agent.h"
#include "core/model/am.h"
#include "core/model/client.h"
#include "core/model/describe.h"
#include "core/model/job_spec.h"
#include "core/trace/record.h"
