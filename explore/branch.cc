#include "explore/branch.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/fault_kinds.h"

namespace tfyarn::explore {
namespace {

/// As many as a drawn scenario of its kind has at most, and one more where any end will do.
constexpr std::size_t kMostFaults = 4;
constexpr std::size_t kMostOfHealthy = 2;
constexpr std::size_t kMostFutures = 3;
/// Faults are drawn to begin within this time, or at a moment of the first phase.
constexpr Duration kFirstEnds = 2min;

/// As long as it lasts; where nothing is said, as long as any drawn one.
Duration Lasts(const Node& fault) {
  return fault.Find("for") != nullptr ? TimeAt(fault, "for") : Duration(15min);
}

bool KeepsAmsFromStarting(const Node& fault) {
  const config::FaultKind* kind = config::FindFaultKind(TextAt(fault, "kind"));
  return kind != nullptr && kind->drawing.keeps_ams_from_starting;
}

class Brancher {
 public:
  Brancher(const KeptRun& run, Draw& draw)
      : run_(run), draw_(draw), document_(DocumentOf(run.document).value_or(Node{})) {
    healthy_ = run.sketch.healthy;
    harmless_ = MustCostTimeOnly(document_);
  }

  Node Finish() {
    const int form = static_cast<int>(draw_.Whole(0, 9));
    const int changes = form < 6 ? 1 : form < 9 ? 2 : 3;
    for (int i = 0; i < changes; ++i) Change();
    if (faults().empty()) Remove(document_, "faults");
    if (document_.Find("expect") != nullptr) {
      Set(document_, "horizon", Time(TimeAt(document_, "horizon") + longer_));
      if (!healthy_) ExpectAnyEnd();
      if (!healthy_ || !harmless_) ExpectAnyCost();
    }
    return std::move(document_);
  }

 private:
  std::vector<Node>& faults() { return ListAt(document_, "faults").items; }

  void Change() {
    const int form = static_cast<int>(draw_.Whole(0, 99));
    if (form < 30) return AnotherFuture();
    if (form < 55) return OneMore();
    if (form < 70) return AnotherTime();
    if (form < 80) return OneLess();
    if (form < 90) return AnotherFault();
    if (form < 95) return AnotherSeed();
    OtherSurroundings();
  }

  /// When the run reached something new, or anything: right then, soon after it, or a little
  /// before.
  Duration NearMoment() {
    const auto& moments = draw_.Percent(60) ? run_.news : run_.reached;
    const Duration moment = draw_.Of(moments).at.time_since_epoch();
    const int form = static_cast<int>(draw_.Whole(0, 9));
    if (form < 3) return moment + Duration(1us);
    const Duration away = draw_.Time(1us, 20s);
    if (form < 8) return moment + away;
    return std::max<Duration>(moment - away, Duration::zero());
  }

  static Duration Rounded(Duration time) { return time / 1us * 1us; }

  /// The run may take longer by what a fault that strikes at a time takes.
  void Takes(const Node& fault) {
    longer_ +=
        std::max<Duration>(TimeAt(fault, "at") - kFirstEnds, Duration::zero()) + Lasts(fault);
  }

  void AnotherFuture() {
    std::vector<Node>& futures = ListAt(document_, "futures").items;
    const Duration from = Rounded(NearMoment());
    std::erase_if(futures, [&](const Node& future) { return TimeAt(future, "from") >= from; });
    if (futures.size() == kMostFutures) futures.erase(futures.begin());
    futures.push_back(Map({{"from", Time(from)}, {"seed", Number(draw_.Whole(1, 1'000'000))}}));
  }

  void AnotherSeed() { Set(document_, "seed", Number(draw_.Whole(1, 1'000'000))); }

  void OneMore() {
    const bool may_succeed = faults().size() < kMostOfHealthy && !HasOutageOfHdfs();
    if (faults().size() >= kMostFaults) return AnotherTime();
    std::optional<Node> fault = DrawnFault();
    if (!fault) return AnotherFuture();
    healthy_ = healthy_ && may_succeed;
    harmless_ = false;
    faults().push_back(std::move(*fault));
  }

  [[nodiscard]] bool HasOutageOfHdfs() {
    return std::any_of(faults().begin(), faults().end(), KeepsAmsFromStarting);
  }

  /// One that strikes near the moment. A node that it takes away comes back.
  std::optional<Node> DrawnFault() {
    Sketch sketch = run_.sketch;
    sketch.nodes_for_ams = std::min<std::int64_t>(sketch.nodes_for_ams, 1);
    DrawnFaults drawn =
        DrawFaults(static_cast<std::uint64_t>(draw_.Whole(1, 1LL << 62)), sketch, 1);
    if (drawn.list.items.empty()) return std::nullopt;
    Node fault = std::move(drawn.list.items.front());
    StrikeNearMoment(fault);
    Takes(fault);
    return fault;
  }

