#include "hosts/local/task_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tfyarn::hosts::task_places_test {
namespace {

const TaskId kWorker{.type = "worker", .index = 1};

ContainerId Container(std::int64_t id) {
  return {.application_attempt = {.application = {.cluster_timestamp = 1, .id = 1}, .attempt = 1},
          .id = id};
}

trace::TraceRecord Told(const ContainerId& container, AgentEvent event) {
  return {.fact = trace::AgentTold{.container = container, .event = std::move(event)}};
}

trace::TraceRecord Started(const ContainerId& container) {
  return Told(container, AgentStarted{.fence = {.container = container, .task = kWorker}});
}

TEST(TaskPlacesTest, ATaskIsInTheContainerOfItsNewestAgent) {
  TaskPlaces places;
  EXPECT_EQ(places.ContainerOf(kWorker), std::nullopt);
  places.Observe(Started(Container(2)));
  places.Observe(Told(Container(2), PortLeased{.port = 4000}));
  EXPECT_EQ(places.ContainerOf(kWorker), Container(2));
  EXPECT_EQ(places.PortIn(Container(2)), 4000);
  EXPECT_EQ(places.TaskIn(Container(2)), kWorker);
  EXPECT_THAT(places.Tasks(), testing::ElementsAre(kWorker));
  places.Observe(Started(Container(3)));
  EXPECT_EQ(places.ContainerOf(kWorker), Container(3));
  EXPECT_EQ(places.PortIn(Container(3)), std::nullopt);
}

TEST(TaskPlacesTest, AContainerThatIsGoneHoldsNothingAndHidesNoNewerOne) {
  TaskPlaces places;
  places.Observe(Started(Container(2)));
  places.Observe(Started(Container(3)));
  places.Observe({.fact = trace::ContainerGone{.container = Container(2)}});
  EXPECT_EQ(places.ContainerOf(kWorker), Container(3));
  places.Observe({.fact = trace::ContainerGone{.container = Container(3)}});
  EXPECT_EQ(places.ContainerOf(kWorker), std::nullopt);
  EXPECT_THAT(places.Tasks(), testing::ElementsAre());
}

}  // namespace
}  // namespace tfyarn::hosts::task_places_test
