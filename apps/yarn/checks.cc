#include "apps/yarn/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/cli/print.h"

namespace tfyarn::apps {
namespace {

const char* NameOf(CheckState state) {
  switch (state) {
    case CheckState::kOk:
      return "ok";
    case CheckState::kNotChecked:
      return "not checked";
    case CheckState::kWarning:
      return "warning";
    case CheckState::kProblem:
      return "problem";
  }
  return "";
}

}  // namespace

std::string RenderText(const std::vector<Check>& checks) {
  constexpr std::size_t kWidest = 32;
  std::size_t width = 0;
  for (const Check& check : checks) width = std::max(width, check.subject.size());
  width = std::min(width, kWidest);
  std::string text;
  for (const Check& check : checks) {
    text +=
        fmt::format("{:<11}  {:<{}}  {}\n", NameOf(check.state), check.subject, width, check.text);
    if (!check.advice.empty())
      text += fmt::format("{:<11}  {:<{}}  -> {}\n", "", "", width, check.advice);
  }
  return text;
}

std::string RenderJson(const std::vector<Check>& checks) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Check& check : checks) {
    nlohmann::ordered_json entry;
    entry["subject"] = check.subject;
    entry["state"] = NameOf(check.state);
    entry["text"] = check.text;
    entry["advice"] = check.advice;
    list.push_back(std::move(entry));
  }
  return cli::JsonText(list);
}

CheckState WorstOf(const std::vector<Check>& checks) {
  CheckState worst = CheckState::kOk;
  for (const Check& check : checks) {
    if (check.state != CheckState::kNotChecked) worst = std::max(worst, check.state);
  }
  return worst;
}

}  // namespace tfyarn::apps
