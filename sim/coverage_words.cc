#include "sim/coverage_words.h"

#include <variant>

#include "core/model/visit.h"
#include "core/policy/table.h"

namespace tfyarn::sim {
namespace {

constexpr std::size_t kJobStates = 7;
static_assert(static_cast<std::size_t>(JobState::kFinished) + 1 == kJobStates);
constexpr std::size_t kLinks = 4;
constexpr std::size_t kProcesses = 5;
static_assert(static_cast<std::size_t>(agent::LinkState::kSearching) + 1 == kLinks);
static_assert(static_cast<std::size_t>(agent::ProcessState::kKilled) + 1 == kProcesses);

template <class Variant>
std::vector<std::string> TypeNames() {
  std::vector<std::string> names;
  boost::mp11::mp_for_each<boost::mp11::mp_transform<boost::mp11::mp_identity, Variant>>(
      [&]<class T>(boost::mp11::mp_identity<T>) { names.emplace_back(TypeName<T>()); });
  return names;
}

/// Rows of what an AM hears, after the agents' messages.
enum class AmHeard {
  kAmStarted,
  kJournalRead,
  kJournalAppended,
  kJournalFailed,
  kRmRegistered,
  kRmGranted,
  kRmCompleted,
  kRmNodes,
  kRmPreemption,
  kRmEarlierContainers,
  kRmNothing,
  kRmFinished,
  kRmError,
  kNmStarted,
  kNmRefused,
  kNmStopped,
  kNmError,
  kHdfsFound,
  kHdfsError
};
BOOST_DESCRIBE_ENUM(AmHeard, kAmStarted, kJournalRead, kJournalAppended, kJournalFailed,
                    kRmRegistered, kRmGranted, kRmCompleted, kRmNodes, kRmPreemption,
                    kRmEarlierContainers, kRmNothing, kRmFinished, kRmError, kNmStarted, kNmRefused,
                    kNmStopped, kNmError, kHdfsFound, kHdfsError)

std::vector<AmHeard> HeardFromRm(const yarn::RmResponse& response) {
  if (std::holds_alternative<yarn::RpcError>(response)) return {AmHeard::kRmError};
  if (std::holds_alternative<yarn::RegisterApplicationMasterResponse>(response))
    return {AmHeard::kRmRegistered};
  const auto* allocated = std::get_if<yarn::AllocateResponse>(&response);
  if (allocated == nullptr) return {AmHeard::kRmFinished};
  std::vector<AmHeard> heard;
  if (!allocated->allocated_containers.empty()) heard.push_back(AmHeard::kRmGranted);
  if (!allocated->completed_containers.empty()) heard.push_back(AmHeard::kRmCompleted);
  if (!allocated->updated_nodes.empty()) heard.push_back(AmHeard::kRmNodes);
  if (!allocated->preempt_strict.empty() || !allocated->preempt_contract.empty())
    heard.push_back(AmHeard::kRmPreemption);
  if (!allocated->containers_from_previous_attempts.empty())
    heard.push_back(AmHeard::kRmEarlierContainers);
  if (heard.empty()) heard.push_back(AmHeard::kRmNothing);
  return heard;
}

AmHeard HeardFromNm(const yarn::NmResponse& response) {
  if (const auto* started = std::get_if<yarn::StartContainersResponse>(&response))
    return started->failed.empty() ? AmHeard::kNmStarted : AmHeard::kNmRefused;
  return std::holds_alternative<yarn::RpcError>(response) ? AmHeard::kNmError : AmHeard::kNmStopped;
}

}  // namespace

std::vector<std::string> AmStateWords() {
  std::vector<std::string> words = EnumWords<JobState>();
  for (std::size_t i = 0; i < kJobStates; ++i) words.push_back(words[i] + "-again");
  return words;
}

std::size_t AmStateColumn(JobState state, std::int32_t am_attempt) {
  return static_cast<std::size_t>(state) + (am_attempt > 1 ? kJobStates : 0);
}

std::vector<std::string> AmEventWords() {
  std::vector<std::string> words = TypeNames<AgentToAm>();
  for (std::string& word : EnumWords<AmHeard>()) words.push_back(std::move(word));
  return words;
}

std::vector<std::size_t> AmEventRows(const AmEvent& event) {
  std::vector<AmHeard> heard;
  std::visit(Overloaded{Ignore<DeadlineReached, HeartbeatsElided, PeerVouched, AgentSaid>{},
                        [&](const AmStarted&) { heard = {AmHeard::kAmStarted}; },
                        [&](const JournalRead&) { heard = {AmHeard::kJournalRead}; },
                        [&](const JournalAppended&) { heard = {AmHeard::kJournalAppended}; },
                        [&](const JournalFailed&) { heard = {AmHeard::kJournalFailed}; },
                        [&](const RmReplied& reply) { heard = HeardFromRm(reply.response); },
                        [&](const NmReplied& reply) { heard = {HeardFromNm(reply.response)}; },
                        [&](const HdfsReplied& reply) {
                          heard = {std::holds_alternative<hdfs::HdfsError>(reply.response)
                                       ? AmHeard::kHdfsError
                                       : AmHeard::kHdfsFound};
                        }},
             event);
  std::vector<std::size_t> rows;
  if (const auto* said = std::get_if<AgentSaid>(&event)) rows.push_back(said->message.index());
  for (const AmHeard one : heard)
    rows.push_back(std::variant_size_v<AgentToAm> + static_cast<std::size_t>(one));
  return rows;
}

std::vector<std::string> AgentPhaseWords() {
  const std::vector<std::string> processes = EnumWords<agent::ProcessState>();
  std::vector<std::string> words = {"new"};
  for (const std::string& link : EnumWords<agent::LinkState>()) {
    for (const std::string& process : processes) words.push_back(link + "." + process);
  }
  for (const std::string& process : processes) words.push_back("leaving." + process);
  return words;
}

std::size_t AgentPhaseColumn(const agent::AgentSnapshot& agent) {
  const auto process = static_cast<std::size_t>(agent.process_state);
  switch (agent.life) {
    case agent::LifeState::kNew:
      return 0;
    case agent::LifeState::kServing:
      return 1 + static_cast<std::size_t>(agent.link) * kProcesses + process;
    case agent::LifeState::kLeaving:
    case agent::LifeState::kExited:
      break;
  }
  return 1 + kLinks * kProcesses + process;
}

std::vector<std::string> AgentEventWords() {
  std::vector<std::string> words = TypeNames<AmToAgent>();
  for (std::string& word : TypeNames<AgentEvent>()) words.push_back(std::move(word));
  return words;
}

std::size_t AgentEventRow(const AgentEvent& event) {
  if (const auto* said = std::get_if<AmSaid>(&event)) return said->message.index();
  return std::variant_size_v<AmToAgent> + event.index();
}

std::vector<std::string> TimesWords() {
  return {"submissions", "am-attempts", "epochs", "paid-restarts", "free-restarts", "task-starts"};
}

std::vector<std::string> RuleWords() {
  std::vector<std::string> words;
  for (const policy::Table* table : policy::AllTables()) {
    const auto add = [&](std::string_view row) {
      words.push_back(std::string(table->name) + "/" + std::string(row));
    };
    // A job's own `success` is judged in the same way under every policy.
    for (const std::string_view row : {"success", "success-impossible", "tracked-ended"}) add(row);
    for (const policy::VerdictRow& row : table->verdicts) {
      if (table->judge != nullptr) add(row.name);
    }
    for (const policy::Row& row : table->rows) {
      if (row.action == ExitAction::kFail) add(row.name);
    }
    add("spent");
  }
  for (const std::string_view rule :
       {"tfjob/backoff-limit", "gang/deadline", "gang/infeasible", "gang/ask-refused",
        "policy/invalid", "deadlines/start", "deadlines/run", "finish/evidence-missing",
        "finish/evidence-unknown", "on_exit", "depends", "watch", "another"})
    words.emplace_back(rule);
  return words;
}

}  // namespace tfyarn::sim
