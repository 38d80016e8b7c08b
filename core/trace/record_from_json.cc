// Lines of events.jsonl read back: the mirror of record_json.cc, derived from the same
// descriptions.
//
// Members that are missing keep their defaults and unknown ones are passed over, so that a line of
// a neighbouring version can be read; a member that is there in another form makes it no line of
// ours.
#include <charconv>
#include <utility>

#include "core/trace/json.h"
#include "core/trace/json_writer.h"

namespace tfyarn::trace {
namespace {

template <class T>
bool Read(const Json& json, T& value);

template <class Number>
bool ReadNumber(const Json& json, Number& value) {
  if constexpr (std::is_same_v<Number, bool>) {
    if (!json.is_boolean()) return false;
    value = json.get<bool>();
  } else if (json.is_number_unsigned()) {
    const auto number = json.get<std::uint64_t>();
    if (!std::in_range<Number>(number)) return false;
    value = static_cast<Number>(number);
  } else {
    if (!json.is_number_integer() || !std::in_range<Number>(json.get<std::int64_t>())) return false;
    value = static_cast<Number>(json.get<std::int64_t>());
  }
  return true;
}

bool ReadHex(const Json& json, std::uint64_t& value) {
  if (!json.is_string()) return false;
  const std::string& digits = json.get_ref<const std::string&>();
  const char* const end = digits.data() + digits.size();
  const auto [stop, failed] = std::from_chars(digits.data(), end, value, 16);
  return failed == std::errc{} && stop == end;
}

Expected<ApplicationAttemptId> Parse(ApplicationAttemptId*, const std::string& text) {
  return ParseContainerId("container" + text.substr(std::min(text.find('_'), text.size())) + "_1")
      .map([](const ContainerId& id) { return id.application_attempt; });
}
Expected<ApplicationId> Parse(ApplicationId*, const std::string& text) {
  return Parse(static_cast<ApplicationAttemptId*>(nullptr), text + "_1")
      .map([](const ApplicationAttemptId& id) { return id.application; });
}
Expected<ContainerId> Parse(ContainerId*, const std::string& text) {
  return ParseContainerId(text);
}
Expected<TaskId> Parse(TaskId*, const std::string& text) {
  // No task is written with an empty type.
  if (text.starts_with(':')) return TaskId{};
  return ParseTaskId(text);
}
Expected<NodeId> Parse(NodeId*, const std::string& text) {
  return ParseNodeId(text);
}

template <class T>
bool ReadList(const Json& json, std::vector<T>& list) {
  if (!json.is_array()) return false;
  list.resize(json.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!Read(json[i], list[i])) return false;
  }
  return true;
}

template <class T>
bool ReadMembers(const Json& json, T& record) {
  if (!json.is_object()) return false;
  bool good = true;
  ForEachMember(record, [&](std::string_view name, auto& member) {
    using Member = std::remove_cvref_t<decltype(member)>;
    const auto entry = json.find(JsonMemberName<Member>(name));
    if (good && entry != json.end()) good = Read(*entry, member);
  });
  return good;
}

template <class... Alternatives>
bool ReadVariant(const Json& json, std::variant<Alternatives...>& value) {
  const auto type = json.is_object() ? json.find("type") : json.end();
  if (!json.is_object() || type == json.end() || !type->is_string()) return false;
  const std::string& name = type->get_ref<const std::string&>();
  bool read = false;
  const auto attempt = [&]<class T>(T* /*which*/) {
    if (read || name != TypeName<T>()) return;
    T alternative;
    read = ReadMembers(json, alternative);
    value = std::move(alternative);
  };
  (attempt(static_cast<Alternatives*>(nullptr)), ...);
  return read;
}

template <class T>
bool Read(const Json& json, T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return ReadNumber(json, value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!json.is_string()) return false;
    value = json.get_ref<const std::string&>();
    return true;
  } else if constexpr (SharedById<T>) {
    SpecId id;
    if (!ReadHex(json, id.value)) return false;
    value = T(id, nullptr);
    return true;
  } else if constexpr (std::is_same_v<T, Nonce> || std::is_same_v<T, SpecId>) {
    return ReadHex(json, value.value);
  } else if constexpr (StrongNumber<T>) {
    return ReadNumber(json, value.value);
  } else if constexpr (kHasTextForm<T>) {
    if (!json.is_string()) return false;
    auto parsed = Parse(static_cast<T*>(nullptr), json.get_ref<const std::string&>());
    if (parsed) value = std::move(*parsed);
    return parsed.has_value();
  } else if constexpr (kIsTimePoint<T> || kIsDuration<T>) {
    typename T::rep count{};
    if (!ReadNumber(json, count)) return false;
    if constexpr (kIsTimePoint<T>) {
      value = T(typename T::duration(count));
    } else {
      value = T(count);
    }
    return true;
  } else if constexpr (DescribedEnum<T>) {
    if (!json.is_string()) return false;
    const auto found = EnumeratorFromKebab<T>(json.get_ref<const std::string&>());
    if (found) value = *found;
    return found.has_value();
  } else if constexpr (kIsOptional<T>) {
    if (json.is_null()) return true;
    return Read(json, value.emplace());
  } else if constexpr (kIsPair<T>) {
    return json.is_array() && json.size() == 2 && Read(json[0], value.first) &&
           Read(json[1], value.second);
  } else if constexpr (kIsMap<T>) {
    if (!json.is_object()) return false;
    for (const auto& [key, mapped] : json.items()) {
      if (!Read(mapped, value[key])) return false;
    }
    return true;
  } else if constexpr (kIsVector<T>) {
    return ReadList(json, value);
  } else if constexpr (kIsSharedList<T>) {
    std::vector<typename T::value_type> list;
    if (!ReadList(json, list)) return false;
    value = T(std::move(list));
    return true;
  } else if constexpr (kIsVariant<T>) {
    return ReadVariant(json, value);
  } else {
    static_assert(DescribedStruct<T>, "describe this type next to its definition");
    return ReadMembers(json, value);
  }
}

}  // namespace

std::optional<RecordLine> RecordFromJson(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  RecordLine read;
  const auto at = json.find("at_ns");
  const auto seq = json.find("seq");
  if (at == json.end() || !Read(*at, read.record.at)) return std::nullopt;
  if (seq != json.end() && !Read(*seq, read.seq)) return std::nullopt;
  if (!Read(json, read.record.fact)) return std::nullopt;
  return read;
}

}  // namespace tfyarn::trace
