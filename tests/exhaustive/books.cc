#include "tests/exhaustive/books.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "core/model/launch.h"
#include "core/model/text.h"
#include "core/policy/options.h"

namespace tfyarn::exhaustive {
namespace {

/// What an order may rest on, as a number.
enum class Entry : std::uint64_t { kLaunched = 1, kProcess = 2 };

std::uint64_t KeyOf(Entry entry, std::int64_t who, std::uint64_t number) {
  return static_cast<std::uint64_t>(entry) << 56 | static_cast<std::uint64_t>(who) << 32 | number;
}

void Insert(std::vector<std::uint64_t>& sorted, std::uint64_t key) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), key);
  if (at == sorted.end() || *at != key) sorted.insert(at, key);
}

bool Has(const std::vector<std::uint64_t>& sorted, std::uint64_t key) {
  return std::binary_search(sorted.begin(), sorted.end(), key);
}

}  // namespace

std::int8_t NumberOf(const JobSpec& job, const TaskId& task) {
  std::int32_t number = 0;
  for (const TaskTypeSpec& type : job.tasks) {
    if (type.name == task.type) return static_cast<std::int8_t>(number + task.index);
    number += type.instances;
  }
  return -1;
}

TaskId TaskOf(const JobSpec& job, std::int8_t number) {
  std::int32_t left = number;
  for (const TaskTypeSpec& type : job.tasks) {
    if (left < type.instances) return {.type = type.name, .index = left};
    left -= type.instances;
  }
  return {};
}

std::int8_t CountOf(const JobSpec& job) {
  return static_cast<std::int8_t>(job.task_count());
}

Books::Books(const JobSpec& job) : job_(&job) {
  const auto tasks = static_cast<std::size_t>(CountOf(job));
  spawns_.resize(tasks);
  restarts_.resize(tasks);
  epochs_.resize(tasks);
  ordered_.assign(tasks, -1);
  settled_.assign(tasks, -1);
}

void Books::Break(std::string_view rule, const std::string& what) {
  if (broken_.empty()) broken_ = fmt::format("{}: {}", rule, what);
}

// ---------------------------------------------------------------- processes

void Books::OnSpawn(const SpawnProcess& order, const HostPort& own, bool trains,
                    const std::vector<Living>& living) {
  const std::int8_t number = NumberOf(*job_, order.task);
  const auto task = static_cast<std::size_t>(number);
  const std::string name =
      fmt::format("{} attempt {}", ToString(order.task), order.process.attempt.value);
  const ClusterSpec* spec = order.spec.get();
  const auto type =
      spec == nullptr ? decltype(spec->tasks.end())() : spec->tasks.find(order.task.type);
  const auto index = static_cast<std::size_t>(order.task.index);
  if (spec == nullptr || type == spec->tasks.end() || index >= type->second.size())
    return Break("own-address", name + " is spawned under a cluster spec without it");
  const HostPort& told = type->second[index];
  const bool late = !trains && told.port == 0;
  if (!late && !(told == own))
    Break("own-address", fmt::format("{} is told {}:{}, and its agent holds {}:{}", name, told.host,
                                     told.port, own.host, own.port));
  if (Has(spawned_, KeyOf(Entry::kProcess, number, order.process.attempt.value)))
    Break("started-once", name + " is spawned a second time");
  Insert(spawned_, KeyOf(Entry::kProcess, number, order.process.attempt.value));
  if (++spawns_[task] > 1 + restarts_[task])
    Break("started-once", fmt::format("{} is the task's process {}, after {} restarts", name,
                                      spawns_[task], restarts_[task]));
  for (const Living& other : living) {
    if (other.task == number) Break("started-once", name + " is spawned beside an earlier one");
    const bool team = trains && other.trains && job_->strategy == Strategy::kMultiWorker;
    if (team && other.epoch != order.process.epoch)
      Break("one-spec", fmt::format("{} is spawned in epoch {} while {} runs in epoch {}", name,
                                    order.process.epoch.value, ToString(TaskOf(*job_, other.task)),
                                    other.epoch.value));
  }
  if (order.process.epoch < epochs_[task])
    Break("epochs", fmt::format("{} is spawned in epoch {} after epoch {}", name,
                                order.process.epoch.value, epochs_[task].value));
  epochs_[task] = order.process.epoch;
  if (!trains) return;
  specs_.resize(std::max<std::size_t>(specs_.size(), order.process.epoch.value + std::size_t{1}));
  std::uint64_t& known = specs_[order.process.epoch.value];
  if (known == 0) known = order.spec.id().value;
  if (known != order.spec.id().value)
    Break("one-spec", fmt::format("{} has another cluster spec than others of epoch {}", name,
                                  order.process.epoch.value));
}

