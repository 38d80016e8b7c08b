#include "hosts/runtime/am_host.h"

#include <utility>

#include "core/model/visit.h"

namespace tfyarn::hosts {
namespace {

Cluster::Secrets SecretsFor(const yarn::NmRequest& request,
                            const std::function<std::string(const ContainerId&)>& issue) {
  Cluster::Secrets secrets;
  if (const auto* start = std::get_if<yarn::StartContainersRequest>(&request)) {
    for (const yarn::StartContainerRequest& container : start->containers)
      secrets.emplace(container.container, issue(container.container));
  }
  return secrets;
}

}  // namespace

AmHost::AmHost(std::shared_ptr<const JobSpec> job, am::AmOptions options, std::uint64_t seed,
               const ApplicationAttemptId& attempt, Parts parts)
    : parts_(std::move(parts)),
      am_attempt_(attempt.attempt),
      machine_(std::move(job), options, seed),
      driver_(parts_.loop, machine_,
              {.told =
                   [this](Instant now, const AmEvent& event) {
                     parts_.record(now, trace::AmTold{.job = trace::kOnlyJob,
                                                      .am_attempt = am_attempt_,
                                                      .event = event});
                   },
               .ordered =
                   [this](Instant now, const AmAction& action) {
                     parts_.record(now, trace::AmOrdered{.job = trace::kOnlyJob,
                                                         .am_attempt = am_attempt_,
                                                         .action = action});
                   },
               .carry_out = [this](AmAction& action) { CarryOut(action); }}),
      journal_(parts_.loop, parts_.storage, options.staging_directory, attempt,
               [this](AmEvent event) { driver_.Tell(std::move(event)); }) {}

void AmHost::CarryOut(AmAction& action) {
  std::visit(Overloaded{IgnoreAll<AmAnnouncements>{}, [this](ReadJournal&) { journal_.Read(); },
                        [this](AppendJournal& append) { journal_.Append(std::move(append)); },
                        [this](PublishAddress& publish) { journal_.Publish(publish); },
                        [this](CallRm& call) { Call(call); }, [this](CallNm& call) { Call(call); },
                        [this](CallHdfs& call) { Call(call); },
                        [this](SendToAgent& send) { parts_.send(send.container, send.message); },
                        [this](ExitAm& exit) {
                          driver_.Stop();
                          parts_.exit(exit.code);
                        }},
             action);
}

void AmHost::Call(CallRm& call) {
  parts_.cluster.CallRm(std::move(call.request),
                        lifetime_.Guard([this, id = call.call](yarn::RmResponse response) {
                          driver_.Tell(RmReplied{.call = id, .response = std::move(response)});
                        }));
}

void AmHost::Call(CallNm& call) {
  Cluster::Secrets secrets = SecretsFor(call.request, parts_.issue_identity);
  parts_.cluster.CallNm(
      call.node, call.nm_token, std::move(call.request), std::move(secrets),
      lifetime_.Guard([this, id = call.call, node = call.node](yarn::NmResponse response) {
        driver_.Tell(NmReplied{.call = id, .node = node, .response = std::move(response)});
      }));
}

void AmHost::Call(CallHdfs& call) {
  parts_.storage.Call(std::move(call.request),
                      lifetime_.Guard([this, id = call.call](hdfs::HdfsResponse response) {
                        driver_.Tell(HdfsReplied{.call = id, .response = std::move(response)});
                      }));
}

}  // namespace tfyarn::hosts
