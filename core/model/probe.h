// TF_PROBE("area/what"): a named place in the code at which something rare is decided.
//
// A probe does nothing for the program: no decision reads it. Explorers ask which places a run has
// passed, in which order, and which exist at all, passed or not. A probe that was passed costs a
// load and a branch that is never taken.
//
// Idea: FoundationDB's CODE_PROBE, TigerBeetle's src/testing/marks.zig. The list of all places is
// made by the linker, which puts what every TF_PROBE leaves in the section tf_probes side by side;
// so it may stand in sources only, not in headers and templates.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tfyarn {

/// One place. Lives as long as the program.
class ProbeSite {
 public:
  /// `area`: "" or what stands before the name and a slash. Both live as long as the program.
  constexpr ProbeSite(std::string_view area, std::string_view name) : area_(area), name_(name) {}

  void Pass() {
    if (rank_.load(std::memory_order_relaxed) == 0) [[unlikely]]
      PassFirst();
  }

  /// "failover/blame-window-over"; unique in a program.
  [[nodiscard]] std::string name() const;
  /// 1 for the place that was passed first since the last ForgetProbes, 2 for the next new one;
  /// 0 = not passed.
  [[nodiscard]] std::uint32_t rank() const { return rank_.load(std::memory_order_relaxed); }
  void Forget() { rank_.store(0, std::memory_order_relaxed); }

 private:
  void PassFirst();

  std::string_view area_;
  std::string_view name_;
  std::atomic<std::uint32_t> rank_ = 0;
};

/// Places side by side: one of the code, or one for each row of a table.
struct ProbeGroup {
  ProbeSite* sites = nullptr;
  std::size_t count = 0;
};

/// Every place of the program, by name.
[[nodiscard]] const std::vector<ProbeSite*>& AllProbes();
/// How many different places were passed since the last ForgetProbes, by any thread.
[[nodiscard]] std::uint32_t PassedProbes();
void ForgetProbes();

}  // namespace tfyarn

/// Adds a group of places, `first` and `size` constants, to AllProbes: at most one in a scope.
#define TF_PROBE_GROUP(first, size)                                                             \
  [[maybe_unused]] static constinit const ::tfyarn::ProbeGroup tf_probe_group{(first), (size)}; \
  [[gnu::used, gnu::retain,                                                                     \
    gnu::section("tf_probes")]] static const ::tfyarn::ProbeGroup* tf_probe_entry =             \
      &tf_probe_group

/// `place`: a literal, "area/what", that no other probe has.
#define TF_PROBE(place)                                            \
  do {                                                             \
    static constinit ::tfyarn::ProbeSite tf_probe_site("", place); \
    TF_PROBE_GROUP(&tf_probe_site, 1);                             \
    tf_probe_site.Pass();                                          \
  } while (false)
