// The field table: one declaration for each field of each record, bound to the member that it
// fills.
//
// A Record<T> is built once from `.Field("hold", &GangSpec::hold, Time(1s), "What it means.")`
// lines. Reading, errors for unknown and missing fields, default texts (taken from a T as it is
// constructed), documentation and schema all follow from it; nothing about a field is said anywhere
// else.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/type.h"

namespace tfyarn::config {

/// What a field may say beyond name, type and meaning.
struct FieldOptions {
  std::string example;
  bool required = false;
  /// Where the constructed value does not tell: "the largest node".
  std::optional<std::string> default_text;
  std::vector<std::string> also;
  IgnoredBy ignored_by;
};

/// Calls read(position, value) for each known field of the map `node`; reports unknown keys,
/// missing required fields and nodes that are no map. Keys that match `other_keys` of the record go
/// to `other`. Returns the fields in which something was wrong, "" for the record itself.
[[nodiscard]] std::set<std::string, std::less<>> ReadFields(
    Decoder& decoder, const Node& node, const RecordInfo& info,
    const std::function<void(std::size_t, const Node&)>& read,
    const std::function<bool(const Entry&)>& other);

template <class T>
class Record {
 public:
  using Reader = std::function<void(Decoder&, const Node&, T&)>;
  using Check = std::function<void(Decoder&, const Node&, const T&)>;
  struct ConditionalCheck {
    Check run;
    bool anyway = false;
  };

  Record(std::string name, std::string doc) {
    info_.name = std::move(name), info_.doc = std::move(doc);
  }

  template <class V>
  Record& Field(std::string name, V T::*member, Type<V> type, std::string doc,
                FieldOptions options = {}) {
    std::string default_text =
        options.default_text.value_or(options.required ? "" : type.show(T{}.*member));
    auto read = type.read;
    return Add(std::move(name), std::move(type.info), std::move(default_text), std::move(doc),
               std::move(options), [member, read](Decoder& decoder, const Node& node, T& out) {
                 read(decoder, node, out.*member);
               });
  }

  /// A member of a member.
  template <class M, class V>
  Record& Field(std::string name, M T::*outer, V M::*member, Type<V> type, std::string doc,
                FieldOptions options = {}) {
    std::string default_text =
        options.default_text.value_or(options.required ? "" : type.show((T{}.*outer).*member));
    auto read = type.read;
    return Add(std::move(name), std::move(type.info), std::move(default_text), std::move(doc),
               std::move(options),
               [outer, member, read](Decoder& decoder, const Node& node, T& out) {
                 read(decoder, node, (out.*outer).*member);
               });
  }

  /// A field that fills more than one member.
  Record& Custom(std::string name, TypeInfo type, std::string doc, Reader read,
                 FieldOptions options = {}) {
    std::string default_text = options.default_text.value_or("");
    return Add(std::move(name), std::move(type), std::move(default_text), std::move(doc),
               std::move(options), std::move(read));
  }

  /// A nested map whose fields fill this record's own members.
  Record& Group(std::string name, Record group, FieldOptions options = {}) {
    auto shared = std::make_shared<const Record>(std::move(group));
    TypeInfo type{.shape = Shape::kRecord,
                  .record = [shared]() -> const RecordInfo& { return shared->info(); }};
    return Custom(
        std::move(name), std::move(type), shared->info().doc,
        [shared](Decoder& decoder, const Node& node, T& out) { shared->Read(decoder, node, out); },
        std::move(options));
  }

  /// All fields and checks of another record, for a member that holds what it describes.
  template <class M>
  Record& Embed(const Record<M>& other, M T::*member) {
    for (std::size_t i = 0; i < other.info().fields.size(); ++i) {
      info_.fields.push_back(other.info().fields[i]);
      readers_.push_back(
          [read = other.readers()[i], member](Decoder& decoder, const Node& node, T& out) {
            read(decoder, node, out.*member);
          });
    }
    for (const auto& check : other.checks()) {
      checks_.push_back(
          {.run = [run = check.run, member](Decoder& decoder, const Node& node,
                                            const T& value) { run(decoder, node, value.*member); },
           .anyway = check.anyway});
    }
    return *this;
  }

  /// Keys beyond the fields; `read` returns false for one that it does not know.
  Record& OtherKeys(std::string pattern, std::function<bool(Decoder&, const Entry&, T&)> read) {
    info_.other_keys = std::move(pattern);
    other_ = std::move(read);
    return *this;
  }

  /// What must hold between fields. Runs when all were read without error, and not on parts of
  /// records.
  Record& Checked(Check check) {
    checks_.push_back({.run = std::move(check), .anyway = false});
    return *this;
  }
  /// Runs in spite of errors too, and asks Decoder::Broken before it uses a field.
  Record& CheckedAnyway(Check check) {
    checks_.push_back({.run = std::move(check), .anyway = true});
    return *this;
  }

  void Read(Decoder& decoder, const Node& node, T& out) const {
    auto broken = ReadFields(
        decoder, node, info_,
        [&](std::size_t i, const Node& value) { readers_[i](decoder, value, out); },
        [&](const Entry& entry) { return other_ && other_(decoder, entry, out); });
    if (!decoder.complete()) return;
    const bool sound = broken.empty();
    decoder.set_broken(std::move(broken));
    for (const ConditionalCheck& check : checks_) {
      if (sound || check.anyway) check.run(decoder, node, out);
    }
  }

  [[nodiscard]] const RecordInfo& info() const { return info_; }
  [[nodiscard]] const std::vector<Reader>& readers() const { return readers_; }
  [[nodiscard]] const std::vector<ConditionalCheck>& checks() const { return checks_; }

 private:
  Record& Add(std::string name, TypeInfo type, std::string default_text, std::string doc,
              FieldOptions options, Reader read) {
    info_.fields.push_back({.name = std::move(name),
                            .type = std::move(type),
                            .default_text = std::move(default_text),
                            .doc = std::move(doc),
                            .example = std::move(options.example),
                            .required = options.required,
                            .also = std::move(options.also),
                            .ignored_by = std::move(options.ignored_by)});
    readers_.push_back(std::move(read));
    return *this;
  }

  RecordInfo info_;
  std::vector<Reader> readers_;  // one for each field
  std::vector<ConditionalCheck> checks_;
  std::function<bool(Decoder&, const Entry&, T&)> other_;
};

/// The type of a field that holds a record. `table` is a function, as records contain each other.
template <class T>
[[nodiscard]] Type<T> Of(const Record<T>& (*table)()) {
  return {.info = {.shape = Shape::kRecord,
                   .record = [table]() -> const RecordInfo& { return table().info(); }},
          .read = [table](Decoder& decoder, const Node& node,
                          T& out) { table().Read(decoder, node, out); },
          .show = [](const T&) { return std::string(); }};
}

}  // namespace tfyarn::config
