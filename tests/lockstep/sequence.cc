// The operations of a sequence, drawn from bytes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/model/response_id.h"
#include "tests/lockstep/world.h"

namespace tfyarn::lockstep {
namespace {

constexpr std::size_t kApplications = 3;

class Sequence {
 public:
  Sequence(World& world, Draws& draws) : world_(world), draws_(draws) {}

  /// Its text.
  std::string Step() {
    if (world_.applications().empty()) return Submit();
    Application& application = *world_.applications()[draws_.Below(world_.applications().size())];
    const std::string of = fmt::format(" of application {}", application.id.id);
    switch (draws_.Below(32)) {
      case 20:
        return Submit();
      case 21:
        world_.Register(application);
        return "register" + of;
      case 22:
        return WrongId(application) + of;
      case 23:
        return Bad(application) + of;
      case 24:
        world_.EndAm(application, static_cast<std::int32_t>(1 + draws_.Below(3)));
        return "the AM's end" + of;
      case 25:
        if (!draws_.OneIn(4)) return Allocate(application) + of;
        world_.Finish(application);
        return "finish" + of;
      case 26:
        if (!draws_.OneIn(8)) return Allocate(application) + of;
        world_.Kill(application);
        return "kill" + of;
      case 27:
        if (!draws_.OneIn(4)) return Pass();
        world_.RestartRm();
        return "the ResourceManager's restart";
      case 28: {
        const std::size_t host = draws_.Below(world_.hosts().size());
        world_.TurnNode(host);
        return "turn node " + std::to_string(host);
      }
      case 29:
        return Repeat(application) + of;
      case 30:
      case 31:
        world_.Special(draws_);
        return "special";
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        return Pass();
      case 5:
      case 6:
      case 7:
      case 8:
        return Start(application) + of;
      case 9:
      case 10:
      case 11:
        return End(application) + of;
      default:
        if (application.model.attempt_runs() && !application.model.registered()) {
          world_.Register(application);
          return "register" + of;
        }
        return Allocate(application) + of;
    }
  }

 private:
  std::string Submit() {
    if (world_.applications().size() >= kApplications) return Pass();
    const bool keep = draws_.Below(2) == 1;
    world_.Submit(keep, draws_.Below(2));
    return keep ? "submit with kept containers" : "submit";
  }

  std::string Pass() {
    const std::size_t rounds = 1 + draws_.Below(4);
    world_.Pass(rounds);
    return fmt::format("{} rounds of heartbeats", rounds);
  }

  // The shape of a row follows from its priority, so that rows of one key agree with each other.
  void DrawRows(yarn::AllocateRequest& request) {
    const auto priority = static_cast<std::int32_t>(1 + draws_.Below(5));
    const auto count = static_cast<std::int32_t>(draws_.Below(4));
    Resource size = world_.unit();
    yarn::ResourceRequest row{.priority = priority, .capability = size, .num_containers = count};
    const auto& [host, place] = world_.hosts()[0];
    switch (priority) {
      case 1:
        row.capability = Times(size, static_cast<std::int64_t>(1 + draws_.Below(2)));
        break;
      case 2:
        row.node_label_expression = world_.partition();
        break;
      case 3:
      case 4: {
        // Strict on one host, and preferring it.
        const bool relax = priority == 4;
        for (const std::string& name : {host, place.rack}) {
          yarn::ResourceRequest at = row;
          at.resource_name = name;
          at.relax_locality = relax;
          request.ask.push_back(at);
        }
        request.ask.front().relax_locality = true;
        row.relax_locality = relax;
        break;
      }
      default:
        row.allocation_request_id = static_cast<std::int64_t>(7 + draws_.Below(2));
        break;
    }
    request.ask.push_back(row);
  }

  yarn::AllocateRequest Draw(Application& application) {
    const AllocateModel& model = application.model;
    yarn::AllocateRequest request{.response_id = model.response_id()};
    if (draws_.Below(2) == 1) DrawRows(request);
    if (draws_.Below(4) == 3) {
      for (std::size_t left = 1 + draws_.Below(2); left > 0; --left) {
        if (const auto id = Any(model)) request.release.push_back(*id);
      }
    }
    if (draws_.Below(4) == 3) {
      const auto& [host, place] = world_.hosts()[draws_.Below(world_.hosts().size())];
      const std::string& name = draws_.Below(4) == 3 ? place.rack : host;
      (draws_.Below(2) == 1 ? request.blacklist_removals : request.blacklist_additions)
          .push_back(name);
    }
    return request;
  }