  /// What must cost nothing but time does so only at its own moment.
  void StrikeNearMoment(Node& fault) {
    harmless_ = false;
    // Without HDFS YARN starts no AM: it must be there at first.
    if (KeepsAmsFromStarting(fault)) healthy_ = false;
    Remove(fault, "when");
    Remove(fault, "after");
    Remove(fault, "every");
    Remove(fault, "per");
    Set(fault, "at", Time(Rounded(NearMoment())));
  }

  /// A drawn fault that others do not wait for.
  std::optional<std::size_t> AnyFault() {
    if (faults().empty()) return std::nullopt;
    return static_cast<std::size_t>(draw_.Whole(0, static_cast<std::int64_t>(faults().size()) - 1));
  }

  void AnotherTime() {
    const auto chosen = AnyFault();
    if (!chosen) return AnotherFuture();
    Node& fault = faults()[*chosen];
    const int form = static_cast<int>(draw_.Whole(0, 9));
    if (form < 6) {
      StrikeNearMoment(fault);
      return Takes(fault);
    }
    if (form < 8 && fault.Find("for") != nullptr) {
      const Duration lasts = TimeAt(fault, "for");
      // No longer than it was: some kinds must be over in time.
      if (lasts > 20ms) Set(fault, "for", Time(draw_.Time(10ms, lasts)));
      return;
    }
    const std::string key = fault.Find("at") != nullptr ? "at" : "after";
    const Duration was = TimeAt(fault, key);
    const Duration away = draw_.Time(1us, 30s);
    harmless_ = false;
    const bool later = draw_.Percent(50) || was < away;
    Set(fault, key, Time(Rounded(later ? was + away : was - away)));
    if (later) longer_ += away;
  }

  /// Positions that other faults wait for change with it.
  void OneLess() {
    const auto chosen = AnyFault();
    if (!chosen) return AnotherFuture();
    std::vector<Node>& all = faults();
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(*chosen));
    for (Node& fault : all) {
      if (fault.FindPath("when.fault") == nullptr) continue;
      const std::int64_t position = NumberAt(fault, "when.fault");
      const auto gone = static_cast<std::int64_t>(*chosen);
      if (position == gone) {
        StrikeNearMoment(fault);
        Takes(fault);
      } else if (position > gone) {
        Set(MapAt(fault, "when"), "fault", Number(position - 1));
      }
    }
  }

  void AnotherFault() {
    const auto chosen = AnyFault();
    if (!chosen) return OneMore();
    if (std::optional<Node> fault = DrawnFault()) faults()[*chosen] = std::move(*fault);
  }

  /// What surrounds the jobs, of another drawn scenario, with which a job that must succeed may
  /// fail in its own right.
  void OtherSurroundings() {
    const Node other = DrawScenario(static_cast<std::uint64_t>(draw_.Whole(1, 1LL << 62)));
    static const std::vector<std::string> kParts = {
        "cluster.network",    "hdfs.latency", "yarn.scheduler",
        "yarn.localize",      "yarn.launch",  "yarn.am_launch",
        "yarn.sigkill_delay", "yarn.tokens",  "yarn.work_preserving_restart"};
    const std::string& path = draw_.Of(kParts);
    const std::size_t dot = path.find('.');
    const std::string key = path.substr(dot + 1);
    Node& holder = MapAt(document_, path.substr(0, dot));
    if (const Node* part = other.FindPath(path)) {
      Set(holder, key, *part);
    } else {
      Remove(holder, key);
    }
    healthy_ = false;
    longer_ += TimeAt(other, "horizon");
  }

  void ExpectAnyEnd() {
    for (Node& row : ListAt(document_, "expect").items) {
      if (row.Find("status") != nullptr)
        Set(row, "status", List({Text("SUCCEEDED"), Text("FAILED"), Text("KILLED")}));
    }
  }

  void ExpectAnyCost() {
    for (Node& row : ListAt(document_, "expect").items) {
      for (const std::string_view key : kCosts) Remove(row, key);
    }
  }

  static constexpr std::array<std::string_view, 3> kCosts = {"epochs", "restarts", "jct_seconds"};

  static bool MustCostTimeOnly(const Node& document) {
    const Node* expect = document.Find("expect");
    return expect != nullptr &&
           std::any_of(expect->items.begin(), expect->items.end(),
                       [](const Node& row) { return row.Find(kCosts.front()) != nullptr; });
  }

  const KeptRun& run_;
  Draw& draw_;
  Node document_;
  bool healthy_ = false;
  bool harmless_ = false;
  Duration longer_{};
};

}  // namespace

Node Branch(const KeptRun& run, Draw& draw) {
  return Brancher(run, draw).Finish();
}

}  // namespace tfyarn::explore
