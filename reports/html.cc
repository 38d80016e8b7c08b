#include "reports/html.h"

#include <fmt/format.h>

#include <array>
#include <cctype>

namespace tfyarn::reports {
namespace {

struct Part {
  std::string_view marker;
  std::string text;
};

bool ContainsIgnoringCase(std::string_view text, std::string_view lower_case) {
  for (std::size_t i = 0; i + lower_case.size() <= text.size(); ++i) {
    std::size_t j = 0;
    while (j < lower_case.size() && (text[i + j] | 0x20) == lower_case[j]) ++j;
    if (j == lower_case.size()) return true;
  }
  return false;
}

}  // namespace

std::string EmbeddableJson(std::string_view json) {
  std::string out;
  out.reserve(json.size() + json.size() / 64);
  for (const char c : json) {
    // Outside its strings JSON has none of these, and inside them an escape means the same.
    switch (c) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += c;
        break;
    }
  }
  return out;
}

Expected<std::string> Html(std::string_view result, std::string_view report, const Assets& assets) {
  // '/' has the bit that lower-casing sets, so the comparison below is exact for it.
  if (ContainsIgnoringCase(assets.script, "</script") ||
      ContainsIgnoringCase(assets.style, "</style")) {
    return Fail(ErrorCode::kInvalidArgument,
                "an asset of the report's page contains the end tag of its own element");
  }
  const std::array<Part, 4> parts{{{"{{style}}", std::string(assets.style)},
                                   {"{{result}}", EmbeddableJson(result)},
                                   {"{{report}}", EmbeddableJson(report)},
                                   {"{{script}}", std::string(assets.script)}}};
  std::string out;
  std::string_view rest = assets.page;
  for (const Part& part : parts) {
    const auto at = rest.find(part.marker);
    if (at == std::string_view::npos) {
      return Fail(
          ErrorCode::kInvalidArgument,
          fmt::format(
              "the report's page lacks {} (expected in the order style, result, report, script)",
              part.marker));
    }
    out += rest.substr(0, at);
    out += part.text;
    rest.remove_prefix(at + part.marker.size());
  }
  out += rest;
  return out;
}

}  // namespace tfyarn::reports
