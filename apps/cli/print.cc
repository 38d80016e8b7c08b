#include "apps/cli/print.h"

#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "apps/cli/output.h"

namespace tfyarn::cli {

int Print(const std::string& text, int code) {
  const auto written = WriteStdout(text);
  if (written) return code;
  Complain(written.error().message);
  return ToInt(ExitCode::kInternal);
}

std::string JsonText(const nlohmann::ordered_json& document) {
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string UtcText(std::int64_t milliseconds) {
  if (milliseconds <= 0) return "-";
  const std::time_t seconds = milliseconds / 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

}  // namespace tfyarn::cli
