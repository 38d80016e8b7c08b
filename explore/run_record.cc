#include "explore/run_record.h"

#include <variant>

namespace tfyarn::explore {

void RunRecord::Observe(const trace::TraceRecord& record) {
  if (const auto* created = std::get_if<trace::JobCreated>(&record.fact)) {
    names_[created->job] = created->name;
  } else if (const auto* ordered = std::get_if<trace::AmOrdered>(&record.fact)) {
    if (std::holds_alternative<AppendJournal>(ordered->action)) ++appends[names_[ordered->job]];
  }
  if (const auto effect = sim::EffectOf(record)) ++effects[*effect];
}

}  // namespace tfyarn::explore
