// Drawing what a job's processes do, and what is waited for when they have.
#include <algorithm>
#include <utility>

#include "core/model/ids.h"
#include "explore/job_parts.h"

namespace tfyarn::explore {
namespace {

const std::vector<std::string> kSignals = {"KILL", "TERM", "SEGV", "ABRT", "INT", "HUP"};

std::string NameOf(const JobSketch::Type& type, std::int64_t index) {
  return ToString(TaskId{.type = type.name, .index = static_cast<std::int32_t>(index)});
}

/// What TensorFlow calls a task.
std::string DeviceOf(const JobSketch::Type& type, std::int64_t index) {
  return "/job:" + type.name + "/replica:0/task:" + std::to_string(index);
}

/// As TensorFlow says whom it could not reach.
std::string CannotReach(const std::string& peer) {
  return "UnavailableError: failed to connect to all addresses; from remote target " + peer + ": ";
}

/// A row for the task's first process alone.
Node AtFirst(Node row) {
  Set(row, "attempt", Number(0));
  return row;
}

}  // namespace

void JobDrawer::DrawTraining() {
  work_ = draw_.Time(1s, 10min);
  job_.takes += work_;
  Node training = Map(
      {{"steps", Number(std::max<std::int64_t>(1, work_ / 100ms))}, {"step_time", Text("100ms")}});
  if (draw_.Percent(60)) {
    const Duration every = draw_.Time(1s, 2min);
    const Duration cost = draw_.Time(10ms, 2s);
    Set(training, "checkpoint", Map({{"every", Time(every)}, {"cost", Time(cost)}}));
    job_.takes += (work_ / every + 1) * cost;
  }
  if (draw_.Percent(40)) {
    const Duration restore = draw_.Time(100ms, 10s);
    Set(training, "restore", Time(restore));
    job_.takes += restore;
  }
  if (wild() && Some(swarm_.behavior, 15)) {
    Set(training, "peer_loss", Text("none"));
    may_not_end_ = true;
  }
  Set(job_.document, "training", std::move(training));
}

std::int64_t JobDrawer::AnyExit() {
  static const std::vector<std::int64_t> kExits = {0,   1,   2,   3,   42,  75,  126, 127,
                                                   130, 134, 137, 138, 139, 143, 154, 255};
  // One that a rule names, rather than another.
  std::vector<std::int64_t>& named = job_.sketch.exits;
  if (!named.empty() && draw_.Percent(50)) return draw_.Of(named);
  return draw_.Of(kExits);
}

/// When what the row says happens: soon, or in the midst of the training.
Node JobDrawer::SomeTime() {
  return Time(draw_.Time(10ms, std::max<Duration>(work_, 20ms)));
}

/// As TensorFlow says whom it misses, where the text names a task.
std::string JobDrawer::LastWords() {
  const JobSketch::Type& type = draw_.Of(job_.sketch.types);
  const std::string peer = DeviceOf(type, draw_.Whole(0, type.instances - 1));
  switch (draw_.Whole(0, 2)) {
    case 0:
      return CannotReach(peer);
    case 1:
      return "unhealthy (stopped sending heartbeats):\n" + peer + "\n";
    default:
      return "out of ideas";
  }
}

Node JobDrawer::OnTerm() {
  if (draw_.Percent(30)) return Map({{"ignore", Flag(true)}});
  return Map({{"after", Time(draw_.Time(10ms, 30s))},
              {"exit", Number(AnyExit())},
              {"checkpoint", Flag(draw_.Percent(50))}});
}

Node JobDrawer::Row() {
  Node row = Map();
  if (draw_.Percent(80)) Set(row, "task", Text(AnyTask()));
  if (draw_.Percent(60)) Set(row, "attempt", Number(draw_.Whole(0, 2)));
  if (draw_.Percent(30)) Set(row, "start", Time(draw_.Time(1ms, 20s)));
  if (draw_.Percent(10)) {
    Set(row, "listens", Text(draw_.Percent(50) ? "never" : "taken"));
    may_not_end_ = true;  // It takes no part.
  }
  const std::int64_t what = draw_.Whole(0, 6);
  switch (what) {
    case 0:
      Set(row, "exit", Number(AnyExit()));
      if (draw_.Percent(80)) Set(row, "after", SomeTime());
      may_not_end_ = true;  // With 0, its peers may wait for it.
      break;
    case 1:
      Set(row, "signal", Text(draw_.Of(kSignals)));
      if (draw_.Percent(80)) Set(row, "after", SomeTime());
      break;
    case 2:
      Set(row, "hang", Flag(true));
      Set(row, "after", SomeTime());
      may_not_end_ = true;
      break;
    case 3:
      Set(row, "runs", SomeTime());
      if (draw_.Percent(40)) Set(row, "exit", Number(AnyExit()));
      may_not_end_ = true;
      break;
    case 4:
      Set(row, "on_term", OnTerm());
      may_not_end_ = true;  // It hides a row below, by which a task would end.
      break;
    case 5:
      Set(row, "signal", Text("KILL"));
      Set(row, "out_of_memory", Flag(true));
      Set(row, "after", SomeTime());
      break;
    default:
      Set(row, "runs", Text("forever"));
      may_not_end_ = true;
  }
  // Again and again, where no window of a budget holds two of them.
  if (what == 1 || what == 5) may_not_end_ = true;
  const bool fails = what == 1 || (what == 0 && TextAt(row, "exit") != "0");
  if (fails && draw_.Percent(20)) Set(row, "says", Text(LastWords()));
  if (what != 4 && draw_.Percent(15)) Set(row, "on_term", OnTerm());
  return row;
}

/// The same for another task of the type: what two of three do at one moment.
void JobDrawer::AddTwin(const Node& row, Node& rows) {
  const auto task = ParseTaskId(TextAt(row, "task"));
  if (!task) return;  // It is for all of them.
  for (const JobSketch::Type& type : job_.sketch.types) {
    if (type.name != task->type || type.instances < 2) continue;
    Node twin = row;
    Set(twin, "task", Text(NameOf(type, (task->index + 1) % type.instances)));
    rows.items.push_back(std::move(twin));
  }
}

/// What befalls several tasks of a job for one reason, and what comes again and again.
void JobDrawer::DrawStory(Node& rows) {
  const JobSketch::Type& type = draw_.Of(job_.sketch.types);
  const std::int64_t index = draw_.Whole(0, type.instances - 1);
  const Duration when = draw_.Time(10ms, std::max<Duration>(work_, 20ms));
  const std::string one = NameOf(type, index);
  const auto fails = [](const std::string& task, Duration after) {
    return Map({{"task", Text(task)}, {"exit", Number(1)}, {"after", Time(after)}});
  };
  may_not_end_ = true;
  switch (draw_.Whole(0, 3)) {
    case 0: {  // One stands still, and its peers give up.
      rows.items.push_back(
          AtFirst(Map({{"task", Text(one)}, {"hang", Flag(true)}, {"after", Time(when)}})));
      for (const JobSketch::Type& other : job_.sketch.types) {
        for (std::int64_t i = 0; i < other.instances; ++i) {
          const std::string peer = NameOf(other, i);
          if (peer == one || draw_.Percent(20)) continue;
          rows.items.push_back(AtFirst(fails(peer, when + draw_.Time(100ms, 15s))));
        }
      }
      return;
    }
    case 1: {  // One is killed, and another cannot reach it when both have started again.
      rows.items.push_back(
          AtFirst(Map({{"task", Text(one)}, {"signal", Text("KILL")}, {"after", Time(when)}})));
      const JobSketch::Type& other = draw_.Of(job_.sketch.types);
      const std::int64_t who = draw_.Whole(0, other.instances - 1);
      Node unreached = fails(NameOf(other, who), draw_.Time(10ms, 20s));
      Set(unreached, "attempt", Number(draw_.Whole(0, 1)));
      Set(unreached, "says", Text(CannotReach(DeviceOf(type, index))));
      rows.items.push_back(std::move(unreached));
      return;
    }
    case 2: {  // Each process of one ends about as far from the last one as its budget looks back.
      const std::int64_t tenths = draw_.Whole(5, 15);
      const Duration apart = window_ == Duration::zero() ? when : window_ * tenths / 10;
      rows.items.push_back(
          Map({{"task", Text(one)}, {"signal", Text(draw_.Of(kSignals))}, {"after", Time(apart)}}));
      return;
    }
    default: {  // One of which a rule says something fails early.
      const JobSketch::Type& named = job_.sketch.named.empty() ? type : draw_.Of(job_.sketch.named);
      Node early = fails(named.name, draw_.Time(10ms, 30s));
      if (draw_.Percent(40)) early = AtFirst(std::move(early));
      rows.items.push_back(std::move(early));
    }
  }
}

void JobDrawer::DrawBehavior() {
  Node rows = List();
  if (wild() && Some(swarm_.behavior, 30)) DrawStory(rows);
  if (wild() && Some(swarm_.behavior, 80)) {
    for (std::int64_t n = draw_.Whole(1, 3); n > 0; --n) {
      Node row = Row();
      if (draw_.Percent(25)) AddTwin(row, rows);
      rows.items.push_back(std::move(row));
    }
  }
  for (const JobSketch::Type& type : job_.sketch.types) {
    if (type.name == "ps" || type.name == "tensorboard")
      rows.items.push_back(Map({{"task", Text(type.name)}, {"runs", Text("forever")}}));
    if (type.name == "prepare") {
      const Duration prepares = draw_.Time(1s, 1min);
      rows.items.push_back(Map({{"task", Text(type.name)}, {"runs", Time(prepares)}}));
      job_.takes += prepares;
    }
  }
  if (Some(swarm_.finish, 20)) {
    rows.items.push_back(Map({{"task", Text("worker")}, {"writes", List({Text("model.bin")})}}));
  }
  if (!rows.items.empty()) Set(job_.document, "behavior", std::move(rows));
}

void JobDrawer::DrawFinish() {
  if (!swarm_.finish) return;
  Node finish = Map();
  if (draw_.Percent(60)) {
    const Duration drain = draw_.Time(100ms, 5min);
    Set(finish, "drain", Map({{AnyType(), Time(drain)}}));
    job_.takes += drain;
  }
  if (wild() && draw_.Percent(20))
    Set(finish, "require", List({Map({{"path", Text("model.bin")}})}));
  if (!finish.entries.empty()) Set(job_.document, "finish", std::move(finish));
}

}  // namespace tfyarn::explore
