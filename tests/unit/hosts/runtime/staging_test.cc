#include "hosts/runtime/staging.h"

#include <gtest/gtest.h>

#include "core/model/text.h"

namespace tfyarn::hosts::staging_test {
namespace {

StagedFacts Sample() {
  return {.facts = {.nodes = std::vector<yarn::NodeReport>{{.node = {.host = "gpu-1", .port = 8041},
                                                            .rack = "/r1",
                                                            .capability = {.memory_mb = 4096}}},
                    .queue_maximum = {{"", {.memory_mb = 8192, .vcores = 4}},
                                      {"gpu", {.memory_mb = 4096, .gpus = 2}}},
                    .maximum_container = {.memory_mb = 2048}},
          .surveyed = WallTime(1'700'000'000'000ms),
          .agent_context = {.local_resources = {{"job.yaml", {.path = "/a/job.yaml", .size = 5}}},
                            .environment = {{"LANG", "C"}},
                            .command = {"/bin/tfyarn-agent"}}};
}

TEST(StagingTest, FactsComeBackAsTheyWere) {
  const auto back = StagedFactsFrom(ToBytes(Sample()));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(ToText(*back), ToText(Sample()));
}

TEST(StagingTest, CutOrLongerFactsAreDataLoss) {
  const std::string bytes = ToBytes(Sample());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto cut = StagedFactsFrom(std::string_view(bytes).substr(0, size));
    ASSERT_FALSE(cut) << size;
    EXPECT_EQ(cut.error().code, ErrorCode::kDataLoss);
  }
  EXPECT_FALSE(StagedFactsFrom(bytes + "x"));
}

}  // namespace
}  // namespace tfyarn::hosts::staging_test
