#include "hosts/runtime/am_process.h"

#include <fmt/format.h>

#include <utility>

#include "core/model/codec.h"
#include "hosts/runtime/clock.h"

namespace tfyarn::hosts {
namespace {

constexpr Duration kRetry = 1s;
constexpr std::int32_t kCannotStart = 1;

}  // namespace

AmProcess::AmProcess(std::shared_ptr<const JobSpec> job, AmProcessOptions options, Parts parts)
    : job_(std::move(job)),
      options_(std::move(options)),
      parts_(std::move(parts)),
      attempt_(options_.container.application_attempt),
      again_(parts_.loop) {}

void AmProcess::Start() {
  ReadFacts();
}

std::string AmProcess::PathOf(std::string_view file) const {
  return fmt::format("{}/{}", options_.am.staging_directory, file);
}

void AmProcess::Retry(void (AmProcess::*step)(), const hdfs::HdfsError& error) {
  if (!MayPass(error.code)) return Fail(error.message);
  parts_.note(error.message + "; again in 1s");
  again_.expires_after(kRetry);
  again_.async_wait(lifetime_.Guard([this, step](const boost::system::error_code& cancelled) {
    if (!cancelled) (this->*step)();
  }));
}

void AmProcess::Ask(hdfs::HdfsRequest request, Storage::Answer answer) {
  parts_.storage.Call(std::move(request), lifetime_.Guard(std::move(answer)));
}

void AmProcess::Fail(const std::string& why) {
  parts_.note(why);
  parts_.exit(kCannotStart);
}

void AmProcess::ReadFacts() {
  Ask(hdfs::ReadRequest{.path = PathOf(kFactsFile), .writer = {}},
      [this](const hdfs::HdfsResponse& response) {
        if (const auto* error = std::get_if<hdfs::HdfsError>(&response))
          return Retry(&AmProcess::ReadFacts, *error);
        auto facts = StagedFactsFrom(std::get<hdfs::ReadResponse>(response).bytes);
        if (!facts) return Fail(facts.error().message);
        facts_ = std::move(*facts);
        ReadAuthority();
      });
}

void AmProcess::ReadAuthority() {
  Ask(hdfs::ReadRequest{.path = PathOf(kAuthorityFile), .writer = {}},
      [this](const hdfs::HdfsResponse& response) {
        if (const auto* error = std::get_if<hdfs::HdfsError>(&response)) {
          if (error->code == hdfs::HdfsErrorCode::kNotFound) return StoreAuthority();
          return Retry(&AmProcess::ReadAuthority, *error);
        }
        auto authority = wire::CertificateAuthority::FromPem(
            attempt_.application, std::get<hdfs::ReadResponse>(response).bytes);
        if (!authority) return Fail(authority.error().message);
        authority_.emplace(std::move(*authority));
        OpenChannel();
      });
}

// The first AM to come makes it; every later one reads it.
void AmProcess::StoreAuthority() {
  auto made = wire::CertificateAuthority::Make(attempt_.application, WallNow());
  if (!made) return Fail(made.error().message);
  std::string pem = made->ToPem();
  const auto size = static_cast<std::int64_t>(pem.size());
  Ask(hdfs::CreateRequest{.path = PathOf(kAuthorityFile),
                          .bytes = std::move(pem),
                          .size = size,
                          .overwrite = false},
      [this](const hdfs::HdfsResponse& response) {
        const auto* error = std::get_if<hdfs::HdfsError>(&response);
        if (error == nullptr || error->code == hdfs::HdfsErrorCode::kAlreadyExists)
          return ReadAuthority();
        Retry(&AmProcess::StoreAuthority, *error);
      });
}

void AmProcess::OpenChannel() {
  auto identity = authority_->IssueAm(attempt_.attempt);
  if (!identity) return Fail(identity.error().message);
  channel_ = std::make_unique<wire::ChannelServer>(
      parts_.loop, wire::ServerOptions{}, *identity, attempt_.application, attempt_.attempt,
      wire::ServerHandlers{
          .on_message =
              [this](const ContainerId&, AgentToAm message) {
                if (host_) host_->AgentSays(std::move(message));
              },
          .on_gone = {},
          .on_refused =
              [this](const std::string& address, wire::ChannelEnd, const std::string& detail) {
                // Any program that reaches the port can cause it, as often as it likes.
                const auto note =
                    refusals_.Take(Now(), fmt::format("turned away {}: {}", address, detail));
                if (note) parts_.note(*note);
              }});
  const auto port = channel_->Listen(options_.listen_on);
  if (!port) return Fail(port.error().message);
  StartMachine(*port);
}

void AmProcess::StartMachine(std::int32_t port) {
  options_.am.agent_context = facts_.agent_context;
  options_.am.surveyed = facts_.surveyed;
  if (!options_.recording.empty()) {
    RecordingHeader header{.version = options_.version,
                           .who = Recorded::kAm,
                           .seed = options_.seed,
                           .job_file = options_.job_file};
    Encoder(header.options).Put(options_.am);
    auto recorder = Recorder::Open(options_.recording, header);
    if (!recorder) parts_.note(recorder.error().message);
    if (recorder) recorder_ = std::move(*recorder);
  }
  host_ = std::make_unique<AmHost>(
      job_, options_.am, options_.seed, attempt_,
      AmHost::Parts{.loop = parts_.loop,
                    .cluster = parts_.cluster,
                    .storage = parts_.storage,
                    .record =
                        [this](Instant at, trace::Fact fact) {
                          if (parts_.observe) parts_.observe(at, fact);
                          recorder_.Write(at, std::move(fact));
                        },
                    .send = [this](const ContainerId& to,
                                   const AmToAgent& message) { channel_->Send(to, message); },
                    .issue_identity =
                        [this](const ContainerId& container) {
                          const auto identity = authority_->IssueAgent(container);
                          return identity ? wire::ToPem(*identity) : std::string();
                        },
                    .exit = parts_.exit});
  host_->Start({.attempt = attempt_,
                .container = options_.container,
                .address = {.host = options_.host, .port = port},
                .wall = WallNow(),
                .nodes = facts_.facts.nodes,
                .queue_maximum = facts_.facts.queue_maximum,
                .maximum_container = facts_.facts.maximum_container});
}

}  // namespace tfyarn::hosts
