// What the command lines of tfsim and tfyarn have in common: help, versions, and errors that say
// what may have been meant.
//
// CLI11 takes the value of a misspelt option for a file name and knows no "did you mean", so every
// option and command is compared with the registered names before it parses.
#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace CLI {
class App;
}

namespace tfyarn::cli {

/// Text to be printed on stdout, and the end: help, version, exit codes.
struct PrintText {
  std::string text;
};

/// What is wrong with the command line, and what may have been meant; ends with a newline.
struct UsageError {
  std::string message;
};

/// Parses `words` (without the program's name) into what `app` was set up to fill. Set: there is
/// nothing to be done but to print this.
[[nodiscard]] std::optional<tl::expected<PrintText, UsageError>> ParseWords(
    CLI::App& app, const std::string& program, const std::vector<std::string>& words,
    const std::string& version);

/// `help TOPIC`: a command of `app`, or exit-codes.
[[nodiscard]] tl::expected<PrintText, UsageError> HelpOn(const CLI::App& app,
                                                         const std::string& program,
                                                         const std::string& topic);

}  // namespace tfyarn::cli
