#include "hosts/runtime/client_host.h"

#include <utility>

#include "core/model/visit.h"

namespace tfyarn::hosts {
namespace {

constexpr trace::JobIndex kJob{};

}  // namespace

ClientHost::ClientHost(std::shared_ptr<const JobSpec> job, client::ClientOptions options,
                       std::uint64_t seed, Parts parts)
    : parts_(std::move(parts)),
      machine_(std::move(job), std::move(options), seed),
      driver_(parts_.loop, machine_,
              {.told =
                   [this](Instant now, const ClientEvent& event) {
                     parts_.recorder.Write(now, trace::ClientTold{.job = kJob, .event = event});
                   },
               .ordered =
                   [this](Instant now, const ClientAction& action) {
                     parts_.recorder.Write(now,
                                           trace::ClientOrdered{.job = kJob, .action = action});
                   },
               .carry_out = [this](ClientAction& action) { CarryOut(action); }}) {}

void ClientHost::CarryOut(ClientAction& action) {
  if (parts_.seen) parts_.seen(action);
  std::visit(Overloaded{Ignore<ApplicationSubmitted, JobEnded, Note>{},
                        [this](CallRm& call) {
                          if (std::holds_alternative<yarn::SubmitApplicationRequest>(call.request))
                            return StageThenCall(std::move(call));
                          Call(std::move(call));
                        },
                        [this](CallHdfs& call) { Call(std::move(call)); },
                        [this](ClusterFacts& facts) {
                          facts_ = {.facts = std::move(facts), .surveyed = WallNow()};
                        },
                        [this](ExitClient& exit) {
                          driver_.Stop();
                          parts_.exit(exit.code);
                        }},
             action);
}

void ClientHost::Call(CallRm call) {
  parts_.cluster.CallRm(std::move(call.request),
                        lifetime_.Guard([this, id = call.call](yarn::RmResponse response) {
                          driver_.Tell(RmReplied{.call = id, .response = std::move(response)});
                        }));
}

void ClientHost::Call(CallHdfs call) {
  parts_.storage.Call(std::move(call.request),
                      lifetime_.Guard([this, id = call.call](hdfs::HdfsResponse response) {
                        driver_.Tell(HdfsReplied{.call = id, .response = std::move(response)});
                      }));
}

void ClientHost::StageThenCall(CallRm submit) {
  const std::string directory = machine_.snapshot().application_directory;
  parts_.stage(
      directory, lifetime_.Guard([this, submit = std::move(submit)](
                                     Expected<yarn::ContainerLaunchContext> context) mutable {
        if (!context) {
          const Error& error = context.error();
          return SubmissionFailed(submit, error.code == ErrorCode::kUnavailable, error.message);
        }
        facts_.agent_context = std::move(*context);
        StoreFactsThenCall(std::move(submit));
      }));
}

void ClientHost::StoreFactsThenCall(CallRm submit) {
  std::string bytes = ToBytes(facts_);
  const auto size = static_cast<std::int64_t>(bytes.size());
  hdfs::CreateRequest create{
      .path = machine_.snapshot().application_directory + "/" + std::string(kFactsFile),
      .bytes = std::move(bytes),
      .size = size};
  parts_.storage.Call(std::move(create),
                      lifetime_.Guard([this, submit = std::move(submit)](
                                          const hdfs::HdfsResponse& response) mutable {
                        const auto* error = std::get_if<hdfs::HdfsError>(&response);
                        if (error == nullptr) return Call(std::move(submit));
                        SubmissionFailed(submit, MayPass(error->code), error->message);
                      }));
}

// To the machine it is an RM that did not answer, or one that does not take the application.
void ClientHost::SubmissionFailed(const CallRm& submit, bool again, const std::string& why) {
  const auto code = again ? yarn::RpcErrorCode::kUnavailable : yarn::RpcErrorCode::kYarn;
  driver_.Tell(RmReplied{.call = submit.call,
                         .response = yarn::RpcError{.code = code, .message = "staging: " + why}});
}

}  // namespace tfyarn::hosts
