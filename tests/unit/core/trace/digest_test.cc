#include "core/trace/digest.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "core/trace/json.h"

namespace tfyarn::trace::digest_test {
namespace {

DigestValue DigestOf(const TraceRecord& record) {
  Digest digest;
  digest.Add(record);
  return digest.value();
}

/// Changes every described member of a record, one at a time, and everything that can be inside it;
/// after each change the digest must be one that was never seen before.
class Prober {
 public:
  explicit Prober(const TraceRecord& record) : record_(record) {}

  void Look(const std::string& path) {
    ++states_;
    const auto [entry, is_new] = seen_.emplace(DigestOf(record_), path);
    EXPECT_TRUE(is_new) << path << " gives the digest of another record";
    // A recording is read back with what it says: every member, under its own name.
    const auto read = RecordFromJson(RecordJson(record_));
    ASSERT_TRUE(read) << path << ": " << RecordJson(record_);
    if (path.ends_with("task.index") || path.ends_with("tasks[].index"))
      return;  // Of a task without a type, which none has.
    EXPECT_EQ(DigestOf(read->record), entry->first) << path << ": " << RecordJson(record_);
  }

  template <class T>
  void Change(T& value, const std::string& path) {
    if constexpr (std::is_same_v<T, bool>) {
      Try(value, !value, path);
    } else if constexpr (std::is_integral_v<T>) {
      Try(value, static_cast<T>(value + 1), path);
    } else if constexpr (std::is_same_v<T, std::string>) {
      Try(value, value + "x", path);
      Try(value, value + std::string(1, '\0'), path + " with a NUL");
    } else if constexpr (SharedById<T>) {
      Try(value, SpecRef(value.id().next(), nullptr), path);
    } else if constexpr (kIsTimePoint<T>) {
      Try(value, value + typename T::duration(1), path);
    } else if constexpr (kIsDuration<T>) {
      Try(value, value + T(1), path);
    } else if constexpr (StrongNumber<T>) {
      Try(value, value.next(), path);
    } else if constexpr (DescribedEnum<T>) {
      boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>([&](auto d) {
        if (d.value != value) Try(value, T{d.value}, path + "=" + d.name);
      });
    } else {
      ChangeInside(value, path);
    }
  }

  [[nodiscard]] std::size_t states() const { return states_; }

 private:
  template <class T>
  void Try(T& value, T other, const std::string& path) {
    std::swap(value, other);
    Look(path);
    std::swap(value, other);
  }

  template <class T>
  void ChangeInside(T& value, const std::string& path) {
    if constexpr (kIsOptional<T>) {
      ASSERT_FALSE(value.has_value()) << path;
      value.emplace();
      Look(path + " set");
      Change(*value, path + "?");
      value.reset();
    } else if constexpr (kIsPair<T>) {
      Change(value.first, path + ".first");
      Change(value.second, path + ".second");
    } else if constexpr (kIsSharedList<T>) {
      value = std::vector<typename T::value_type>(1);
      Look(path + " longer");
      // No other value has this list yet.
      Change(const_cast<typename T::value_type&>(value[0]), path + "[]");
      value = {};
    } else if constexpr (kIsVector<T>) {
      value.emplace_back();
      Look(path + " longer");
      Change(value.back(), path + "[]");
      value.pop_back();
    } else if constexpr (kIsMap<T>) {
      value.emplace("key", typename T::mapped_type{});
      Look(path + " with a key");
      Change(value.at("key"), path + "[key]");
      value.clear();
    } else if constexpr (kIsVariant<T>) {
      ChangeAlternatives(value, path);
    } else {
      ForEachMember(value, [&](std::string_view name, auto& member) {
        Change(member, path + "." + std::string(name));
      });
    }
  }

  template <class V>
  void ChangeAlternatives(V& value, const std::string& path) {
    const std::size_t original = value.index();
    boost::mp11::mp_for_each<boost::mp11::mp_iota_c<std::variant_size_v<VariantOf<V>>>>(
        [&](auto i) {
          auto& alternative = value.template emplace<i>();
          const std::string inside =
              path + "<" + std::string(TypeName<std::remove_reference_t<decltype(alternative)>>()) +
              ">";
          if (i != original) Look(inside);
          Change(alternative, inside);
        });
    boost::mp11::mp_for_each<boost::mp11::mp_iota_c<std::variant_size_v<VariantOf<V>>>>(
        [&](auto i) {
          if (i == original) value.template emplace<i>();
        });
  }

