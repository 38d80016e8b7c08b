// The cluster spec: which task listens where. Shared and immutable once made; its id is a hash of
// its content.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/model/describe.h"
#include "core/model/host_port.h"
#include "core/model/ids.h"

namespace tfyarn {

/// Every task type of the job in sorted order, each with the addresses of its tasks by index. It
/// holds all tasks that listen (evaluator and tensorboard too): who is left out of TF_CONFIG is the
/// writer's business.
struct ClusterSpec {
  Epoch epoch;
  std::map<std::string, std::vector<HostPort>> tasks;
  friend bool operator==(const ClusterSpec&, const ClusterSpec&) = default;
};
BOOST_DESCRIBE_STRUCT(ClusterSpec, (), (epoch, tasks))

/// A spec as events and actions carry it: every form (text, trace, digest) shows only the id.
class SpecRef {
 public:
  SpecRef() = default;
  SpecRef(SpecId id, std::shared_ptr<const ClusterSpec> spec) : id_(id), spec_(std::move(spec)) {}
  [[nodiscard]] SpecId id() const { return id_; }
  /// nullptr in a default-made SpecRef only.
  [[nodiscard]] const ClusterSpec* get() const { return spec_.get(); }
  [[nodiscard]] const std::shared_ptr<const ClusterSpec>& shared() const { return spec_; }
  [[nodiscard]] SpecId shared_id() const { return id_; }
  friend bool operator==(const SpecRef& a, const SpecRef& b) { return a.id_ == b.id_; }

 private:
  SpecId id_{};
  std::shared_ptr<const ClusterSpec> spec_;
};

/// Makes the shared form; the id hashes epoch, types and addresses (xxHash3, stable across builds).
[[nodiscard]] SpecRef Share(ClusterSpec spec);

}  // namespace tfyarn
