#include "apps/yarn/trial_submission.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "apps/cli/exit_codes.h"
#include "apps/cli/human.h"
#include "apps/cli/output.h"
#include "apps/cli/print.h"
#include "apps/yarn/application_watch.h"
#include "apps/yarn/cluster_access.h"
#include "apps/yarn/cluster_fit.h"
#include "apps/yarn/web_questions.h"
#include "core/client/job_client.h"
#include "core/model/text.h"
#include "hosts/runtime/clock.h"
#include "wire/hadoop/cluster_queries.h"
#include "wire/hadoop/token_store.h"
#include "wire/hadoop/yarn_errors.h"
#include "wire/yarnweb/cluster_answers.h"

namespace tfyarn::apps {
namespace {

/// What the client's own machine finds out before it submits.
struct Surveyed {
  std::optional<ClusterFacts> facts;
  WallTime manager_started{};  ///< By the clock of the ResourceManager's machine.
  std::string refusal;         ///< Why it would not submit at all.
  std::optional<hadoop::IpcError> no_answer;
};

/// Takes the machine from its first event to the moment in which it knows the cluster.
class Survey {
 public:
  Survey(const JobSpec& job, ClusterQuestions& cluster)
      : client_(std::make_shared<const JobSpec>(job), {}, 0), cluster_(cluster) {}

  Surveyed Run(const std::string& user) {
    Step(SubmitRequested{.user = user, .staging_directory = "/"});
    while (!actions_.empty() && !over_) {
      const ClientAction action = std::move(actions_.front());
      actions_.pop_front();
      if (const auto* call = std::get_if<CallRm>(&action)) Answer(*call);
      if (const auto* facts = std::get_if<ClusterFacts>(&action)) {
        result_.facts = *facts;
        over_ = true;
      }
      if (const auto* ended = std::get_if<JobEnded>(&action)) {
        result_.refusal = ended->diagnostics;
        over_ = true;
      }
    }
    return std::move(result_);
  }

 private:
  void Step(const ClientEvent& event) {
    std::vector<ClientAction> actions;
    client_.Step(hosts::Now(), event, actions);
    for (ClientAction& action : actions) actions_.push_back(std::move(action));
  }

  void Answer(const CallRm& call) {
    const auto encoded = hadoop::EncodeRmRequest(call.request, {});
    if (!encoded) return Fail(Unreadable(encoded.error()));
    const auto body = cluster_.Ask(*encoded);
    if (!body && MayPass(body.error())) return Fail(body.error());
    if (!body)
      return Step(RmReplied{.call = call.call, .response = hadoop::ToYarnError(body.error())});
    auto response = hadoop::DecodeRmResponse(call.request, *body, tokens_);
    if (!response) return Fail(Unreadable(response.error()));
    if (const auto* made = std::get_if<yarn::GetNewApplicationResponse>(&*response)) {
      result_.manager_started =
          WallTime(std::chrono::milliseconds(made->application.cluster_timestamp));
    }
    Step(RmReplied{.call = call.call, .response = std::move(*response)});
  }

  void Fail(hadoop::IpcError error) {
    result_.no_answer = std::move(error);
    over_ = true;
  }

