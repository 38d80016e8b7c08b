// config knows some names only by heart, as it may not use what defines them. Here both are
// compared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "config/job_table.h"
#include "config/metric_names.h"
#include "core/policy/table.h"
#include "core/trace/result.h"

namespace tfyarn::config::agreement_test {
namespace {

TEST(AgreementTest, PolicyOptionsAreThoseOfThePolicies) {
  std::map<std::string, std::map<std::string, std::pair<std::string, bool>>> ours;
  for (const PolicyOptionInfo& option : PolicyOptions()) {
    ours[option.policy][option.name] = {option.allowed, option.per_type};
  }
  std::map<std::string, std::map<std::string, std::pair<std::string, bool>>> theirs;
  for (const policy::Table* table : policy::AllTables()) {
    for (const policy::OptionRow& option : table->options) {
      theirs[std::string(table->name)][std::string(option.name)] = {std::string(option.allowed),
                                                                    option.per_type};
    }
  }
  EXPECT_EQ(ours, theirs);
}

TEST(AgreementTest, PolicyNamesAreThoseOfThePolicies) {
  std::vector<std::string> theirs;
  for (const policy::Table* table : policy::AllTables()) theirs.emplace_back(table->name);
  const TypeInfo info = Policy().info;
  ASSERT_FALSE(info.of.empty());
  EXPECT_THAT(info.of[0].choices, testing::UnorderedElementsAreArray(theirs));
}

TEST(AgreementTest, EveryJobFieldOfExpectationsIsInAResult) {
  const trace::JobResult job;
  for (const MetricName& metric : JobMetrics()) {
    EXPECT_TRUE(trace::LookupField(job, metric.name).has_value()) << metric.name;
  }
}

}  // namespace
}  // namespace tfyarn::config::agreement_test