  const TraceRecord& record_;
  std::map<DigestValue, std::string> seen_;
  std::size_t states_ = 0;
};

// And nothing of it is lost in a recording's line.
//
// Generated from the descriptions, so a record that is described tomorrow is covered tomorrow.
TEST(DigestTest, AnyChangedMemberOfAnyRecordChangesTheDigest) {
  TraceRecord record;
  Prober prober(record);
  prober.Look("the default record");
  prober.Change(record.at, "at");
  prober.Change(record.fact, "fact");
  EXPECT_GT(prober.states(), 1000U);
}

TEST(DigestTest, TheOrderOfRecordsCounts) {
  const TraceRecord first{.at = Instant(1ns), .fact = NodePower{}};
  const TraceRecord second{.at = Instant(1ns), .fact = FaultEnded{}};
  Digest forward, backward;
  forward.Add(first);
  forward.Add(second);
  backward.Add(second);
  backward.Add(first);
  EXPECT_NE(forward.value(), backward.value());
}

TEST(DigestTest, LettersDoNotMoveBetweenNeighbouringStrings) {
  EXPECT_NE(DigestOf({.fact = InvariantBroken{.invariant = "ab", .detail = "c"}}),
            DigestOf({.fact = InvariantBroken{.invariant = "a", .detail = "bc"}}));
}

TEST(DigestTest, LookingAtTheValueDoesNotDisturbIt) {
  Digest watched, alone;
  std::set<DigestValue> values;
  for (int i = 0; i < 5000; ++i) {
    const TraceRecord record{
        .at = Instant(Duration(i)),
        .fact = InvariantBroken{.invariant = "x", .detail = std::string(20, 'y')}};
    watched.Add(record);
    alone.Add(record);
    values.insert(watched.value());
  }
  EXPECT_EQ(watched.value(), alone.value());
  EXPECT_EQ(values.size(), 5000U);
  EXPECT_EQ(watched.records(), 5000U);
}

TEST(DigestTest, ARecordLargerThanAnyBufferIsHashedWhole) {
  std::string large(300'000, 'a');
  const DigestValue before = DigestOf({.fact = InvariantBroken{.invariant = "", .detail = large}});
  large[150'000] = 'b';
  EXPECT_NE(DigestOf({.fact = InvariantBroken{.invariant = "", .detail = large}}), before);
}

TEST(DigestTest, ASpecCountsByItsIdAlone) {
  const SpecRef full = Share({.epoch = Epoch(1), .tasks = {{"worker", {{"n1", 2222}}}}});
  const auto record = [](SpecRef spec) {
    return TraceRecord{
        .fact = AmOrdered{.action = SpecAssembled{.spec = std::move(spec), .epoch = Epoch(1)}}};
  };
  EXPECT_EQ(DigestOf(record(full)), DigestOf(record(SpecRef(full.id(), nullptr))));
}

// Blocks that a list shares with the one before it are not hashed again.
TEST(DigestTest, WhatNodeListsShareDoesNotCount) {
  std::vector<yarn::NodeReport> reports(100);
  for (std::size_t i = 0; i < reports.size(); ++i) reports[i].node.port = static_cast<int>(i);
  const SharedList<yarn::NodeReport> list(reports);
  yarn::NodeReport lost = reports[40];
  lost.state = yarn::NodeState::kLost;
  reports[40] = lost;
  const auto digest_of = [&](const SharedList<yarn::NodeReport>& second) {
    Digest digest;
    for (const auto& nodes : {list, second, list, SharedList<yarn::NodeReport>()}) {
      AmStarted started;
      started.nodes = nodes;
      digest.Add({.fact = AmTold{.event = started}});
    }
    return digest.value();
  };
  EXPECT_EQ(digest_of(list.With({{40, lost}})), digest_of(reports));
  EXPECT_NE(digest_of(list.With({{41, lost}})), digest_of(reports));
  EXPECT_NE(digest_of(list), digest_of(reports));
}

// The same on every compiler, optimisation level and byte order. A change here is a change of every
// stored digest: raise the version and say so in the changelog.
TEST(DigestTest, TheFormIsPinned) {
  Digest digest;
  EXPECT_EQ(ToString(digest.value()), "99aa06d3014798d86001c324468d497f");
  digest.Add({.at = Instant(1500ms),
              .fact = RunStarted{.scenario = "pinned", .scenario_digest = 7, .seed = 3}});
  AmStarted started;
  started.attempt = {{1, 2}, 3};
  started.nodes = {{.node = {"n1", 8041},
                    .rack = "/r1",
                    .capability = {.memory_mb = 1, .vcores = 2, .gpus = 3}}};
  digest.Add(
      {.at = Instant(2s), .fact = AmTold{.job = JobIndex(4), .am_attempt = 5, .event = started}});
  EXPECT_EQ(ToString(digest.value()), "e83a86dca878c40b70314c37640828c5");
}

// It counts by the hash of its elements, too, and not as no hash at all.
TEST(DigestTest, TheFormOfAnEmptyListThatComesFirstIsPinned) {
  EXPECT_EQ(ToString(DigestOf({.fact = AmTold{.event = AmStarted{}}})),
            "148415164f27ed508be0eb20c7e627b7");
}

}  // namespace
}  // namespace tfyarn::trace::digest_test
