// A reference model of what the ApplicationMaster decides, written from docs/policies.md and
// docs/job.md alone: a second reading of the same rules, which shares no code with core/am.
//
// It reads a run's trace. Evidence is what happened on nodes, in the RM's books and at faults, and
// what of it was delivered to the AM and when; what the AM says of itself (RestartDecided,
// SpecAssembled, VerdictReached) is what it judges. Where the order of messages, an append under
// way or the AM's own death leave open what the AM knew, every outcome that some order permits is
// allowed: it raises no false alarm, and is otherwise as strict as the documents are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/model/job_spec.h"
#include "core/trace/record.h"

namespace tfyarn::oracles {

class ReferenceVerdict {
 public:
  /// `lossy`: messages may get lost without any fault. `spread`: by how much one may be slower than
  /// another, without any fault. `lasts`, by fault: whether it goes on after it has struck; of
  /// others no end is heard.
  explicit ReferenceVerdict(bool lossy = false, Duration spread = {}, std::vector<bool> lasts = {});
  ~ReferenceVerdict();
  ReferenceVerdict(const ReferenceVerdict&) = delete;
  ReferenceVerdict& operator=(const ReferenceVerdict&) = delete;

  /// A job is about to be created. `spec` must be complete (defaults filled in) and is kept.
  void JobSubmitted(trace::JobIndex job, std::shared_ptr<const JobSpec> spec);
  /// The next record, in order.
  void Observe(const trace::TraceRecord& record);
  /// Nothing of the job follows any more: its books are dropped.
  void JobSettled(trace::JobIndex job);

  /// What broke, one sentence each, since the last call.
  [[nodiscard]] std::vector<std::string> TakeNew();
  /// Decisions judged so far.
  [[nodiscard]] std::uint64_t judged() const;

  class Model;

 private:
  std::unique_ptr<Model> model_;
};

}  // namespace tfyarn::oracles