  /// A container that may be released: alive or not, of this attempt where others are refused; or
  /// one that never was.
  std::optional<ContainerId> Any(const AllocateModel& model) {
    std::vector<ContainerId> ids;
    for (const auto& [id, held] : model.containers()) {
      const bool own = id.application_attempt == model.attempt();
      if (held.life != Life::kGranted && (own || model.terms().keep_containers)) ids.push_back(id);
    }
    if (draws_.OneIn(8)) return ContainerId{.application_attempt = model.attempt(), .id = 9999};
    if (ids.empty()) return std::nullopt;
    return draws_.Of(ids);
  }

  std::string Allocate(Application& application) {
    const yarn::AllocateRequest request = Draw(application);
    world_.Allocate(application, request);
    return Text(request);
  }

  static std::string Text(const yarn::AllocateRequest& request) {
    std::string text = fmt::format("allocate {}", request.response_id);
    for (const yarn::ResourceRequest& row : request.ask) {
      text += fmt::format(" {}x p{} {}", row.num_containers, row.priority.value_or(0),
                          row.resource_name);
    }
    for (const ContainerId& id : request.release) text += " -" + ToString(id);
    for (const std::string& name : request.blacklist_additions) text += " not:" + name;
    for (const std::string& name : request.blacklist_removals) text += " again:" + name;
    return text;
  }

  std::string Repeat(Application& application) {
    yarn::AllocateRequest request = Draw(application);
    request.response_id = ResponseIdBefore(application.model.response_id());
    world_.Allocate(application, request);
    return "repeated " + Text(request);
  }

  std::string WrongId(Application& application) {
    yarn::AllocateRequest request = Draw(application);
    const std::int32_t now = application.model.response_id();
    request.response_id = draws_.Below(2) == 1 ? ResponseIdAfter(now, 1 + draws_.Below(3))
                                               : ResponseIdBefore(ResponseIdBefore(now));
    world_.Allocate(application, request);
    return "wrong " + Text(request);
  }

  std::string Bad(Application& application) {
    yarn::AllocateRequest request = Draw(application);
    const std::size_t kind = draws_.Below(3);
    request.release.clear();
    if (kind == 0) {
      Resource size = application.model.terms().maximum;
      size.memory_mb *= 2;
      request.ask.push_back({.priority = 9, .capability = size, .num_containers = 1});
    } else if (kind == 1) {
      request.blacklist_additions.push_back("*");
    } else {
      ApplicationAttemptId other = application.model.attempt();
      other.attempt += 7;
      request.release.push_back({.application_attempt = other, .id = 1});
    }
    world_.Allocate(application, request);
    return fmt::format("bad ({}) {}", kind, Text(request));
  }

  std::string Start(Application& application) {
    std::vector<ContainerId> held = application.model.In(Life::kHeld);
    if (held.empty()) return "nothing to start";
    const ContainerId id = draws_.Of(held);
    world_.Start(application, id);
    return "start " + ToString(id);
  }

  std::string End(Application& application) {
    std::vector<ContainerId> running = application.model.In(Life::kRunning);
    if (running.empty()) return "nothing to end";
    const ContainerId id = draws_.Of(running);
    const auto code = static_cast<std::int32_t>(draws_.Below(3));
    world_.End(application, id, code);
    return fmt::format("end of {} with {}", ToString(id), code);
  }

  World& world_;
  Draws& draws_;
};

}  // namespace

Outcome RunSequence(World& world, Draws& draws, std::size_t longest) {
  Outcome outcome;
  Sequence sequence(world, draws);
  while (!draws.done() && outcome.operations.size() < longest && outcome.broken.empty()) {
    outcome.operations.push_back(sequence.Step());
    outcome.broken = world.Check();
    for (const auto& application : world.applications()) {
      for (const std::string& what : application->model.broken())
        outcome.broken.push_back(ToString(application->id) + ": " + what);
    }
  }
  return outcome;
}

std::string ToText(const Outcome& outcome) {
  std::string text;
  for (std::size_t i = 0; i < outcome.operations.size(); ++i)
    text += fmt::format("{:4} {}\n", i, outcome.operations[i]);
  for (const std::string& what : outcome.broken) text += "broken: " + what + "\n";
  return text;
}

}  // namespace tfyarn::lockstep
