// The page on a running job: a static shell that asks for its data again each second.
#pragma once

#include <string_view>

namespace tfyarn::reports {

/// Three resources of one folder; `html` names the other two as live.js and live.css, and the
/// script asks for state.json, log and report.html beside them.
struct LivePage {
  std::string_view html;
  std::string_view style;
  std::string_view script;
};

/// reports/assets as they were when this was built.
[[nodiscard]] const LivePage& BuiltInLivePage();

}  // namespace tfyarn::reports
