#include "core/model/port_use.h"

#include <fmt/format.h>

#include "core/model/rounded_text.h"
#include "core/model/text.h"

namespace tfyarn {

std::string PortUseInBrief(const TaskId& task, const PortUse& use, std::int32_t port) {
  switch (use.listener) {
    case PortListener::kOurs:
      return "";
    case PortListener::kStranger:
      return fmt::format("another program listens on the port of {}, {}", ToString(task), port);
    case PortListener::kNobody:
      break;
  }
  if (use.elsewhere.empty())
    return fmt::format("{} does not listen on its port {}", ToString(task), port);
  std::string ports;
  for (const std::int32_t other : use.elsewhere)
    ports += fmt::format("{}{}", ports.empty() ? "" : ", ", other);
  return fmt::format("{} listens on {}, not on its port {}", ToString(task), ports, port);
}

std::string PortUseInWords(const PortUseFound& found) {
  const std::string after = RoundedText(found.after);
  if (found.use.listener == PortListener::kOurs)
    return fmt::format("{} listens on its port {}, seen {} after its start", ToString(found.task),
                       found.address.port, after);
  std::string text = fmt::format(
      "{}, {} after its start: ", PortUseInBrief(found.task, found.use, found.address.port), after);
  if (found.use.listener == PortListener::kStranger)
    return text + fmt::format("its peers may reach that one instead; `ss -ltnp` on {} shows which",
                              found.address.host);
  return text +
         "its peers wait for it; does its script use the address that TF_CONFIG or "
         "TFYARN_PORT gives it, and how far did it come?";
}

}  // namespace tfyarn
