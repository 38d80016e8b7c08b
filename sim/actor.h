// Actors: the processes of a simulated cluster, each a state machine with a place, a timer and a
// periodic link.
//
// `Actor<Machine>` is one process, of any kind. Its machine is stepped by the driver of its kind
// (`Driver<Machine>`), which carries out what the machine orders, and knows what its beats are. Any
// part may step any actor: what comes of it is the driver's business. Timers and beats are for
// links.h, to which all kinds of actors are one (`AnyActor`).
//
// What else there is of a kind (its events, its actions, what is kept of each such actor) is in its
// `Role`, see actors.h.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/model/check.h"
#include "core/model/time.h"
#include "sim/doubles.h"
#include "sim/links.h"
#include "sim/message_faults.h"
#include "sim/network.h"
#include "sim/run_setup.h"
#include "sim/spare_list.h"

namespace tfyarn::sim {

template <class Machine>
struct Role;
template <class Machine>
class Actor;

/// Steps the machines of one kind. A part of the simulator that derives from it carries their
/// actions out.
template <class Machine>
class Driver {
 public:
  using Event = typename Role<Machine>::Event;
  using Action = typename Role<Machine>::Action;

  /// All must outlive it.
  Driver(Kernel& kernel, Links& links, const RunSetup& setup)
      : kernel_(kernel), links_(links), setup_(setup) {}
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  void Step(Actor<Machine>& actor, Event&& event) {
    links_.CatchUp(actor);
    Hears(actor, event);
    SpareList<Action> actions(spare_);
    if constexpr (requires { Role<Machine>::kDouble; }) {
      StepMachine(setup_.doubles.*Role<Machine>::kDouble, *actor.machine, kernel_.now(), event,
                  *actions);
    } else {
      actor.machine->Step(kernel_.now(), event, *actions);
    }
    Heard(actor, std::move(event));
    for (Action& action : *actions) {
      Carry(actor, action);
      if (!actor.alive) break;
    }
    Stepped(actor);
    links_.Reschedule(actor);
  }

  /// The machine is about to hear this.
  virtual void Hears(Actor<Machine>& /*actor*/, const Event& /*event*/) {}
  /// It has, and its orders come next.
  virtual void Heard(Actor<Machine>& /*actor*/, Event&& /*event*/) {}
  /// Its next order. No more of the step is carried out when the process is dead after it.
  virtual void Carry(Actor<Machine>& actor, Action& action) = 0;
  /// All its orders are carried out, or the process is dead.
  virtual void Stepped(Actor<Machine>& /*actor*/) {}
  /// What comes while the process stands still. It hears of it when it goes on.
  virtual void Keep(Actor<Machine>& actor, Event&& event) {
    actor.inbox.push_back(std::move(event));
  }

  /// The process ends, at once, with what runs in it. Its NodeManager and its peers are not told.
  virtual void End(Actor<Machine>& actor) = 0;

  // See AnyActor.
  [[nodiscard]] virtual Party PartyOf(const Actor<Machine>& actor) const = 0;
  [[nodiscard]] virtual bool HasQuietLink(const Actor<Machine>& actor) const = 0;
  virtual void SendIdleBeat(Actor<Machine>& actor, Instant at, Instant answered) = 0;
  virtual void Vouch(Actor<Machine>& actor, bool vouched, Instant last) = 0;

 protected:
  ~Driver() = default;

  Kernel& kernel_;
  Links& links_;
  const RunSetup& setup_;

 private:
  std::vector<Action> spare_;
};

/// A process with such a machine; it exists until the step is over in which the process dies.
template <class Machine>
class Actor final : public AnyActor, public Role<Machine>::Record {
 public:
  using Event = typename Role<Machine>::Event;
  using Action = typename Role<Machine>::Action;

  /// Both must outlive it.
  Actor(Links& links, Driver<Machine>& driver, Place at) : AnyActor(links, at), driver_(driver) {}

