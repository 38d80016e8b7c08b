// Binary form of any described value: what the journal and recordings store.
//
// Little-endian fixed-width integers, length-prefixed strings and lists, one byte for optional, one
// for the alternative of a variant, members in the order of their description. There is no version
// in it: the journal's header has one, and a change of any journalled record raises it. A cluster
// spec is shared by many values, so a SpecRef is its id here, and a caller that stores it keeps the
// specs themselves beside.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/check.h"
#include "core/model/cluster_spec.h"
#include "core/model/describe.h"

namespace tfyarn {

class Encoder {
 public:
  /// `specs`: gets every spec of which only the id was written; without it none may come.
  explicit Encoder(std::string& out, std::vector<SpecRef>* specs = nullptr)
      : out_(out), specs_(specs) {}

  template <class T>
  void Put(const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      PutRaw(static_cast<std::uint32_t>(value.size()));
      out_ += value;
    } else if constexpr (std::is_same_v<T, bool>) {
      out_ += static_cast<char>(value ? 1 : 0);
    } else if constexpr (std::is_integral_v<T>) {
      PutRaw(value);
    } else if constexpr (std::is_enum_v<T>) {
      PutRaw(static_cast<std::int32_t>(value));
    } else if constexpr (kIsTimePoint<T>) {
      PutRaw(static_cast<std::int64_t>(value.time_since_epoch().count()));
    } else if constexpr (kIsDuration<T>) {
      PutRaw(static_cast<std::int64_t>(value.count()));
    } else if constexpr (StrongNumber<T>) {
      PutRaw(value.value);
    } else if constexpr (std::is_same_v<T, SpecRef>) {
      TF_CHECK(specs_ != nullptr);
      specs_->push_back(value);
      PutRaw(value.id().value);
    } else if constexpr (kIsOptional<T>) {
      out_ += static_cast<char>(value ? 1 : 0);
      if (value) Put(*value);
    } else if constexpr (kIsPair<T>) {
      Put(value.first);
      Put(value.second);
    } else if constexpr (kIsVector<T> || kIsSharedList<T> || kIsMap<T>) {
      PutRaw(static_cast<std::uint32_t>(value.size()));
      for (const auto& element : value) Put(element);
    } else if constexpr (kIsVariant<T>) {
      out_ += static_cast<char>(value.index());
      std::visit([&](const auto& alternative) { Put(alternative); }, value);
    } else {
      static_assert(DescribedStruct<T>, "describe this type next to its definition");
      ForEachMember(value, [&](std::string_view, const auto& member) { Put(member); });
    }
  }

 private:
  template <class I>
  void PutRaw(I value) {
    auto bits = static_cast<std::make_unsigned_t<I>>(value);
    for (std::size_t i = 0; i < sizeof(I); ++i) {
      out_ += static_cast<char>(bits & 0xff);
      bits = static_cast<decltype(bits)>(bits >> 4 >> 4);
    }
  }

  std::string& out_;
  std::vector<SpecRef>* specs_;
};

/// Reads what Encoder wrote. After any failure ok() is false and what was read is of no use, but
/// whole and safe to destroy.
class Decoder {
 public:
  /// `specs`: those that SpecRefs may name; an id that is not there is a failure.
  explicit Decoder(std::string_view in, const std::map<SpecId, SpecRef>* specs = nullptr)
      : in_(in), specs_(specs) {}
  [[nodiscard]] bool ok() const { return ok_; }
  /// True when everything was read.
  [[nodiscard]] bool at_end() const { return ok_ && in_.empty(); }

  template <class T>
  void Get(T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      const auto size = GetRaw<std::uint32_t>();
      value = std::string(Take(size));
    } else if constexpr (std::is_same_v<T, bool>) {
      value = GetRaw<std::uint8_t>() != 0;
    } else if constexpr (std::is_integral_v<T>) {
      value = GetRaw<T>();
    } else if constexpr (std::is_enum_v<T>) {
      const auto number = GetRaw<std::int32_t>();
      bool known = false;
      boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>([&](auto d) {
        if (static_cast<std::int32_t>(d.value) == number) {
          known = true;
          value = d.value;
        }
      });
      if (!known) Break();
    } else if constexpr (kIsTimePoint<T>) {
      value = T(typename T::duration(GetRaw<std::int64_t>()));
    } else if constexpr (kIsDuration<T>) {
      value = T(GetRaw<std::int64_t>());
    } else if constexpr (StrongNumber<T>) {
      value = T(GetRaw<typename T::rep>());
    } else if constexpr (std::is_same_v<T, SpecRef>) {
      const SpecId id(GetRaw<std::uint64_t>());
      if (specs_ == nullptr || !specs_->contains(id)) return Break();
      value = specs_->at(id);
    } else if constexpr (kIsOptional<T>) {
      value.reset();
      if (GetRaw<std::uint8_t>() != 0 && ok_) Get(value.emplace());
    } else if constexpr (kIsPair<T>) {
      Get(value.first);
      Get(value.second);
    } else if constexpr (kIsVector<T>) {
      value.clear();
      const auto size = GetRaw<std::uint32_t>();
      // Every element takes a byte at least, so a huge count cannot allocate; and damage cannot use
      // up the stack.
      if (size > in_.size() || ++depth_ > kMaxDepth) return Break();
      for (std::uint32_t i = 0; ok_ && i < size; ++i) Get(value.emplace_back());
      --depth_;
    } else if constexpr (kIsSharedList<T>) {
      std::vector<typename T::value_type> elements;
      Get(elements);
      value = std::move(elements);
    } else if constexpr (kIsMap<T>) {
      value.clear();
      const auto size = GetRaw<std::uint32_t>();
      if (size > in_.size()) return Break();
      for (std::uint32_t i = 0; ok_ && i < size; ++i) {
        std::pair<typename T::key_type, typename T::mapped_type> element;
        Get(element);
        value.insert(std::move(element));
      }
    } else if constexpr (kIsVariant<T>) {
      GetAlternative(value, GetRaw<std::uint8_t>());
    } else {
      static_assert(DescribedStruct<T>, "describe this type next to its definition");
      ForEachMember(value, [&](std::string_view, auto& member) { Get(member); });
    }
  }

 private:
  void Break() {
    ok_ = false;
    in_ = {};
  }
  std::string_view Take(std::size_t size) {
    if (size > in_.size()) {
      Break();
      return {};
    }
    const std::string_view taken = in_.substr(0, size);
    in_.remove_prefix(size);
    return taken;
  }
  template <class I>
  I GetRaw() {
    const std::string_view bytes = Take(sizeof(I));
    std::make_unsigned_t<I> bits = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bits = static_cast<decltype(bits)>(
          bits | static_cast<decltype(bits)>(
                     static_cast<decltype(bits)>(static_cast<unsigned char>(bytes[i])) << (8 * i)));
    }
    return static_cast<I>(bits);
  }
  template <class V>
  void GetAlternative(V& value, std::size_t index) {
    bool known = false;
    boost::mp11::mp_for_each<boost::mp11::mp_iota_c<std::variant_size_v<VariantOf<V>>>>(
        [&](auto i) {
          if (i == index) {
            known = true;
            Get(value.template emplace<i>());
          }
        });
    if (!known) Break();
  }

  /// Lists within lists. The deepest that occurs is a success expression: two for each of
  /// 32 parentheses.
  static constexpr int kMaxDepth = 100;

  std::string_view in_;
  const std::map<SpecId, SpecRef>* specs_;
  bool ok_ = true;
  int depth_ = 0;
};

}  // namespace tfyarn
