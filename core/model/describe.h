// One description of every event, action and record; text, hash, JSON and binary forms all derive
// from it.
//
// A struct is described by BOOST_DESCRIBE_STRUCT right below it, an enum by BOOST_DESCRIBE_ENUM.
// Here are only the questions that the forms ask of a type; the forms are in text.h, codec.h and
// core/trace.
#pragma once

#include <boost/describe.hpp>
#include <boost/mp11.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/model/shared_list.h"

namespace tfyarn {

template <class T>
concept DescribedStruct = boost::describe::has_describe_members<T>::value && !std::is_union_v<T>;

template <class T>
concept DescribedEnum = std::is_enum_v<T> && boost::describe::has_describe_enumerators<T>::value;

template <class T>
inline constexpr bool kIsVector = false;
template <class T, class A>
inline constexpr bool kIsVector<std::vector<T, A>> = true;
template <class T>
inline constexpr bool kIsSharedList = false;
template <class T>
inline constexpr bool kIsSharedList<SharedList<T>> = true;
template <class T>
inline constexpr bool kIsMap = false;
template <class K, class V, class C, class A>
inline constexpr bool kIsMap<std::map<K, V, C, A>> = true;
template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
/// Declared only: which std::variant a type is or derives from.
template <class... T>
std::variant<T...> VariantBase(const std::variant<T...>&);
template <class T>
inline constexpr bool kIsVariant = requires(const T& value) {
  VariantBase(value);
};
/// That std::variant, for questions that the standard library answers of no class derived from one.
template <class T>
using VariantOf = decltype(VariantBase(std::declval<const T&>()));
template <class T>
inline constexpr bool kIsPair = false;
template <class A, class B>
inline constexpr bool kIsPair<std::pair<A, B>> = true;
template <class T>
inline constexpr bool kIsTimePoint = false;
template <class C, class D>
inline constexpr bool kIsTimePoint<std::chrono::time_point<C, D>> = true;
template <class T>
inline constexpr bool kIsDuration = false;
template <class R, class P>
inline constexpr bool kIsDuration<std::chrono::duration<R, P>> = true;

/// A strong number: has `rep` and `value`, nothing else (see StrongInt in ids.h).
template <class T>
concept StrongNumber = requires(const T& t) {
  typename T::rep;
  { t.value } -> std::convertible_to<typename T::rep>;
}
&&sizeof(T) == sizeof(typename T::rep);

/// A shared immutable value that stands for itself by an id: `id` is all that any form shows of it.
template <class T>
concept SharedById = requires(const T& t) {
  t.shared_id();
};

/// Calls f(name, member) for every described member of `record`, in the order of the description.
template <class T, class F>
requires DescribedStruct<std::remove_const_t<T>>
constexpr void ForEachMember(T& record, F&& f) {
  using Plain = std::remove_const_t<T>;
  boost::mp11::mp_for_each<boost::describe::describe_members<
      Plain, boost::describe::mod_public | boost::describe::mod_inherited>>(
      [&](auto d) { f(std::string_view(d.name), record.*d.pointer); });
}

/// The name of an enumerator without its leading k: "NodeLost"; "?" for a value that has none.
template <DescribedEnum E>
[[nodiscard]] std::string_view EnumeratorName(E value) {
  std::string_view name = "?";
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto d) {
    if (d.value == value) name = d.name;
  });
  if (name.size() > 1 && name[0] == 'k' && name[1] >= 'A' && name[1] <= 'Z') name.remove_prefix(1);
  return name;
}

/// "node-lost" for kNodeLost: the spelling of files and reports.
[[nodiscard]] std::string KebabCase(std::string_view pascal);

template <DescribedEnum E>
[[nodiscard]] std::string KebabName(E value) {
  return KebabCase(EnumeratorName(value));
}

/// The enumerator whose KebabName is `name`; nullopt when there is none.
template <DescribedEnum E>
[[nodiscard]] std::optional<E> EnumeratorFromKebab(std::string_view name) {
  std::optional<E> found;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto d) {
    if (KebabName(d.value) == name) found = d.value;
  });
  return found;
}

/// The unqualified name of a type, "AllocateRequest".
template <class T>
[[nodiscard]] constexpr std::string_view TypeName() {
  std::string_view name = __PRETTY_FUNCTION__;
  const auto start = name.find("T = ") + 4;
  auto end = name.find(';', start);
  if (end == std::string_view::npos) end = name.find(']', start);
  name = name.substr(start, end - start);
  const auto colon = name.rfind("::");
  return colon == std::string_view::npos ? name : name.substr(colon + 2);
}

}  // namespace tfyarn
