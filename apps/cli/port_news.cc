#include "apps/cli/port_news.h"

#include <variant>

#include "core/model/port_use.h"

namespace tfyarn::cli {

std::string PortNews::Text(const trace::TraceRecord& record) {
  constexpr int kInFull = 3;
  const auto* ordered = std::get_if<trace::AmOrdered>(&record.fact);
  const auto* found = ordered == nullptr ? nullptr : std::get_if<PortUseFound>(&ordered->action);
  if (found == nullptr) return "";
  // That one listens is worth a line only after it was told that it does not.
  if (found->use.listener == PortListener::kOurs && silent_.erase(found->task) == 0) return "";
  if (found->use.listener != PortListener::kOurs) silent_.insert(found->task);
  if (++told_ <= kInFull) return PortUseInWords(*found);
  return told_ == kInFull + 1
             ? "more tasks do not listen on their ports: the page and events.jsonl "
               "name each"
             : "";
}

}  // namespace tfyarn::cli
