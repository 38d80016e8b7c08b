// The world around the AM: its attempts, the journal, the mail, its calls.
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/model/check.h"
#include "core/model/text.h"
#include "tests/exhaustive/hash_of.h"
#include "tests/exhaustive/memory_hash.h"
#include "tests/exhaustive/sink.h"
#include "tests/exhaustive/world.h"

namespace tfyarn::exhaustive {
namespace {

constexpr std::uint64_t kSeed = 1;
constexpr ApplicationId kApplication{.cluster_timestamp = 0, .id = 1};

/// What an AM is started with is the job and where its application is; the job lives outside.
std::shared_ptr<const JobSpec> Unowned(const std::shared_ptr<const JobSpec>& job) {
  return {std::shared_ptr<const JobSpec>(), job.get()};
}

/// It changes nothing but that its agent says no more what the AM has heard.
bool OnlyEndsRepetition(const AmToAgent& message) {
  const auto* seen = std::get_if<ReportSeen>(&message);
  return seen != nullptr && seen->kind == ReportKind::kProcessRunning;
}

}  // namespace

// ---------------------------------------------------------------- attempts

void World::StartAm() {
  Touch(kPartAll);
  am_starts_.reset();
  ++am_attempt_;
  am_ = std::make_unique<am::ApplicationMaster>(
      Unowned(scope_.job),
      am::AmOptions{.staging_directory = "/staging", .rm_heartbeat_fast = kBeat}, kSeed);
  last_beat_.reset();
  const ApplicationAttemptId attempt{.application = kApplication, .attempt = am_attempt_};
  StepAm(AmStarted{.attempt = attempt,
                   .container = {.application_attempt = attempt, .id = 0},
                   .address = {.host = "am", .port = 1},
                   .wall = CalendarAt(now_)});
  for (std::size_t i = 0; i < containers_.size(); ++i) {
    if (containers_[i].agent != nullptr) VouchForAgent(i, true);
  }
}

void World::KillAm() {
  Touch(kPartAll);
  const journal::JournalReading stored = journal::ReadJournalBytes(journal_);
  std::string which;
  for (const journal::ReadEntry& read : stored.entries)
    which += static_cast<char>(read.entry.index());
  for (std::size_t i = 0; i < containers_.size(); ++i) {
    which += static_cast<char>(containers_[i].at);
    which += static_cast<char>(Inside(i));
  }
  Know({.kind = FactKind::kAmDied,
        .code = static_cast<std::int32_t>(stored.entries.size()),
        .detail = XXH3_64bits(which.data(), which.size())});
  am_.reset();
  am_stepped_ = true;
  append_.reset();
  std::erase_if(mail_, [](const Mail& mail) { return std::holds_alternative<AmEvent>(mail.what); });
  am_starts_ = now_ + kAmRestart;
  ForgetAttempt();
  for (std::size_t i = 0; i < containers_.size(); ++i) {
    if (containers_[i].agent != nullptr) VouchForAm(i, false);
  }
}

// ---------------------------------------------------------------- steps

/// Idle calls to the RM that were skipped since the last one.
void World::CatchUp() {
  if (!last_beat_ || now_ <= *last_beat_ + kBeat) return;
  const auto count = (now_ - *last_beat_ - Duration(1)) / kBeat;
  *last_beat_ += kBeat * count;
  Touch(kPartRm);
  rm_.response_id += static_cast<std::int32_t>(count);
  rm_.last = {.response_id = rm_.response_id};
  Sink<AmAction> none;
  am_->Step(*last_beat_,
            HeartbeatsElided{.count = static_cast<std::uint64_t>(count), .last = *last_beat_},
            *none);
}

void World::StepAm(const AmEvent& event) {
  Touch(kPartAm);
  CatchUp();
  ScrubStack();
  am_stepped_ = true;
  Record(trace::AmTold{.am_attempt = am_attempt_, .event = event});
  std::vector<AmAction> actions;
  {
    Sink<AmAction> sink;
    am_->Step(now_, event, *sink);
    actions = std::move(*sink);
  }
  for (const AmAction& action : actions) Carry(action);
}

void World::Carry(const AmAction& action) {
  Record(trace::AmOrdered{.am_attempt = am_attempt_, .action = action});
  books_.OnOrdered(action);
  if (std::holds_alternative<ReadJournal>(action)) {
    StepAm(JournalRead{.bytes = journal_});
  } else if (const auto* append = std::get_if<AppendJournal>(&action)) {
    Touch(kPartJournal);
    TF_CHECK(!append_);
    append_ = Append{.order = *append, .sent = now_};
  } else if (std::holds_alternative<PublishAddress>(action)) {
    Touch(kPartAll);
    published_ = am_attempt_;
  } else if (const auto* rm = std::get_if<CallRm>(&action)) {
    CarryRm(*rm);
  } else if (const auto* nm = std::get_if<CallNm>(&action)) {
    CarryNm(*nm);
  } else if (const auto* send = std::get_if<SendToAgent>(&action)) {
    const auto container = Find(send->container);
    if (!container || containers_[*container].agent == nullptr) return;
    if (!scope_.LosesMail() && OnlyEndsRepetition(send->message)) {
      StepAgent(*container, AmSaid{.message = send->message, .am_attempt = am_attempt_});
    } else {
      PostToAgent(*container, send->message);
    }
  } else if (const auto* exit = std::get_if<ExitAm>(&action)) {
    End(exit->code);
  } else if (const auto* verdict = std::get_if<VerdictReached>(&action)) {
    Touch(kPartBooks);
    books_.OnVerdict(*verdict);
    outcome_.status = verdict->status;
    outcome_.rule = verdict->rule;
    outcome_.cause = verdict->cause ? NumberOf(*scope_.job, verdict->cause->task) : -1;
    if (verdict->cause) outcome_.exit_class = verdict->cause->exit_class;
  }
}

void World::End(std::int32_t code) {
  Touch(kPartAll);
  over_ = true;
  if (code != 0) books_.Break("progress", fmt::format("the AM gives up with {}", code));
  for (const Container& container : containers_) {
    if (container.process.runs)
      books_.Break("released", fmt::format("{} still runs when the AM has ended",
                                           ToString(container.fence.task)));
  }
}

// ---------------------------------------------------------------- the journal

void World::TakeStored() {
  Touch(kPartBooks);
  books_.OnStored(journal_);
  outcome_.payments = books_.payments();
}

void World::Store() {
  Touch(kPartJournal);
  journal_ += append_->order.bytes;
  const JournalAppended answer{.seq = append_->order.seq};
  append_.reset();
  TakeStored();
  // Between the two only the AM's death tells them apart.
  if (faults_left_ > 0 && scope_.StopsAppends()) {
    PostToAm(answer);
  } else {
    StepAm(answer);
  }
}

void World::FailAppend(bool stored) {
  Touch(kPartJournal);
  if (stored) {
    journal_ += append_->order.bytes;
    TakeStored();
  }
  Know({.kind = FactKind::kStorageFailed,
        .code = static_cast<std::int32_t>(append_->order.seq.value),
        .detail = stored ? 1U : 0U});
  PostToAm(JournalFailed{.seq = append_->order.seq, .error = {.message = "HDFS is away"}});
  append_.reset();
}

// ---------------------------------------------------------------- calls

void World::CarryRm(const CallRm& call) {
  Touch(kPartRm);
  yarn::RmResponse response = yarn::RpcError{.code = yarn::RpcErrorCode::kUnavailable};
  if (const auto* allocate = std::get_if<yarn::AllocateRequest>(&call.request)) {
    last_beat_.reset();
    response = Allocate(*allocate);
  } else if (std::holds_alternative<yarn::RegisterApplicationMasterRequest>(call.request)) {
    response = Register();
  } else if (std::holds_alternative<yarn::FinishApplicationMasterRequest>(call.request)) {
    response = yarn::FinishApplicationMasterResponse{.is_unregistered = true};
  }
  PostToAm(RmReplied{.call = call.call, .response = std::move(response)});
}

void World::CarryNm(const CallNm& call) {
  const auto id = [&] {
    if (const auto* start = std::get_if<yarn::StartContainersRequest>(&call.request))
      return start->containers.front().container;
    return std::get<yarn::StopContainersRequest>(call.request).containers.front();
  }();
  const auto container = Find(id);
  TF_CHECK(container.has_value());
  Touch(PartOfContainer(*container));
  yarn::NmResponse response =
      yarn::RpcError{.code = yarn::RpcErrorCode::kUnavailable, .message = "connection refused"};
  bool started = false;
  if (containers_[*container].node_up) {
    if (const auto* start = std::get_if<yarn::StartContainersRequest>(&call.request)) {
      response = Launch(*container, start->containers.front());
      started = std::get<yarn::StartContainersResponse>(response).failed.empty();
    } else {
      yarn::StopContainersResponse stopped;
      if (containers_[*container].agent != nullptr) {
        stopped.succeeded.push_back(id);
        EndContainer(*container, container_exit::kKilledByAppMaster,
                     "Container killed by the ApplicationMaster.", false);
      }
      response = std::move(stopped);
    }
  }
  NmReplied reply{.call = call.call, .node = call.node, .response = std::move(response)};
  if (started && !scope_.LosesMail()) return StepAm(reply);
  PostToAm(std::move(reply));
}

// ---------------------------------------------------------------- the mail

void World::Post(Mail mail) {
  const auto later = [](const Mail& a, const Mail& b) {
    return std::tie(a.hash, a.sent) < std::tie(b.hash, b.sent);
  };
  mail_.insert(std::upper_bound(mail_.begin(), mail_.end(), mail, later), std::move(mail));
}

void World::PostToAm(AmEvent event, std::int16_t container) {
  Mail mail{.sent = now_, .am_attempt = am_attempt_, .container = container};
  mail.hash = HashOf(event);
  mail.what = std::move(event);
  Post(std::move(mail));
}

void World::PostToAgent(std::size_t container, const AmToAgent& message) {
  Post({.sent = now_,
        .am_attempt = am_attempt_,
        .container = static_cast<std::int16_t>(container),
        .hash = HashOf(message) ^ static_cast<std::uint64_t>(am_attempt_),
        .what = message});
}

void World::Deliver(std::size_t item) {
  const Mail mail = std::move(mail_[item]);
  mail_.erase(mail_.begin() + static_cast<std::ptrdiff_t>(item));
  if (const auto* event = std::get_if<AmEvent>(&mail.what)) {
    const auto* reply = std::get_if<RmReplied>(event);
    if (reply != nullptr && std::holds_alternative<yarn::AllocateResponse>(reply->response))
      last_beat_ = mail.sent;
    return StepAm(*event);
  }
  StepAgent(static_cast<std::size_t>(mail.container),
            AmSaid{.message = std::get<AmToAgent>(mail.what), .am_attempt = mail.am_attempt});
}

/// Of a call, its answer: the caller learns that there is none.
void World::LoseMail(std::size_t item) {
  const Mail mail = std::move(mail_[item]);
  mail_.erase(mail_.begin() + static_cast<std::ptrdiff_t>(item));
  const auto* event = std::get_if<AmEvent>(&mail.what);
  if (event == nullptr) return;
  const yarn::RpcError none{.code = yarn::RpcErrorCode::kUnavailable, .message = "timed out"};
  if (const auto* rm = std::get_if<RmReplied>(event))
    PostToAm(RmReplied{.call = rm->call, .response = none});
  if (const auto* nm = std::get_if<NmReplied>(event))
    PostToAm(NmReplied{.call = nm->call, .node = nm->node, .response = none});
}

}  // namespace tfyarn::exhaustive