// ---------------------------------------------------------------- the journal

void Books::OnStored(std::string_view journal) {
  const journal::JournalReading reading = journal::ReadJournalBytes(journal);
  if (reading.damaged) Break("durable", "the journal cannot be read");
  for (; entries_ < reading.entries.size(); ++entries_) Take(reading.entries[entries_].entry);
}

void Books::Take(const journal::JournalEntry& entry) {
  const auto ordered = [&](const journal::JournaledProcess& process) {
    const std::int8_t task = NumberOf(*job_, process.task);
    Insert(stored_, KeyOf(Entry::kProcess, task, process.attempt.value));
    ordered_[static_cast<std::size_t>(task)] = process.attempt.value;
  };
  if (const auto* launched = std::get_if<journal::AgentsLaunched>(&entry)) {
    for (const journal::JournaledAgent& agent : launched->agents)
      Insert(stored_, KeyOf(Entry::kLaunched, 0, static_cast<std::uint64_t>(agent.container.id)));
  } else if (const auto* began = std::get_if<journal::EpochBegan>(&entry)) {
    for (const journal::JournaledProcess& process : began->processes) ordered(process);
  } else if (const auto* processes = std::get_if<journal::ProcessesOrdered>(&entry)) {
    for (const journal::JournaledProcess& process : processes->processes) ordered(process);
  } else if (const auto* paid = std::get_if<journal::RestartPaid>(&entry)) {
    Payment payment{.budget = paid->budget,
                    .cause = NumberOf(*job_, paid->cause.task),
                    .exit_class = paid->cause.exit_class};
    for (const TaskId& id : paid->tasks) {
      payment.tasks |= 1U << NumberOf(*job_, id);
      const auto task = static_cast<std::size_t>(NumberOf(*job_, id));
      ++restarts_[task];
      settled_[task] = ordered_[task];
    }
    payments_.push_back(payment);
    CheckBudget(paid->budget);
  } else if (const auto* ended = std::get_if<journal::TaskEnded>(&entry)) {
    const auto task = static_cast<std::size_t>(NumberOf(*job_, ended->task));
    settled_[task] = std::max<std::int64_t>(settled_[task], ended->process.attempt.value);
  } else if (const auto* verdict = std::get_if<journal::VerdictDecided>(&entry)) {
    const std::string status = fmt::format("{} by {}", KebabName(verdict->status), verdict->rule);
    if (!status_stored_.empty() && status_stored_ != status)
      Break("final-once", fmt::format("stored as {}, then as {}", status_stored_, status));
    status_stored_ = status;
  }
}

void Books::CheckBudget(Budget budget) {
  const auto paid = std::count_if(payments_.begin(), payments_.end(),
                                  [&](const Payment& one) { return one.budget == budget; });
  const std::optional<std::int32_t> allowed = Allowed(budget);
  if (allowed && paid > *allowed)
    Break("budgets", fmt::format("{} restarts are paid by {}, which allows {}", paid,
                                 KebabName(budget), *allowed));
}

