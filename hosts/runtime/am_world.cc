#include "hosts/runtime/am_world.h"

#include <utility>

namespace tfyarn::hosts {
namespace {

std::int64_t GpusOf(const JobSpec& job) {
  std::int64_t gpus = 0;
  for (const TaskTypeSpec& type : job.tasks) gpus += type.resource.gpus * type.instances;
  return gpus;
}

yarn::FinalApplicationStatus FinalStatusOf(JobStatus status) {
  switch (status) {
    case JobStatus::kSucceeded:
      return yarn::FinalApplicationStatus::kSucceeded;
    case JobStatus::kKilled:
      return yarn::FinalApplicationStatus::kKilled;
    case JobStatus::kFailed:
    case JobStatus::kUnfinished:
      return yarn::FinalApplicationStatus::kFailed;
  }
  return yarn::FinalApplicationStatus::kFailed;
}

}  // namespace

std::vector<trace::Fact> AmWorld::Before(const trace::Fact& fact) {
  if (const auto* ordered = std::get_if<trace::AmOrdered>(&fact)) {
    if (const auto* verdict = std::get_if<VerdictReached>(&ordered->action))
      status_ = verdict->status;
    return {};
  }
  const auto* told = std::get_if<trace::AmTold>(&fact);
  if (told == nullptr) return {};
  if (const auto* started = std::get_if<AmStarted>(&told->event)) return Started(*started);
  if (const auto* replied = std::get_if<RmReplied>(&told->event)) return Replied(replied->response);
  return {};
}

std::vector<trace::Fact> AmWorld::After(const trace::Fact& fact) const {
  const auto* told = std::get_if<trace::AmTold>(&fact);
  const auto* replied = told == nullptr ? nullptr : std::get_if<RmReplied>(&told->event);
  const auto* finished =
      replied == nullptr ? nullptr
                         : std::get_if<yarn::FinishApplicationMasterResponse>(&replied->response);
  if (finished == nullptr || !finished->is_unregistered) return {};
  return {trace::ApplicationEnded{
      .job = trace::kOnlyJob, .application = application_, .final_status = FinalStatusOf(status_)}};
}

std::vector<trace::Fact> AmWorld::Started(const AmStarted& started) {
  application_ = started.attempt.application;
  std::vector<trace::Fact> facts{trace::JobRunStarted{.name = job_->name}};
  NodeId own{.host = started.address.host, .port = 0};
  for (const yarn::NodeReport& node : started.nodes) {
    if (node.node.host == own.host) own = node.node;
    facts.emplace_back(trace::NodeDeclared{.node = node.node,
                                           .rack = node.rack,
                                           .partition = node.partition,
                                           .capacity = node.capability});
  }
  facts.emplace_back(trace::JobCreated{.job = trace::kOnlyJob,
                                       .name = job_->name,
                                       .queue = job_->queue,
                                       .tasks = job_->task_count(),
                                       .gpus = GpusOf(*job_)});
  facts.emplace_back(trace::ContainerGranted{.job = trace::kOnlyJob,
                                             .container = started.container,
                                             .node = own,
                                             .resource = job_->am.resource,
                                             .am = true});
  return facts;
}

void AmWorld::Granted(const std::vector<yarn::Container>& containers,
                      std::vector<trace::Fact>& facts) {
  for (const yarn::Container& container : containers) {
    if (!held_.insert(container.id).second) continue;
    facts.emplace_back(trace::ContainerGranted{.job = trace::kOnlyJob,
                                               .container = container.id,
                                               .node = container.node,
                                               .resource = container.resource});
  }
}

std::vector<trace::Fact> AmWorld::Replied(const yarn::RmResponse& response) {
  std::vector<trace::Fact> facts;
  if (const auto* registered = std::get_if<yarn::RegisterApplicationMasterResponse>(&response)) {
    Granted(registered->containers_from_previous_attempts, facts);
  } else if (const auto* allocated = std::get_if<yarn::AllocateResponse>(&response)) {
    Granted(allocated->containers_from_previous_attempts, facts);
    Granted(allocated->allocated_containers, facts);
    for (const yarn::ContainerStatus& completed : allocated->completed_containers) {
      held_.erase(completed.id);
      facts.emplace_back(trace::ContainerFreed{
          .job = trace::kOnlyJob, .container = completed.id, .exit_status = completed.exit_status});
    }
  }
  return facts;
}

}  // namespace tfyarn::hosts
