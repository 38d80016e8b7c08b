// What commands print as their answer.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "apps/cli/exit_codes.h"

namespace tfyarn::cli {

/// Writes `text` to stdout. Returns `code`, or kInternal when it cannot be written, which was said.
[[nodiscard]] int Print(const std::string& text, int code = ToInt(ExitCode::kOk));
/// A document for programs, with a line's end. Bytes that are no UTF-8 are replaced.
[[nodiscard]] std::string JsonText(const nlohmann::ordered_json& document);
/// "2026-11-22 07:20:00Z" of milliseconds since 1970; "-" of none.
[[nodiscard]] std::string UtcText(std::int64_t milliseconds);

}  // namespace tfyarn::cli
