// The command line of tfsim: what was asked for, as plain values.
//
// CLI11 knows the options and writes the help. Nothing here reads a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <variant>
#include <vector>

#include "apps/cli/command_line.h"
#include "core/model/time.h"
#include "explore/trial.h"

namespace tfyarn::cli {

/// How a scenario is read; the same for every command that reads one.
struct InputArguments {
  std::string file;
  std::vector<std::string> sets;  ///< path=value
  std::string trace_directory;    ///< Where traces are that are not beside the scenario.
};

struct RunArguments {
  InputArguments input;
  std::optional<std::uint64_t> seed;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> seeds;  ///< Both ends included.
  std::size_t at_once = 0;  ///< Processes for many runs; 0 = one for each processor.
  std::string out;          ///< Directory for everything; the rest are single files.
  bool json = false;        ///< Result document on stdout in place of the verdict.
  std::string html;
  std::string trace;
  std::string junit;
  std::string csv;      ///< Directory.
  bool events = false;  ///< events.jsonl in `out`.
  bool elide = true;
  bool reference = false;  ///< The reference model judges too.
  bool tasks = false;
  bool quiet = false;  ///< No progress line.
};

struct ValidateArguments {
  std::vector<std::string> files;
  std::vector<std::string> sets;
  std::string trace_directory;
};

struct ExplainArguments {
  std::vector<std::string> words;  ///< A field, or `policy NAME`.
};

/// `explain FILE job/NAME --at TIME`.
struct ExplainJobArguments {
  InputArguments input;
  std::string job;  ///< Without "job/".
  Duration at{};
  std::optional<std::uint64_t> seed;
};

struct SchemaArguments {
  std::string which = "scenario";  ///< scenario | job
};

struct InitArguments {
  std::string directory = ".";
  bool force = false;
};

struct FaultsArguments {
  std::string kind;  ///< "" = all.
};

struct ReplayArguments {
  InputArguments input;
  std::optional<std::uint64_t> seed;
  std::string result;  ///< result.json to agree with; "" = two runs, with and without skipped
                       ///< heartbeats, must agree.
  std::string policy;  ///< What this one would have decided instead; "" = no such question.
  bool quiet = false;
};

struct DiffArguments {
  std::string left;
  std::string right;
  std::optional<std::uint64_t> seed;
  std::vector<std::string> sets;
  std::string trace_directory;
};

struct ExploreArguments {
  std::vector<std::string> inputs;  ///< Scenarios and folders of them; empty: drawn as a whole.
  std::vector<std::string> sets;
  std::uint64_t runs = 0;  ///< 0 = no limit.
  double seconds = 60;     ///< 0 = no limit.
  std::uint64_t from = 0;  ///< The number of the first run.
  bool limited = false;    ///< A budget was given.
  std::optional<std::uint64_t> seed;
  std::string known;           ///< A folder of findings that are not told again; "" = none.
  std::size_t stop_after = 0;  ///< Findings; 0 = all that the budget finds.
  std::size_t at_once = 0;     ///< 0 = one for each processor.
  std::string out;             ///< "": tfsim-out/explore, for findings alone.
  std::optional<explore::Relation> relation;  ///< Nothing is drawn: only this is checked.
  std::string corpus;                         ///< A folder of runs that another search kept.
  bool guided = true;                         ///< Runs branch from others.
  bool shrink = true;                         ///< What shows a finding is made small.
  bool coverage = false;                      ///< All tables of what was reached are printed.
  bool coverage_only = false;                 ///< No findings: `inputs` run as they are, once.
  std::optional<std::uint64_t> print;         ///< Nothing runs: what this run draws is printed.
  std::string digests;  ///< A file that gets the digest of each run; "" = none.
  bool quiet = false;
};

struct WhyArguments {
  InputArguments input;
  std::optional<std::uint64_t> seed;
  std::uint64_t futures = 20;  ///< Of each moment.
  std::size_t at_once = 0;     ///< 0 = one for each processor.
  std::string html;            ///< "" = no page.
  bool json = false;
  bool quiet = false;
};

using Command = std::variant<PrintText, RunArguments, ValidateArguments, ExplainArguments,
                             ExplainJobArguments, SchemaArguments, InitArguments, FaultsArguments,
                             ReplayArguments, DiffArguments, ExploreArguments, WhyArguments>;

/// `words`: without the program's name.
[[nodiscard]] tl::expected<Command, UsageError> ParseArguments(
    const std::vector<std::string>& words, const std::string& version);

/// "3" or "3..7". nullopt: neither, or the ends are the wrong way round.
[[nodiscard]] std::optional<std::pair<std::uint64_t, std::uint64_t>> ParseSeeds(
    const std::string& text);

}  // namespace tfyarn::cli
