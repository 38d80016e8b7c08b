// What the JSON writers of this folder share: seconds, and a document written member by member, so
// that a result of a hundred thousand jobs never exists as a tree. Escaping and numbers are
// nlohmann-json's.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/time.h"
#include "core/trace/result.h"

namespace tfyarn::trace {

using Json = nlohmann::ordered_json;

[[nodiscard]] inline Json SecondsJson(Duration d) {
  return SecondsOf(d);
}
[[nodiscard]] inline Json SecondsJson(Instant at) {
  return SecondsOf(at);
}
template <class T>
[[nodiscard]] Json SecondsJson(const std::optional<T>& value) {
  return value ? SecondsJson(*value) : Json(nullptr);
}
template <class T>
[[nodiscard]] Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
/// Without line breaks; bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] inline std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// How a record's member is called: durations and instants carry their unit in the name, as plain
/// numbers must.
template <class T>
[[nodiscard]] std::string JsonMemberName(std::string_view name) {
  std::string full(name);
  if constexpr (std::is_same_v<T, Instant> || std::is_same_v<T, Duration>) {
    full += "_ns";
  } else if constexpr (kIsTimePoint<T>) {
    full += "_ms";
  }
  return full;
}
/// Members that are written in YARN's text form.
template <class T>
inline constexpr bool kHasTextForm =
    std::is_same_v<T, ApplicationId> || std::is_same_v<T, ApplicationAttemptId> ||
    std::is_same_v<T, ContainerId> || std::is_same_v<T, NodeId> || std::is_same_v<T, TaskId>;

[[nodiscard]] Json ExpectationsJson(const std::vector<ExpectationResult>& expectations);
[[nodiscard]] Json MetricsJson(const std::vector<Metric>& metrics);
/// "00c0ffee00c0ffee": 64-bit numbers do not survive JavaScript.
[[nodiscard]] std::string HexDigest(std::uint64_t value);

/// `{` members, one on each line, `}` newline. A list has one element on each line.
class DocumentWriter {
 public:
  void Add(std::string_view name, const Json& value) {
    Name(name);
    out_ += Dump(value);
  }
  void BeginList(std::string_view name) {
    Name(name);
    out_ += '[';
    list_empty_ = true;
  }
  void Element(const Json& value) {
    out_ += list_empty_ ? "\n  " : ",\n  ";
    list_empty_ = false;
    out_ += Dump(value);
  }
  void EndList() { out_ += ']'; }
  [[nodiscard]] std::string Take() {
    out_ += "\n}\n";
    return std::move(out_);
  }

 private:
  void Name(std::string_view name) {
    out_ += out_.empty() ? "{\n " : ",\n ";
    out_ += Dump(Json(std::string(name)));
    out_ += ": ";
  }

  std::string out_;
  bool list_empty_ = true;
};

}  // namespace tfyarn::trace
