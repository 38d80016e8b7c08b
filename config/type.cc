#include "config/type.h"

#include <fmt/format.h>

#include <limits>

#include "config/suggest.h"

namespace tfyarn::config {
namespace {

constexpr std::size_t kLongestText = std::size_t{64} * 1024;

/// True when the node is a scalar; the error otherwise.
bool WantScalar(Decoder& decoder, const Node& node, std::string_view wants) {
  if (node.is_scalar()) return true;
  decoder.Wrong(node, wants);
  return false;
}

template <class V>
void TakeQuantity(Decoder& decoder, const Node& node, const Quantity<V>& quantity, auto&& take) {
  if (quantity) {
    take(*quantity);
  } else {
    decoder.BadValue(node, quantity.error().problem, quantity.error().suggestion);
  }
}

std::string RangeText(std::string_view least, std::string_view most) {
  return fmt::format("{} to {}", least, most);
}

template <class I>
Type<I> WholeOf(I least, I most) {
  const bool open = most == std::numeric_limits<I>::max();
  const std::string range = open ? fmt::format("at least {}", least)
                                 : RangeText(fmt::to_string(least), fmt::to_string(most));
  const std::string text = "whole number, " + range;
  return {.info = {.shape = Shape::kWhole,
                   .text = text,
                   .least = static_cast<double>(least),
                   .most = open ? std::nullopt : std::optional<double>(static_cast<double>(most))},
          .read =
              [=](Decoder& decoder, const Node& node, I& out) {
                if (!WantScalar(decoder, node, "a " + text)) return;
                if (node.quoted)
                  return decoder.BadValue(node, "is text in quotes, not a number", node.text);
                const auto value = ParseWhole(node.text);
                if (!value)
                  return decoder.BadValue(node, value.error().problem + " (" + range + ")",
                                          value.error().suggestion);
                if (*value < static_cast<std::int64_t>(least) ||
                    *value > static_cast<std::int64_t>(most)) {
                  return decoder.BadValue(node, "is out of range: " + range);
                }
                out = static_cast<I>(*value);
              },
          .show = [](const I& value) { return fmt::to_string(value); }};
}

Type<std::int64_t> QuantityType(std::string text, std::string pattern, std::int64_t least,
                                std::string least_text,
                                Quantity<std::int64_t> (*parse)(std::string_view),
                                std::string (*show)(std::int64_t)) {
  return {.info = {.shape = Shape::kQuantity, .text = text, .pattern = std::move(pattern)},
          .read =
              [=](Decoder& decoder, const Node& node, std::int64_t& out) {
                if (!WantScalar(decoder, node, "a " + text)) return;
                TakeQuantity(decoder, node, parse(node.text), [&](std::int64_t value) {
                  if (value < least)
                    return decoder.BadValue(node, "is out of range: at least " + least_text);
                  out = value;
                });
              },
          .show = [show](const std::int64_t& value) { return show(value); }};
}

constexpr std::string_view kDurationPattern = R"(^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h|d|w))+$)";

}  // namespace

std::string TextOf(const TypeInfo& info) {
  if (info.shape == Shape::kChoice && info.text.empty()) {
    std::string out;
    for (const std::string& choice : info.choices) out += (out.empty() ? "" : " | ") + choice;
    return out;
  }
  if (!info.text.empty()) return info.text;
  if (info.shape == Shape::kRecord) return "map";
  if (info.shape == Shape::kList)
    return "list of " + TextOf(info.of[0]) + (info.of[0].shape == Shape::kRecord ? "s" : "");
  if (info.shape == Shape::kMap) return "map to " + TextOf(info.of[0]);
  return {};
}

TypeInfo AnyOf(std::string text, std::vector<TypeInfo> of) {
  return {.shape = Shape::kAnyOf, .text = std::move(text), .of = std::move(of)};
}

Type<std::string> Text() {
  return {.info = {.shape = Shape::kText, .text = "text"},
          .read =
              [](Decoder& decoder, const Node& node, std::string& out) {
                if (!WantScalar(decoder, node, "text")) return;
                if (node.text.size() > kLongestText)
                  return decoder.BadValue(node, "is longer than 65536 bytes");
                out = node.text;
              },
          .show = [](const std::string& value) { return value; }};
}

Type<std::string> TextLike(std::string pattern, std::string what,
                           bool (*matches)(std::string_view)) {
  return {.info = {.shape = Shape::kText, .text = what, .pattern = std::move(pattern)},
          .read =
              [what, matches](Decoder& decoder, const Node& node, std::string& out) {
                if (!WantScalar(decoder, node, what)) return;
                if (node.text.size() > 256)
                  return decoder.BadValue(node, "is longer than 256 bytes");
                if (!matches(node.text)) return decoder.Wrong(node, what);
                out = node.text;
              },
          .show = [](const std::string& value) { return value; }};
}

int ReadChoice(Decoder& decoder, const Node& node, const std::vector<std::string>& choices) {
  for (std::size_t i = 0; node.is_scalar() && i < choices.size(); ++i) {
    if (choices[i] == node.text) return static_cast<int>(i);
  }
  decoder.Error(node, decoder.Named(fmt::format("{} is not one of its values", Describe(node))),
                NotesForNames(node.text, choices));
  return -1;
}

Type<std::string> Word(std::vector<std::string> choices) {
  return {.info = {.shape = Shape::kChoice, .text = "", .choices = choices},
          .read =
              [choices](Decoder& decoder, const Node& node, std::string& out) {
                if (ReadChoice(decoder, node, choices) >= 0) out = node.text;
              },
          .show = [](const std::string& value) { return value; }};
}

Type<bool> Bool() {
  return {
      .info = {.shape = Shape::kBool, .text = "true or false"},
      .read =
          [](Decoder& decoder, const Node& node, bool& out) {
            if (node.is_scalar() && !node.quoted && (node.text == "true" || node.text == "false")) {
              out = node.text == "true";
              return;
            }
            const std::string& text = node.text;
            std::vector<std::string> notes;
            if (text == "yes" || text == "Yes" || text == "on" || text == "True" ||
                text == "TRUE" || text == "1") {
              notes.emplace_back("did you mean true?");
            } else if (text == "no" || text == "No" || text == "off" || text == "False" ||
                       text == "FALSE" || text == "0") {
              notes.emplace_back("did you mean false?");
            }
            decoder.Wrong(node, "true or false", std::move(notes));
          },
      .show = [](const bool& value) { return std::string(value ? "true" : "false"); }};
}

Type<std::int64_t> Whole(std::int64_t least, std::int64_t most) {
  return WholeOf<std::int64_t>(least, most);
}
Type<std::int32_t> Count(std::int32_t least, std::int32_t most) {
  return WholeOf<std::int32_t>(least, most);
}

Type<std::uint64_t> Seed() {
  const Type<std::int64_t> whole =
      WholeOf<std::int64_t>(0, std::numeric_limits<std::int64_t>::max());
  return {.info = whole.info,
          .read =
              [whole](Decoder& decoder, const Node& node, std::uint64_t& out) {
                auto value = static_cast<std::int64_t>(out);
                whole.read(decoder, node, value);
                out = static_cast<std::uint64_t>(value);
              },
          .show = [](const std::uint64_t& value) { return std::to_string(value); }};
}

Type<double> Number(double least, double most) {
  const std::string range = RangeText(NumberText(least), NumberText(most));
  return {
      .info = {.shape = Shape::kNumber, .text = "number, " + range, .least = least, .most = most},
      .read =
          [=](Decoder& decoder, const Node& node, double& out) {
            if (!WantScalar(decoder, node, "a number, " + range)) return;
            TakeQuantity(decoder, node, ParseNumber(node.text), [&](double value) {
              if (value < least || value > most)
                return decoder.BadValue(node, "is out of range: " + range);
              out = value;
            });
          },
      .show = [](const double& value) { return NumberText(value); }};
}

Type<Duration> Time(Duration least, Duration most) {
  std::string text = "duration";
  std::string range;
  if (least > Duration::zero()) range = "at least " + ToString(least);
  if (most < kLongest) range += (range.empty() ? "at most " : ", at most ") + ToString(most);
  if (!range.empty()) text += ", " + range;
  return {
      .info = {.shape = Shape::kQuantity, .text = text, .pattern = std::string(kDurationPattern)},
      .read =
          [=](Decoder& decoder, const Node& node, Duration& out) {
            if (!WantScalar(decoder, node, "a duration like 30s, 5m or 1d12h")) return;
            TakeQuantity(decoder, node, ParseDuration(node.text), [&](Duration value) {
              if (value < least || value > most)
                return decoder.BadValue(node, "is out of range: " + range);
              out = value;
            });
          },
      .show = [](const Duration& value) { return ToString(value); }};
}

Type<std::int64_t> Memory(std::int64_t least_mb) {
  return QuantityType(
      least_mb > 0 ? "memory size, at least " + MemoryText(least_mb) : "memory size",
      R"(^[0-9]+(\.[0-9]+)?(B|KiB|MiB|GiB|TiB)$)", least_mb, MemoryText(least_mb), ParseMemoryMb,
      MemoryText);
}

Type<std::int64_t> Bytes() {
  return QuantityType("size", R"(^[0-9]+(\.[0-9]+)?(B|KiB|MiB|GiB|TiB)$)", 0, "0B", ParseBytes,
                      BytesText);
}

Type<std::int64_t> Bandwidth() {
  return QuantityType("bandwidth", R"(^[0-9]+(\.[0-9]+)?(bps|Kbps|Mbps|Gbps|Tbps)$)", 1, "1bps",
                      ParseBandwidth, BandwidthText);
}

Type<std::int32_t> Percent(std::int32_t most_permille) {
  const std::string range = "0% to " + PermilleText(most_permille);
  return {.info = {.shape = Shape::kQuantity,
                   .text = "share, " + range,
                   .pattern = R"(^[0-9]+(\.[0-9])?%$)"},
          .read =
              [=](Decoder& decoder, const Node& node, std::int32_t& out) {
                if (!WantScalar(decoder, node, "a share like 60%")) return;
                TakeQuantity(decoder, node, ParsePermille(node.text), [&](std::int64_t value) {
                  if (value > most_permille)
                    return decoder.BadValue(node, "is out of range: " + range);
                  out = static_cast<std::int32_t>(value);
                });
              },
          .show = [](const std::int32_t& value) { return PermilleText(value); }};
}

Type<std::int32_t> Signal() {
  return {.info = {.shape = Shape::kText, .text = "signal: KILL, TERM, SEGV, ... or its number"},
          .read =
              [](Decoder& decoder, const Node& node, std::int32_t& out) {
                if (!WantScalar(decoder, node, "a signal like KILL, TERM or 9")) return;
                TakeQuantity(decoder, node, ParseSignal(node.text),
                             [&](std::int32_t value) { out = value; });
              },
          .show = [](const std::int32_t& value) { return SignalName(value); }};
}

void WantList(Decoder& decoder, const Node& node, const TypeInfo& element) {
  std::vector<std::string> notes;
  if (node.is_scalar() && !node.text.empty()) {
    std::string text = Printable(node.text);
    // A command line is a list of words here.
    if (element.shape == Shape::kText && text.find_first_of("'\"") == std::string::npos) {
      for (std::size_t at = text.find(' '); at != std::string::npos; at = text.find(' ', at + 2))
        text.replace(at, 1, ", ");
    }
    notes.push_back(fmt::format("did you mean [{}]?", text));
  } else if (node.is_map()) {
    notes.emplace_back("begin each element with `- `");
  }
  decoder.Wrong(node, "a list of " + TextOf(element) + (element.shape == Shape::kRecord ? "s" : ""),
                std::move(notes));
}

void WantMap(Decoder& decoder, const Node& node, const TypeInfo& value) {
  decoder.Wrong(node, "a map of names to " + TextOf(value));
}

bool CheckKey(Decoder& decoder, const Entry& entry, const KeyRule& rule) {
  if (rule.matches == nullptr || (entry.key.size() <= 256 && rule.matches(entry.key))) return true;
  decoder.ErrorAtKey(entry, fmt::format("`{}` is not {}", Printable(entry.key), rule.what));
  return false;
}

}  // namespace tfyarn::config
