#include "hosts/runtime/client_host.h"

#include <utility>

#include "core/model/visit.h"

namespace tfyarn::hosts {
ClientHost::ClientHost(std::shared_ptr<const JobSpec> job, client::ClientOptions options,
                       std::uint64_t seed, Parts parts)
    : parts_(std::move(parts)),
      machine_(std::move(job), std::move(options), seed),
      driver_(parts_.loop, machine_,
              {.told =
                   [this](Instant now, const ClientEvent& event) {
                     parts_.recorder.Write(
                         now, trace::ClientTold{.job = trace::kOnlyJob, .event = event});
                   },
               .ordered =
                   [this](Instant now, const ClientAction& action) {
                     parts_.recorder.Write(
                         now, trace::ClientOrdered{.job = trace::kOnlyJob, .action = action});
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

namespace {

hdfs::HdfsErrorCode ToHdfsCode(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUnavailable:
      return hdfs::HdfsErrorCode::kUnavailable;
    case ErrorCode::kNotFound:
      return hdfs::HdfsErrorCode::kNotFound;
    case ErrorCode::kInvalidArgument:
      return hdfs::HdfsErrorCode::kInvalidPath;
    case ErrorCode::kFailedPrecondition:
    case ErrorCode::kDataLoss:
    case ErrorCode::kInternal:
      return hdfs::HdfsErrorCode::kAccessDenied;
  }
  return hdfs::HdfsErrorCode::kAccessDenied;
}

}  // namespace

void ClientHost::StageThenCall(CallRm submit) {
  const std::string directory = machine_.snapshot().application_directory;
  parts_.stage(directory,
               lifetime_.Guard([this, submit = std::move(submit)](
                                   Expected<yarn::ContainerLaunchContext> context) mutable {
                 if (!context) {
                   return SubmissionFailed(submit, {.code = ToHdfsCode(context.error().code),
                                                    .message = context.error().message});
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
                        SubmissionFailed(submit, *error);
                      }));
}

// The RM has not been asked yet.
void ClientHost::SubmissionFailed(const CallRm& submit, hdfs::HdfsError why) {
  driver_.Tell(HdfsReplied{.call = submit.call, .response = std::move(why)});
}

}  // namespace tfyarn::hosts
