// The types that fields have: how each is called, drawn in a schema, read and shown.
//
// A Type<V> is a value made by one of the functions here and held by the field table; what it knows
// about itself (TypeInfo) is all that documentation, `explain` and the JSON Schema see.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/decoder.h"
#include "config/distribution.h"
#include "config/quantity.h"
#include "core/model/describe.h"
#include "core/model/resource.h"
#include "core/model/text.h"
#include "core/model/time.h"

namespace tfyarn::config {

struct RecordInfo;

enum class Shape {
  kText,
  kBool,
  kWhole,
  kNumber,
  kQuantity,  // text with a unit
  kChoice,
  kDistribution,  // a constant of `of[0]` or a law
  kList,          // of of[0]
  kMap,           // of of[0] by name
  kRecord,
  kAnyOf,  // one of `of`
};

struct TypeInfo {
  Shape shape = Shape::kText;
  std::string text;                  ///< "duration", "whole number, 1 to 100", "list of text".
  std::vector<std::string> choices;  ///< kChoice.
  std::string pattern;               ///< Regular expression of kText and kQuantity; "" = any.
  std::optional<double> least;       ///< kWhole, kNumber.
  std::optional<double> most;
  std::vector<TypeInfo> of;
  std::function<const RecordInfo&()>
      record;  ///< kRecord; a function, as records contain each other.
};

/// Where a job runs.
enum class Host { kSimulator, kMachine, kCluster };
/// Hosts that make no use of a field, each with the reason.
using IgnoredBy = std::map<Host, std::string>;

struct FieldInfo {
  std::string name;
  TypeInfo type;
  std::string default_text;  ///< "" = none.
  std::string doc;
  std::string example;  ///< As YAML behind `name: `; "" = none.
  bool required = false;
  std::vector<std::string> also;  ///< Names that people try in its place: only for suggestions.
  IgnoredBy ignored_by;           ///< Holds for what is below it, too.
};

struct RecordInfo {
  std::string name;  ///< "gang"; unique, also the name in the schema.
  std::string doc;
  std::vector<FieldInfo> fields;
  std::string other_keys;  ///< Regular expression of further keys that are taken; "" = none.
  [[nodiscard]] const FieldInfo* Find(std::string_view field) const;
};

template <class V>
struct Type {
  TypeInfo info;
  std::function<void(Decoder&, const Node&, V&)> read;
  std::function<std::string(const V&)> show;  ///< As in a file; "" = nothing to show.
};

// ---------------------------------------------------------------- scalars

/// Any text, numbers and bools as they are written.
[[nodiscard]] Type<std::string> Text();
/// Text of at most 256 characters that matches; `what` names it: "a name like a-b (a-z, 0-9, -)".
[[nodiscard]] Type<std::string> TextLike(std::string pattern, std::string what,
                                         bool (*matches)(std::string_view));
/// A word of a fixed set, kept as text.
[[nodiscard]] Type<std::string> Word(std::vector<std::string> choices);
/// true or false; `yes` and `no` are errors that say so.
[[nodiscard]] Type<bool> Bool();
[[nodiscard]] Type<std::int64_t> Whole(std::int64_t least, std::int64_t most);
[[nodiscard]] Type<std::int32_t> Count(std::int32_t least, std::int32_t most);
[[nodiscard]] Type<std::uint64_t> Seed();
[[nodiscard]] Type<double> Number(double least, double most);
[[nodiscard]] Type<Duration> Time(Duration least = Duration::zero(), Duration most = kLongest);
/// MiB.
[[nodiscard]] Type<std::int64_t> Memory(std::int64_t least_mb = 0);
[[nodiscard]] Type<std::int64_t> Bytes();
[[nodiscard]] Type<std::int64_t> Bandwidth();
/// Permille, written in percent.
[[nodiscard]] Type<std::int32_t> Percent(std::int32_t most_permille = 1000);
/// A number or its name.
[[nodiscard]] Type<std::int32_t> Signal();

enum class LawUnit { kPlain, kSeconds, kMemoryMb };
/// A constant or a law over values >= least, in the unit's base.
[[nodiscard]] Type<Distribution> Random(LawUnit unit, double least = 0);

/// Of a single law's text, as in files: "3s", "{dist: uniform, min: 1s, max: 3s}".
[[nodiscard]] std::string LawText(const Distribution& distribution, LawUnit unit);

/// What each law takes beside `dist`, for schema and documentation.
struct LawForm {
  std::string name;
  std::vector<std::pair<std::string, bool>>
      params;  ///< Name, and whether it is in the field's unit.
};
[[nodiscard]] std::vector<LawForm> LawForms();

/// Reads one scalar as a choice; -1 and an error when it is none.
[[nodiscard]] int ReadChoice(Decoder& decoder, const Node& node,
                             const std::vector<std::string>& choices);

template <DescribedEnum E>
[[nodiscard]] Type<E> Choice() {
  TypeInfo info{.shape = Shape::kChoice};
  std::vector<E> values;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto d) {
    info.choices.push_back(KebabName(d.value));
    values.push_back(d.value);
  });
  auto choices = info.choices;
  return {.info = std::move(info),
          .read =
              [choices, values](Decoder& decoder, const Node& node, E& out) {
                const int which = ReadChoice(decoder, node, choices);
                if (which >= 0) out = values[static_cast<std::size_t>(which)];
              },
          .show = [](const E& value) { return KebabName(value); }};
}

