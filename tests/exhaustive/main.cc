// all_orders: explores small jobs in all orders, and tells what is wrong as a story.
//
//   all_orders sample | soak             the passes of CTest, of ./dev soak (campaign.h)
//   all_orders list                      the jobs, and the kinds of faults
//   all_orders explore JOBS [OPTIONS]    the jobs whose name begins so
//   all_orders tell JOB OPTIONS --path "0 0 3 1"   one path
//
// Options: --faults N, --kinds a,b (all), --deviations N (all orders), --latency SECONDS, --states
// N for each job, --no-sleep, --no-merge.
//
// Exit: 0 all is well; 2 of no use; 20 something was found.
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/text.h"
#include "core/policy/exit_classifier.h"
#include "tests/exhaustive/campaign.h"

namespace tfyarn::exhaustive {
namespace {

constexpr int kFound = 20;
constexpr int kUsage = 2;

int Usage(std::string_view why) {
  fmt::print(stderr,
             "all_orders: {}\n"
             "usage: all_orders sample | soak | list | explore JOBS [OPTIONS] | tell JOB [OPTIONS] "
             "--path \"0 0 3\"\n",
             why);
  return kUsage;
}

/// `--name value` pairs, and flags.
class Options {
 public:
  explicit Options(std::span<char*> rest) {
    for (std::size_t i = 0; i < rest.size(); ++i) {
      const std::string_view name = rest[i];
      const bool flag = name.starts_with("--no-");
      if (!name.starts_with("--") || (!flag && i + 1 == rest.size())) {
        wrong_ = std::string(name);
        return;
      }
      given_[std::string(name)] = flag ? "" : rest[++i];
    }
  }
  [[nodiscard]] bool Has(const std::string& name) { return Text(name).has_value(); }
  [[nodiscard]] std::optional<std::string> Text(const std::string& name) {
    const auto found = given_.find(name);
    known_.insert(name);
    return found == given_.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] std::int64_t Number(const std::string& name, std::int64_t otherwise) {
    const auto text = Text(name);
    if (!text) return otherwise;
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
    if (error != std::errc() || end != text->data() + text->size() || number < 0) wrong_ = name;
    return number;
  }
  /// The first that is wrong or that is asked for by none.
  [[nodiscard]] std::string Wrong() const {
    for (const auto& [name, value] : given_) {
      if (!known_.contains(name)) return name;
    }
    return wrong_;
  }

 private:
  std::map<std::string, std::string> given_;
  std::set<std::string> known_;
  std::string wrong_;
};

Path PathFrom(std::string_view text) {
  Path path;
  while (!text.empty()) {
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc()) path.push_back(static_cast<std::uint8_t>(number));
    text.remove_prefix(error == std::errc() ? static_cast<std::size_t>(end - text.data()) : 1);
  }
  return path;
}

int List() {
  for (const std::string& name : JobNames()) fmt::print("{}\n", name);
  fmt::print("kinds of faults: {}\n", TextOf(FaultSet::All()));
  return 0;
}

int TellOne(const Scope& scope, const Path& path) {
  const Told told = Tell(scope, path);
  for (const std::string& line : told.lines) fmt::print("{}\n", line);
  fmt::print("\nfacts\n");
  for (const Fact& fact : told.facts) fmt::print("{}\n", TextOf(fact, *scope.job));
  fmt::print("\n{}\n", TextOf(told.outcome, *scope.job));
  for (const std::string& alarm : JudgeByReference(scope, path).alarms)
    fmt::print("reference-verdict: {}\n", alarm);
  if (told.broken.empty()) return 0;
  fmt::print("{}\n", told.broken);
  return kFound;
}

int Main(std::span<char*> arguments) {
  if (arguments.size() < 2) return Usage("what is to be done?");
  const std::string_view verb = arguments[1];
  if (verb == "list") return List();
  if (verb == "sample") return RunPasses(SamplePasses()) ? 0 : kFound;
  if (verb == "soak") return RunPasses(SoakPasses()) ? 0 : kFound;
  if ((verb != "explore" && verb != "tell") || arguments.size() < 3)
    return Usage("no such thing to do");
  Options options(arguments.subspan(3));
  Pass pass{.name = "explore",
            .jobs = arguments[2],
            .faults = static_cast<std::int32_t>(options.Number("--faults", 0)),
            .latency = std::chrono::seconds(options.Number("--latency", 0))};
  if (options.Has("--deviations"))
    pass.limits.deviations = static_cast<std::int32_t>(options.Number("--deviations", 0));
  if (options.Has("--states"))
    pass.limits.states = static_cast<std::uint64_t>(options.Number("--states", 0));
  pass.limits.sleep = !options.Has("--no-sleep");
  pass.limits.merge = !options.Has("--no-merge");
  if (const auto kinds = options.Text("--kinds")) {
    const auto set = FaultSetFrom(*kinds);
    if (!set) return Usage("no such kinds of faults: " + *kinds);
    pass.kinds = *set;
  }
  const auto path = options.Text("--path");
  if (const std::string wrong = options.Wrong(); !wrong.empty()) return Usage(wrong);
  if (verb == "explore") return RunPasses({pass}) ? 0 : kFound;
  const std::optional<Scope> scope = ScopeOf(pass, pass.jobs);
  if (!scope) return Usage("no such job: " + pass.jobs);
  return TellOne(*scope, PathFrom(path.value_or("")));
}

}  // namespace
}  // namespace tfyarn::exhaustive

int main(int argc, char** argv) {
  // What is made once and for all must not be made in the arena.
  (void)tfyarn::policy::DefaultRetryableCodes();
  return tfyarn::exhaustive::Main({argv, static_cast<std::size_t>(argc)});
}
