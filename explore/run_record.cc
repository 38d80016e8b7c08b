#include "explore/run_record.h"

#include <variant>

namespace tfyarn::explore {

void RunRecord::Observe(const trace::TraceRecord& record) {
  if (const auto* created = std::get_if<trace::JobCreated>(&record.fact)) {
    names_[created->job] = created->name;
  } else if (const auto* ordered = std::get_if<trace::AmOrdered>(&record.fact)) {
    if (std::holds_alternative<AppendJournal>(ordered->action)) ++appends[names_[ordered->job]];
    ++effects[{sim::EffectActor::kAm, sim::EffectKind(ordered->action)}];
  } else if (const auto* agent = std::get_if<trace::AgentOrdered>(&record.fact)) {
    ++effects[{sim::EffectActor::kAgent, sim::EffectKind(agent->action)}];
  } else if (const auto* client = std::get_if<trace::ClientOrdered>(&record.fact)) {
    ++effects[{sim::EffectActor::kClient, sim::EffectKind(client->action)}];
  }
}

}  // namespace tfyarn::explore
