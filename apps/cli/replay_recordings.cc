#include "apps/cli/replay_recordings.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include "apps/cli/exit_codes.h"
#include "apps/cli/output.h"
#include "config/diagnostics.h"
#include "config/load.h"
#include "core/agent/task_agent.h"
#include "core/am/application_master.h"
#include "core/client/job_client.h"
#include "core/model/codec.h"
#include "core/model/text.h"

namespace tfyarn::cli {
namespace {

constexpr std::size_t kLongestText = 300;

template <class T>
std::string Bytes(const T& value) {
  std::string bytes;
  std::vector<SpecRef> specs;
  Encoder(bytes, &specs).Put(value);
  return bytes;
}

template <class T>
std::string Text(const T& value) {
  std::string text;
  AppendText(text, value);
  return config::Printable(text, kLongestText);
}

/// One machine, stepped along its recording.
template <class Machine, class Event, class Action>
class Player {
 public:
  explicit Player(Machine& machine) : machine_(machine) {}

  void Told(Instant at, const Event& event) {
    if (next_ < due_.size()) return Differ("nothing", Text(due_[next_]));
    at_ = at;
    event_ = event;
    due_.clear();
    next_ = 0;
    ++replayed_.steps;
    machine_.Step(at, event, due_);
  }

  void Ordered(const Action& action) {
    if (next_ == due_.size()) return Differ(Text(action), "nothing");
    if (Bytes(action) != Bytes(due_[next_])) return Differ(Text(action), Text(due_[next_]));
    ++next_;
    ++replayed_.actions;
  }

  [[nodiscard]] bool differs() const { return replayed_.first.has_value(); }
  /// What the last step ordered may not have been written any more.
  [[nodiscard]] const Replayed& replayed() const { return replayed_; }

 private:
  void Differ(std::string then, std::string now) {
    replayed_.first = {.at = at_,
                       .step = replayed_.steps,
                       .event = Text(event_),
                       .then = std::move(then),
                       .now = std::move(now)};
  }

  Machine& machine_;
  Replayed replayed_;
  Instant at_{};
  Event event_;
  std::vector<Action> due_;
  std::size_t next_ = 0;
};

template <class ToldFact, class OrderedFact, class Event, class Action, class Machine>
Replayed Play(Machine& machine, const std::vector<trace::TraceRecord>& records) {
  Player<Machine, Event, Action> player(machine);
  for (const trace::TraceRecord& record : records) {
    if (const auto* told = std::get_if<ToldFact>(&record.fact)) {
      player.Told(record.at, told->event);
    } else if (const auto* ordered = std::get_if<OrderedFact>(&record.fact)) {
      player.Ordered(ordered->action);
    }
    if (player.differs()) break;
  }
  return player.replayed();
}

template <class Options>
Expected<Options> OptionsFrom(const std::string& bytes) {
  Options options;
  Decoder decoder(bytes);
  decoder.Get(options);
  if (decoder.at_end()) return options;
  return Fail(ErrorCode::kInvalidArgument, "its options are those of another version of tfyarn");
}

}  // namespace

Expected<Replayed> ReplayRecording(const hosts::Recording& recording) {
  const hosts::RecordingHeader& header = recording.header;
  auto job = config::LoadJobText(header.job_file, client::kJobFileName);
  if (!job) return Fail(ErrorCode::kInvalidArgument, config::Render(job.error()));
  const auto spec = std::make_shared<const JobSpec>(std::move(*job));
  switch (header.who) {
    case hosts::Recorded::kClient: {
      auto options = OptionsFrom<client::ClientOptions>(header.options);
      if (!options) return tl::unexpected<Error>(options.error());
      client::JobClient machine(spec, std::move(*options), header.seed);
      return Play<trace::ClientTold, trace::ClientOrdered, ClientEvent, ClientAction>(
          machine, recording.records);
    }
    case hosts::Recorded::kAm: {
      auto options = OptionsFrom<am::AmOptions>(header.options);
      if (!options) return tl::unexpected<Error>(options.error());
      am::ApplicationMaster machine(spec, std::move(*options), header.seed);
      return Play<trace::AmTold, trace::AmOrdered, AmEvent, AmAction>(machine, recording.records);
    }
    case hosts::Recorded::kAgent: {
      agent::TaskAgent machine(spec, header.seed);
      return Play<trace::AgentTold, trace::AgentOrdered, AgentEvent, AgentAction>(
          machine, recording.records);
    }
    case hosts::Recorded::kCluster:
      return Replayed{};
  }
  return Replayed{};
}

std::vector<std::string> RecordingsIn(const std::string& directory) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(fs::path(directory) / "recordings", failed)) {
    if (entry.path().extension() == ".record") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

int ReplayRunDirectory(const std::string& directory, const std::string& version) {
  const std::vector<std::string> files = RecordingsIn(directory);
  if (files.empty()) {
    Complain(directory + " has no recordings: it is no directory that `tfyarn run` made");
    return ToInt(ExitCode::kInvalidInput);
  }
  std::string text;
  ExitCode code = ExitCode::kOk;
  for (const std::string& file : files) {
    const auto recording = hosts::ReadRecording(file);
    if (recording && recording->header.who == hosts::Recorded::kCluster) continue;
    const auto replayed =
        recording ? ReplayRecording(*recording) : tl::unexpected<Error>(recording.error());
    const std::string name = std::filesystem::path(file).filename().string();
    if (recording && recording->header.version != version) {
      text += fmt::format("{}: written by version {}, replayed by {}\n", name,
                          config::Printable(recording->header.version, kLongestText), version);
    }
    if (!replayed) {
      text += fmt::format("{}: {}\n", name, replayed.error().message);
      if (code == ExitCode::kOk) code = ExitCode::kInvalidInput;
    } else if (replayed->first) {
      const ReplayDifference& first = *replayed->first;
      text += fmt::format("{}: different at step {}\n  event {}\n  then  {}\n  now   {}\n", name,
                          first.step, first.event, first.then, first.now);
      code = ExitCode::kRunsDiffer;
    } else {
      text += fmt::format("{}: same, {} steps, {} actions{}\n", name, replayed->steps,
                          replayed->actions, recording->whole ? "" : " (it was cut short)");
    }
  }
  if (auto written = WriteStdout(TerminalText(text)); !written) {
    Complain(written.error().message);
    return ToInt(ExitCode::kInternal);
  }
  return ToInt(code);
}

}  // namespace tfyarn::cli
