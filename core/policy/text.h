// A policy for people: what `tfsim explain policy` and docs/policies.md print.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/error.h"

namespace tfyarn::policy {

/// One row of a policy for people: what `tfsim explain policy` and docs/policies.md print.
struct RowText {
  std::string name;
  std::string when;
  std::string action;
  std::string pays;
  std::string why;
};

/// A whole policy for people.
struct Text {
  std::string name;
  std::string summary;
  std::vector<RowText> options;   ///< name, when = default, action = allowed values, why.
  std::vector<RowText> roles;     ///< name = task type, action = class.
  std::vector<RowText> rows;      ///< In the order in which they are tried.
  std::vector<RowText> verdicts;  ///< name, when, action = succeeded or failed, why.
};

/// Names that Make accepts, in the order of documentation.
[[nodiscard]] std::vector<std::string_view> Names();
/// Rows that these options switch off are left out; without options all rows are shown with their
/// condition. Errors: as Make for name and options.
[[nodiscard]] Expected<Text> Describe(std::string_view name,
                                      const std::map<std::string, std::string>& options);
/// Markdown tables of the text, as docs/policies.md has them.
[[nodiscard]] std::string ToMarkdown(const Text& text);

}  // namespace tfyarn::policy