// ---------------------------------------------------------------- composites

/// Text of a type in a sentence: "list of text".
[[nodiscard]] std::string TextOf(const TypeInfo& info);
void WantList(Decoder& decoder, const Node& node, const TypeInfo& element);

template <class V>
[[nodiscard]] Type<std::vector<V>> ListOf(Type<V> of) {
  TypeInfo info{.shape = Shape::kList, .text = {}, .of = {of.info}};
  auto show = of.show;
  return {.info = std::move(info),
          .read =
              [of](Decoder& decoder, const Node& node, std::vector<V>& out) {
                out.clear();
                if (node.is_null()) return;
                if (!node.is_list()) return WantList(decoder, node, of.info);
                for (const Node& item : node.items) {
                  V value{};
                  const std::size_t before = decoder.findings().size();
                  of.read(decoder, item, value);
                  if (decoder.findings().size() != before) decoder.MarkItem(out.size());
                  out.push_back(std::move(value));
                }
              },
          .show =
              [show](const std::vector<V>& values) {
                std::string out = "[";
                for (const V& value : values) {
                  if (out.size() > 1) out += ", ";
                  out += show(value);
                }
                return out + "]";
              }};
}

/// A list, or one element without the brackets.
template <class V>
[[nodiscard]] Type<std::vector<V>> OneOrMore(Type<V> of) {
  Type<std::vector<V>> list = ListOf(of);
  TypeInfo info{.shape = Shape::kAnyOf,
                .text = TextOf(of.info) + " or a list of them",
                .of = {of.info, list.info}};
  return {.info = std::move(info),
          .read =
              [of, list](Decoder& decoder, const Node& node, std::vector<V>& out) {
                if (node.is_list() || node.is_null()) return list.read(decoder, node, out);
                out.assign(1, V{});
                of.read(decoder, node, out[0]);
              },
          .show = list.show};
}

void WantMap(Decoder& decoder, const Node& node, const TypeInfo& value);
/// What map keys may be.
struct KeyRule {
  std::string pattern;  ///< For the schema.
  std::string what;
  bool (*matches)(std::string_view) = nullptr;  ///< nullptr = any.
};
[[nodiscard]] bool CheckKey(Decoder& decoder, const Entry& entry, const KeyRule& rule);

template <class V>
[[nodiscard]] Type<std::map<std::string, V>> MapOf(KeyRule keys, Type<V> of) {
  TypeInfo info{.shape = Shape::kMap, .text = {}, .pattern = keys.pattern, .of = {of.info}};
  return {.info = std::move(info),
          .read =
              [keys, of](Decoder& decoder, const Node& node, std::map<std::string, V>& out) {
                out.clear();
                if (node.is_null()) return;
                if (!node.is_map()) return WantMap(decoder, node, of.info);
                for (const Entry& entry : node.entries) {
                  if (!CheckKey(decoder, entry, keys)) continue;
                  const Decoder::Scope scope(decoder, entry.key);
                  of.read(decoder, entry.value, out[entry.key]);
                }
              },
          .show =
              [](const std::map<std::string, V>& values) {
                return std::string(values.empty() ? "{}" : "");
              }};
}

/// The same values in a member that may be unset; `none_text` says in the documentation what unset
/// means.
template <class V>
[[nodiscard]] Type<std::optional<V>> Maybe(Type<V> of, std::string none_text = {}) {
  return {
      .info = of.info,
      .read =
          [of](Decoder& decoder, const Node& node, std::optional<V>& out) {
            V value = out.value_or(V{});
            of.read(decoder, node, value);
            out = std::move(value);
          },
      .show = [of, none_text](
                  const std::optional<V>& value) { return value ? of.show(*value) : none_text; }};
}

/// Like Maybe, and the word `none` unsets.
template <class V>
[[nodiscard]] Type<std::optional<V>> OrNone(Type<V> of) {
  TypeInfo info{.shape = Shape::kAnyOf,
                .text = TextOf(of.info) + " or none",
                .of = {of.info, {.shape = Shape::kChoice, .text = "", .choices = {"none"}}}};
  return {.info = std::move(info),
          .read =
              [of](Decoder& decoder, const Node& node, std::optional<V>& out) {
                out.reset();
                if (node.is_scalar() && node.text == "none") return;
                V value{};
                of.read(decoder, node, value);
                out = std::move(value);
              },
          .show =
              [of](const std::optional<V>& value) {
                return value ? of.show(*value) : std::string("none");
              }};
}

/// A value that has several forms: `info` describes them, `read` tells them apart.
[[nodiscard]] TypeInfo AnyOf(std::string text, std::vector<TypeInfo> of);

}  // namespace tfyarn::config
