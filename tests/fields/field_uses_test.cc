// Every decoded field is used or refused: the whole field table of job.yaml and scenario.yaml, and
// the parameters of faults, against uses.txt. For each host a field has a pair of values that
// leads to two outcomes there, a test of its own, or a note that the host ignores it; and what a
// host is said to ignore makes no difference to it.
//
// What reads a field decides where a pair has to show. What the client hands to a ResourceManager
// counts only as far as the host makes something of it; all else is read by AM, agents and client,
// which every host runs as the simulator does.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "config/fault_kinds.h"
#include "config/reference_tree.h"
#include "tests/fields/observe.h"
#include "tests/fields/use_table.h"

namespace tfyarn::field_uses_test {
namespace {

using config::Host;

std::string SourceDir() {
  const char* directory = std::getenv("TFYARN_SOURCE_DIR");
  return directory != nullptr ? directory : ".";
}

std::string NameOf(Host host) {
  switch (host) {
    case Host::kSimulator:
      return "simulator";
    case Host::kMachine:
      return "machine";
    case Host::kCluster:
      return "cluster";
  }
  return "";
}

/// Of one field: which hosts decode it, and which of them ignore it.
struct Hosts {
  std::set<Host> all;
  std::set<Host> ignoring;
};
using Fields = std::map<std::string, Hosts>;

/// Which fields hold values of a record, by its name.
using Holders = std::map<std::string, std::set<std::string>>;

const Holders& AllHolders() {
  static const Holders holders = [] {
    Holders all;
    for (const config::FileKind kind : {config::FileKind::kScenario, config::FileKind::kJob}) {
      for (const config::PlacedRecord& placed : config::AllRecords(kind)) {
        for (const config::FieldInfo& field : placed.record->fields) {
          for (const config::RecordInfo* inner : config::RecordsIn(field.type))
            all[inner->name].insert(placed.record->name + "." + field.name);
        }
      }
    }
    return all;
  }();
  return holders;
}

/// The fields of the record that it holds say what it is for, unless another field holds such a
/// record, too, or it may be something else.
bool SpeaksByItsRecord(const config::FieldInfo& field) {
  const auto inner = config::RecordsIn(field.type);
  if (inner.empty() || field.type.shape == config::Shape::kAnyOf) return false;
  return AllHolders().at(inner[0]->name).size() == 1;
}

void Walk(const config::RecordInfo& record, const std::set<Host>& hosts,
          const std::set<Host>& ignoring, Fields& fields) {
  for (const config::FieldInfo& field : record.fields) {
    std::set<Host> without = ignoring;
    for (const auto& [host, why] : field.ignored_by) without.insert(host);
    for (const config::RecordInfo* each : config::RecordsIn(field.type))
      Walk(*each, hosts, without, fields);
    if (SpeaksByItsRecord(field)) continue;
    Hosts& of = fields[record.name + "." + field.name];
    of.all.insert(hosts.begin(), hosts.end());
    of.ignoring.insert(without.begin(), without.end());
  }
}

const Fields& AllFields() {
  static const Fields fields = [] {
    Fields all;
    Walk(config::RootOf(config::FileKind::kScenario), {Host::kSimulator}, {}, all);
    Walk(config::RootOf(config::FileKind::kJob), {Host::kMachine, Host::kCluster}, {}, all);
    for (const config::FaultKind& kind : config::FaultKinds()) {
      for (const config::FaultParam& param : kind.params)
        all["fault " + kind.name + "." + param.name].all = {Host::kSimulator};
    }
    for (auto& [name, hosts] : all)
      std::erase_if(hosts.ignoring, [&](Host host) { return !hosts.all.contains(host); });
    return all;
  }();
  return fields;
}

const UseTable& Uses() {
  static const UseTable table = ReadUses(SourceDir() + "/tests/fields/uses.txt");
  return table;
}

Observed Seen(const Pair& pair, const std::string& value) {
  std::vector<std::string> sets = pair.with;
  if (!value.empty()) sets.push_back(value);
  return Observe(Uses().bases.at(pair.base), sets, SourceDir() + "/tests/fields");
}

/// Whether the two outcomes differ where the host can show it.
bool Differ(Host host, const Observed& one, const Observed& other) {
  const bool runs = one.run != other.run;
  if (host == Host::kSimulator) return runs;
  if (one.plans.at(host) != other.plans.at(host)) return true;
  return runs && one.submission == other.submission;
}

/// Whether the two are the same to a host that ignores the field: what its AM would heed it has
/// taken out.
bool AreTheSame(Host host, const Observed& one, const Observed& other) {
  return host == Host::kSimulator ? one.run == other.run
                                  : one.plans.at(host) == other.plans.at(host);
}

TEST(FieldUsesTest, TheTableIsSound) {
  for (const std::string& problem : Uses().problems) ADD_FAILURE() << problem;
  for (const Use& use : Uses().uses) {
    EXPECT_TRUE(AllFields().contains(use.field))
        << "uses.txt:" << use.line << ": there is no field " << use.field;
  }
}

TEST(FieldUsesTest, EachNamedTestExists) {
  for (const Use& use : Uses().uses) {
    for (const NamedTest& test : use.tests) {
      std::ifstream in(SourceDir() + "/" + test.file);
      std::stringstream text;
      text << in.rdbuf();
      EXPECT_NE(text.str().find(test.text), std::string::npos)
          << "uses.txt:" << use.line << ": " << use.field << ": " << test.file
          << " has no such text: " << test.text;
    }
  }
}

TEST(FieldUsesTest, EveryFieldHasAUseOrANoteForEachHost) {
  std::map<std::string, std::set<Host>> shown;
  for (const Use& use : Uses().uses) {
    const auto field = AllFields().find(use.field);
    if (field == AllFields().end()) continue;
    const Hosts& hosts = field->second;
    for (const NamedTest& test : use.tests) shown[use.field].merge(std::set<Host>(test.hosts));
    for (const Pair& pair : use.pairs) {
      const Observed one = Seen(pair, pair.one);
      const Observed other = Seen(pair, pair.other);
      EXPECT_EQ(one.error + other.error, "") << "uses.txt:" << use.line << ": " << use.field;
      if (!one.error.empty() || !other.error.empty()) continue;
      for (const Host host : hosts.all) {
        if (hosts.ignoring.contains(host)) {
          EXPECT_TRUE(AreTheSame(host, one, other))
              << "uses.txt:" << use.line << ": " << use.field << " is said to be ignored by the "
              << NameOf(host) << ", and makes a difference";
        } else if (Differ(host, one, other)) {
          shown[use.field].insert(host);
        }
      }
    }
  }
  for (const auto& [field, hosts] : AllFields()) {
    for (const Host host : hosts.all) {
      EXPECT_TRUE(hosts.ignoring.contains(host) || shown[field].contains(host))
          << field << ": nothing shows what it is for on the " << NameOf(host)
          << ", and no note says that it is ignored there";
    }
    for (const Host host : hosts.ignoring)
      EXPECT_FALSE(shown[field].contains(host)) << field << " on the " << NameOf(host);
  }
}

}  // namespace
}  // namespace tfyarn::field_uses_test
