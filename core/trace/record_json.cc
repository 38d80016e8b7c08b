#include "core/trace/json.h"
#include "core/trace/json_writer.h"

namespace tfyarn::trace {
namespace {

template <class T>
Json ToJson(const T& value);

template <class T>
void AddMembers(Json& json, const T& record) {
  ForEachMember(record, [&](std::string_view name, const auto& member) {
    using Member = std::remove_cvref_t<decltype(member)>;
    if constexpr (kIsVector<Member> || kIsSharedList<Member> || kIsMap<Member>) {
      if (member.empty()) return;
    } else if constexpr (kIsOptional<Member>) {
      if (!member) return;
    }
    json[JsonMemberName<Member>(name)] = ToJson(member);
  });
}

template <class T>
Json ToJson(const T& value) {
  if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (SharedById<T>) {
    return HexDigest(value.shared_id().value);
  } else if constexpr (std::is_same_v<T, Nonce> || std::is_same_v<T, SpecId>) {
    return HexDigest(value.value);
  } else if constexpr (StrongNumber<T>) {
    return value.value;
  } else if constexpr (kHasTextForm<T>) {
    return ToString(value);
  } else if constexpr (kIsTimePoint<T>) {
    return value.time_since_epoch().count();
  } else if constexpr (kIsDuration<T>) {
    return value.count();
  } else if constexpr (DescribedEnum<T>) {
    return KebabName(value);
  } else if constexpr (kIsOptional<T>) {
    return value ? ToJson(*value) : Json(nullptr);
  } else if constexpr (kIsPair<T>) {
    return Json::array({ToJson(value.first), ToJson(value.second)});
  } else if constexpr (kIsMap<T>) {
    Json json = Json::object();
    for (const auto& [key, mapped] : value) json[key] = ToJson(mapped);
    return json;
  } else if constexpr (kIsVector<T> || kIsSharedList<T>) {
    Json json = Json::array();
    for (const auto& element : value) json.push_back(ToJson(element));
    return json;
  } else if constexpr (kIsVariant<T>) {
    return std::visit(
        [](const auto& alternative) {
          Json json;
          json["type"] = TypeName<std::remove_cvref_t<decltype(alternative)>>();
          AddMembers(json, alternative);
          return json;
        },
        value);
  } else {
    static_assert(DescribedStruct<T>, "describe this type next to its definition");
    Json json = Json::object();
    AddMembers(json, value);
    return json;
  }
}

}  // namespace

std::string RecordJson(const TraceRecord& record, const RecordRemarks& remarks) {
  Json json;
  if (remarks.seq > 0) json["seq"] = remarks.seq;
  json["at"] = SecondsJson(record.at);
  json["at_ns"] = record.at.time_since_epoch().count();
  std::visit(
      [&](const auto& fact) {
        json["type"] = TypeName<std::remove_cvref_t<decltype(fact)>>();
        AddMembers(json, fact);
      },
      record.fact);
  if (!remarks.text.empty()) json["text"] = remarks.text;
  return Dump(json);
}

}  // namespace tfyarn::trace