  /// Now, or when the process does not stand still any more.
  void Step(Event&& event) {
    if (paused) return driver_.Keep(*this, std::move(event));
    driver_.Step(*this, std::move(event));
  }
  /// Whether it stands still or not.
  void StepNow(Event&& event) { driver_.Step(*this, std::move(event)); }
  /// Its process ends, at once, with what runs in it. Its NodeManager and its peers are not told.
  void End() { driver_.End(*this); }
  /// A step about beats that were never sent: nothing comes of it.
  template <class OneEvent>
  void StepQuietly(Instant at, const OneEvent& event) {
    std::vector<Action> none;
    machine->Step(at, event, none);
    TF_CHECK(none.empty());
  }
  /// The one order that the machine gives when its deadline is reached, at an instant that may be
  /// over. It is for the caller to carry out.
  [[nodiscard]] Action OrderAtDeadline(Instant at) {
    std::vector<Action> actions;
    machine->Step(at, typename Role<Machine>::Deadline{}, actions);
    TF_CHECK(actions.size() == 1);
    return std::move(actions.front());
  }

  [[nodiscard]] std::optional<Instant> NextDeadline(bool decision) const override {
    if (machine == nullptr) return std::nullopt;
    return decision ? machine->next_decision() : machine->next_deadline();
  }
  void ReachDeadline() override { StepNow(typename Role<Machine>::Deadline{}); }
  void TellElided(std::uint64_t count, Instant last) override {
    if constexpr (!std::is_void_v<typename Role<Machine>::Elided>)
      StepQuietly(last, typename Role<Machine>::Elided{.count = count, .last = last});
  }
  [[nodiscard]] Party party() const override { return driver_.PartyOf(*this); }
  [[nodiscard]] bool HasQuietLink() const override { return driver_.HasQuietLink(*this); }
  void SendIdleBeat(Instant at, Instant answered) override {
    driver_.SendIdleBeat(*this, at, answered);
  }
  void Vouch(bool vouched, Instant last) override { driver_.Vouch(*this, vouched, last); }

  /// nullptr: it does not run; of the ResourceManager's process alone.
  std::unique_ptr<Machine> machine;
  std::vector<Event> inbox;  ///< What came while the process stood still.

 private:
  Driver<Machine>& driver_;
};

/// All actors of one kind, by id.
template <class Machine>
class ActorTable {
 public:
  /// A new one; it has no machine yet.
  Actor<Machine>& Add(Links& links, Driver<Machine>& driver, Place place) {
    auto actor = std::make_unique<Actor<Machine>>(links, driver, place);
    return *actors_.emplace(actor->id, std::move(actor)).first->second;
  }
  /// Dead or alive; nullptr: none has that id, or it is gone.
  [[nodiscard]] Actor<Machine>* Find(std::uint32_t id) const {
    const auto found = actors_.find(id);
    return found == actors_.end() ? nullptr : found->second.get();
  }
  /// nullptr: none has that id, or its process has ended.
  [[nodiscard]] Actor<Machine>* Living(std::uint32_t id) const {
    Actor<Machine>* actor = Find(id);
    return actor != nullptr && actor->alive ? actor : nullptr;
  }
  /// Steps that one when `time` is over, if its process lives then.
  void StepAfter(Kernel& kernel, Duration time, std::uint32_t id,
                 typename Role<Machine>::Event event) const {
    kernel.After(time, [this, id, event = std::move(event)]() mutable {
      if (Actor<Machine>* actor = Living(id)) actor->Step(std::move(event));
    });
  }
  /// What came while its process stood still it hears now, each in a step of its own.
  void EmptyInbox(Kernel& kernel, Actor<Machine>& actor) const {
    for (auto& event : std::exchange(actor.inbox, {}))
      StepAfter(kernel, Duration::zero(), actor.id, std::move(event));
  }
  void Remove(std::uint32_t id) { actors_.erase(id); }
  /// One whose process died: its object stays until the step that runs now is over.
  void RemoveAfterStep(Kernel& kernel, std::uint32_t id) {
    kernel.After(Duration::zero(), [this, id] { Remove(id); });
  }

 private:
  boost::unordered_flat_map<std::uint32_t, std::unique_ptr<Actor<Machine>>> actors_;
};

}  // namespace tfyarn::sim