  client::JobClient client_;
  ClusterQuestions& cluster_;
  hadoop::TokenStore tokens_;
  std::deque<ClientAction> actions_;
  bool over_ = false;
  Surveyed result_;
};

std::optional<std::int64_t> AmAttempts(const config::HadoopSettings& settings) {
  const auto answer = AskResourceManager(
      settings, wire::ConfigurationTarget("yarn.resourcemanager.am.max-attempts"));
  const auto text =
      answer ? wire::ParseConfigurationValue(answer->body) : std::optional<std::string>();
  if (!text) return std::nullopt;
  std::int64_t value = 0;
  const char* end = text->data() + text->size();
  const auto [stop, failed] = std::from_chars(text->data(), end, value);
  if (failed != std::errc{} || stop != end) return std::nullopt;
  return value;
}

int Show(const SubmitArguments& arguments, const JobSpec& job, const FitResult& result) {
  const bool refused = result.fit == Fit::kNever || result.fit == Fit::kRefused;
  const int code = cli::ToInt(refused ? cli::ExitCode::kInvalidInput : cli::ExitCode::kOk);
  if (!arguments.json) {
    return cli::Print(cli::TerminalText(RenderText(result.checks) +
                                        fmt::format("{}: {}\n", job.name, NameOf(result.fit))),
                      code);
  }
  nlohmann::ordered_json document;
  document["job"] = job.name;
  document["verdict"] = NameOf(result.fit);
  document["checks"] = nlohmann::ordered_json::parse(RenderJson(result.checks));
  return cli::Print(cli::JsonText(document), code);
}

struct Judgement {
  FitResult fit;
  /// Of the ResourceManager. Not known where it refused to answer.
  std::optional<Duration> age;
  std::size_t nodes = 0;  ///< That it knows.
};

/// `whole`: asks for what only a warning can come of, too, and for the queue, of which `tfyarn
/// submit` knows already that it takes the job.
tl::expected<Judgement, hadoop::IpcError> AskAndJudge(const JobSpec& job,
                                                      const config::HadoopSettings& settings,
                                                      bool whole) {
  ClusterQuestions cluster(settings);
  Surveyed surveyed = Survey(job, cluster).Run(settings.user);
  if (surveyed.no_answer) return tl::unexpected(std::move(*surveyed.no_answer));
  if (!surveyed.facts) {
    return Judgement{.fit = {.fit = Fit::kNever,
                             .checks = {{.subject = "submission",
                                         .state = CheckState::kProblem,
                                         .text = surveyed.refusal}}}};
  }
  AskFacts facts{.cluster = std::move(*surveyed.facts)};
  if (whole) facts.am_attempts = AmAttempts(settings);
  if (const auto types = cluster.Ask(hadoop::GetResourceTypes()))
    facts.types = hadoop::DecodeResourceTypes(*types).value_or(facts.types);
  if (whole) AskQueue(cluster, job.queue, facts);
  return Judgement{
      .fit = JudgeFit(job, facts),
      .age = std::chrono::duration_cast<Duration>(hosts::WallNow() - surveyed.manager_started),
      .nodes = facts.cluster.nodes.size()};
}

/// A ResourceManager that has just started does not know its nodes yet: each NodeManager looks for
/// it once in `pause`, and needs a moment to register. What does not fit so far may fit then, and
/// is judged again; the user is told so.
tl::expected<Judgement, hadoop::IpcError> JudgeOnceNodesAreBack(
    const SubmitArguments& arguments, const JobSpec& job, const config::HadoopSettings& settings,
    bool whole) {
  constexpr Duration kToRegister = 5s;
  constexpr Duration kAskAgain = 1s;
  const Duration all_back = settings.resource_manager.pause + kToRegister;
  for (bool told = false;; told = true) {
    auto judged = AskAndJudge(job, settings, whole);
    if (!judged || !judged->fit.for_want_of_nodes || !judged->age || *judged->age > all_back)
      return judged;
    if (!told && !arguments.quiet) {
      cli::Complain(fmt::format(
          "{} does not fit so far: the ResourceManager has just started and knows {}; waiting for "
          "others for {} at most, Ctrl-C gives up",
          job.name, cli::Plural(judged->nodes, "node"),
          ToString(std::chrono::ceil<std::chrono::seconds>(all_back))));
    }
    std::this_thread::sleep_for(kAskAgain);
  }
}

}  // namespace

void AskQueue(ClusterQuestions& cluster, const std::string& queue, AskFacts& facts) {
  if (const auto state = cluster.Ask(hadoop::GetQueueRunState(queue)))
    facts.queue_state = hadoop::DecodeQueueRunState(*state).value_or(facts.queue_state);
  if (const auto rights = cluster.Ask(hadoop::GetQueueRights()))
    facts.queue_rights = hadoop::DecodeQueueRights(*rights).value_or(facts.queue_rights);
}

int TrySubmission(const SubmitArguments& arguments, const JobSpec& job,
                  const config::HadoopSettings& settings) {
  if (arguments.dry_run == DryRun::kJob) {
    return cli::Print(
        fmt::format("{}: {} for queue '{}'; the cluster was not asked (--dry-run=cluster does)\n",
                    job.name, cli::Plural(static_cast<std::uint64_t>(job.task_count()), "task"),
                    job.queue),
        cli::ToInt(cli::ExitCode::kOk));
  }
  const auto result = JudgeOnceNodesAreBack(arguments, job, settings, true);
  return result ? Show(arguments, job, result->fit) : Refuse(result.error());
}

std::optional<int> RefuseWhatNeverFits(const SubmitArguments& arguments, const JobSpec& job,
                                       const config::HadoopSettings& settings) {
  const auto result = JudgeOnceNodesAreBack(arguments, job, settings, false);
  if (!result || result->fit.fit != Fit::kNever) return std::nullopt;
  std::string why;
  for (const Check& check : result->fit.checks) {
    if (check.state != CheckState::kProblem) continue;
    const bool refused = check.subject == "submission";
    why += fmt::format("{}{}", why.empty() ? "" : "; ", check.text);
    // Of a refusal by the RM itself nothing can be skipped.
    if (refused) continue;
    why += fmt::format(
        " (nothing was submitted; {}; --no-check submits it, and it waits for nodes "
        "as `deadlines.nodes` says)",
        check.advice);
  }
  return PrintEnd({.name = job.name,
                   .status = ToText(JobStatus::kFailed),
                   .diagnostics = why,
                   .code = cli::ToInt(cli::ExitCode::kInvalidInput)},
                  arguments.json);
}

}  // namespace tfyarn::apps
