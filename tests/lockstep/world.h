// A cluster that sequences of operations are tried on: the fake ResourceManager stepped by hand, or
// any cluster behind Hadoop's ports. Each application has a model beside it, which is told what
// happens and judges each answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/ids.h"
#include "core/model/yarn.h"
#include "tests/lockstep/allocate_model.h"
#include "tests/lockstep/draws.h"

namespace tfyarn::lockstep {

struct Application {
  explicit Application(Terms terms) : model(std::move(terms)) {}
  virtual ~Application() = default;
  ApplicationId id;
  AllocateModel model;
  std::int32_t failures = 0;  ///< Of its AMs, as far as they count.
};

class World {
 public:
  World() = default;
  virtual ~World() = default;
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] const std::vector<std::unique_ptr<Application>>& applications() const {
    return applications_;
  }
  /// Hosts in a fixed order, with where they are.
  [[nodiscard]] virtual const std::vector<std::pair<std::string, Place>>& hosts() const = 0;
  /// The label of a partition that some nodes form.
  [[nodiscard]] virtual std::string partition() const = 0;
  [[nodiscard]] virtual Resource unit() const = 0;  ///< Of what is asked for, in multiples.

  /// Its first AM runs when this returns, or will.
  virtual void Submit(bool keep_containers, std::size_t queue) = 0;
  // Calls of its AM; each is judged by the model.
  virtual void Register(Application& application) = 0;
  virtual void Allocate(Application& application, const yarn::AllocateRequest& request) = 0;
  virtual void Finish(Application& application) = 0;
  // What happens in containers.
  virtual void Start(Application& application, const ContainerId& container) = 0;
  virtual void End(Application& application, const ContainerId& container, std::int32_t code) = 0;
  virtual void EndAm(Application& application, std::int32_t code) = 0;
  // What happens to the cluster.
  virtual void Kill(Application& application) = 0;
  virtual void RestartRm() = 0;
  virtual void TurnNode(std::size_t host) = 0;  ///< Away, or back.
  virtual void Pass(std::size_t rounds) = 0;    ///< Heartbeats of all nodes.
  /// What only this kind of cluster can be made to do.
  virtual void Special(Draws& draws) = 0;
  /// What does not hold, beside what the models say.
  [[nodiscard]] virtual std::vector<std::string> Check() = 0;

 protected:
  std::vector<std::unique_ptr<Application>> applications_;
};

/// What a sequence did, and what did not hold after its last operation; empty when all held.
struct Outcome {
  std::vector<std::string> operations;
  std::vector<std::string> broken;
};

/// Draws operations until the bytes are used up, `longest` are done or something does not hold.
[[nodiscard]] Outcome RunSequence(World& world, Draws& draws, std::size_t longest);

/// For a person: the operations, numbered, and what broke.
[[nodiscard]] std::string ToText(const Outcome& outcome);

}  // namespace tfyarn::lockstep