std::optional<std::int32_t> Books::Allowed(Budget budget) const {
  if (budget == Budget::kNone) return std::nullopt;
  if (budget == Budget::kInfrastructure) return job_->retries.infrastructure;
  const auto option = [&](const char* name) {
    const auto found = job_->policy.options.find(name);
    return found == job_->policy.options.end() ? std::nullopt : policy::ParseCount(found->second);
  };
  if (job_->policy.name == "tony") return option("retry_count").value_or(job_->retries.user);
  if (job_->policy.name != "tfjob") return job_->retries.user;
  if (const auto limit = option("backoff_limit")) return limit;
  return job_->retries.user > 0 ? std::optional(job_->retries.user) : std::nullopt;
}

// ---------------------------------------------------------------- what the AM says

void Books::OnOrdered(const AmAction& action) {
  if (const auto* send = std::get_if<SendToAgent>(&action)) return OnOrdered(*send);
  if (const auto* call = std::get_if<CallNm>(&action)) return OnOrdered(*call);
  if (const auto* rm = std::get_if<CallRm>(&action)) return OnOrdered(*rm);
  if (std::holds_alternative<RestartDecided>(action) && ++restarts_said_ > payments_.size())
    Break("durable", "a restart is announced that is not stored");
}

void Books::OnOrdered(const SendToAgent& send) {
  if (const auto* start = std::get_if<StartProcess>(&send.message)) {
    const TaskId& task = start->fence.task;
    if (!Has(stored_, KeyOf(Entry::kProcess, NumberOf(*job_, task), start->process.attempt.value)))
      Break("durable", fmt::format("{} attempt {} is ordered and not stored", ToString(task),
                                   start->process.attempt.value));
    if (decided())
      Break("after-final", fmt::format("{} is ordered after the verdict", ToString(task)));
  } else if (const auto* seen = std::get_if<ReportSeen>(&send.message)) {
    if (seen->kind != ReportKind::kProcessEnded || !status_stored_.empty()) return;
    const TaskId& task = seen->fence.task;
    if (settled_[static_cast<std::size_t>(NumberOf(*job_, task))] < seen->attempt.value)
      Break("durable", fmt::format("the end of {} attempt {} is answered and not stored",
                                   ToString(task), seen->attempt.value));
  }
}

void Books::OnOrdered(const CallNm& call) {
  const auto* start = std::get_if<yarn::StartContainersRequest>(&call.request);
  if (start == nullptr) return;
  for (const yarn::StartContainerRequest& one : start->containers) {
    if (!Has(stored_, KeyOf(Entry::kLaunched, 0, static_cast<std::uint64_t>(one.container.id))))
      Break("durable", ToString(one.container) + " is launched and not stored");
    if (decided()) Break("after-final", ToString(one.container) + " is launched after the verdict");
  }
}

void Books::OnOrdered(const CallRm& call) {
  const auto* finish = std::get_if<yarn::FinishApplicationMasterRequest>(&call.request);
  if (finish == nullptr) return;
  const std::string told = KebabName(finish->final_status);
  if (!status_.starts_with(told))
    Break("final-once", fmt::format("the RM is told {}, and the verdict is '{}'", told, status_));
}

void Books::OnVerdict(const VerdictReached& verdict) {
  const std::string status = fmt::format("{} by {}", KebabName(verdict.status), verdict.rule);
  if (status_stored_ != status)
    Break("durable",
          fmt::format("the verdict {} is announced, and stored is '{}'", status, status_stored_));
  if (!status_.empty() && status_ != status)
    Break("final-once", fmt::format("the verdict was {} and becomes {}", status_, status));
  status_ = status;
}

void Books::AppendTo(std::vector<std::uint64_t>& words) const {
  const auto numbers = [&](const auto& list) {
    words.push_back(list.size());
    for (const auto number : list) words.push_back(static_cast<std::uint64_t>(number));
  };
  numbers(stored_);
  numbers(spawned_);
  numbers(spawns_);
  numbers(restarts_);
  numbers(ordered_);
  numbers(settled_);
  numbers(specs_);
  for (const Epoch epoch : epochs_) words.push_back(epoch.value);
  words.insert(words.end(),
               {payments_.size(), restarts_said_, status_.size(), status_stored_.size()});
}

}  // namespace tfyarn::exhaustive
