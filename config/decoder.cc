#include "config/decoder.h"

#include <fmt/format.h>

#include "config/suggest.h"

namespace tfyarn::config {

std::string Decoder::Named(std::string_view rest) const {
  return field_.empty() ? std::string(rest) : fmt::format("`{}`: {}", Printable(field_), rest);
}

void Decoder::Wrong(const Node& at, std::string_view wants, std::vector<std::string> notes) {
  const std::string subject = field_.empty() ? "this" : fmt::format("`{}`", Printable(field_));
  Error(at, fmt::format("{} must be {}, got {}", subject, wants, Describe(at)), std::move(notes));
}

void Decoder::BadValue(const Node& at, std::string_view problem, std::string_view suggestion) {
  std::vector<std::string> notes;
  if (!suggestion.empty()) notes.push_back(fmt::format("did you mean {}?", Printable(suggestion)));
  Error(
      at,
      Named(fmt::format("{} {}", at.text.empty() ? "an empty text" : Printable(at.text), problem)),
      std::move(notes));
}

void Decoder::Unknown(const Node& at, std::string_view what, std::string_view name,
                      const std::vector<std::string>& known) {
  Error(at, Named(fmt::format("there is no {} `{}`", what, Printable(name))),
        NotesForNames(name, known));
}

}  // namespace tfyarn::config
