#include "core/trace/digest.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "core/model/check.h"

namespace tfyarn::trace {
namespace {

// Hashing in large pieces is what makes XXH3 fast; this one stays in the first-level cache.
constexpr std::size_t kBuffer = std::size_t{16} * 1024;

template <class I>
I LittleEndian(I value) {
  if constexpr (std::endian::native == std::endian::little || sizeof(I) == 1) {
    return value;
  } else {
    I reversed = 0;
    for (std::size_t i = 0; i < sizeof(I); ++i) {
      reversed = static_cast<I>(reversed << 8 | ((value >> (8 * i)) & 0xff));
    }
    return reversed;
  }
}

/// Writes values in the digest's form into a buffer of kBuffer bytes, and hashes it whenever it is
/// full.
template <class Lists>
class Writer {
 public:
  Writer(XXH3_state_t* state, char* buffer, std::size_t used, Lists& lists)
      : state_(state), buffer_(buffer), at_(buffer + used), end_(buffer + kBuffer), lists_(lists) {}
  [[nodiscard]] std::size_t used() const { return static_cast<std::size_t>(at_ - buffer_); }

  template <class T>
  void Put(const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      PutSize(value.size());
      PutBytes(value.data(), value.size());
    } else if constexpr (std::is_same_v<T, bool>) {
      PutRaw(static_cast<std::uint8_t>(value ? 1 : 0));
    } else if constexpr (std::is_integral_v<T>) {
      PutRaw(static_cast<std::make_unsigned_t<T>>(value));
    } else if constexpr (std::is_enum_v<T>) {
      PutRaw(static_cast<std::uint32_t>(value));
    } else if constexpr (SharedById<T>) {
      PutRaw(static_cast<std::uint64_t>(value.shared_id().value));
    } else if constexpr (kIsTimePoint<T>) {
      PutRaw(static_cast<std::uint64_t>(value.time_since_epoch().count()));
    } else if constexpr (kIsDuration<T>) {
      PutRaw(static_cast<std::uint64_t>(value.count()));
    } else if constexpr (StrongNumber<T>) {
      Put(value.value);
    } else if constexpr (kIsOptional<T>) {
      PutRaw(static_cast<std::uint8_t>(value ? 1 : 0));
      if (value) Put(*value);
    } else if constexpr (kIsPair<T>) {
      Put(value.first);
      Put(value.second);
    } else if constexpr (kIsSharedList<T>) {
      const XXH128_hash_t hash = lists_.HashOf(value);
      PutRaw(static_cast<std::uint64_t>(hash.high64));
      PutRaw(static_cast<std::uint64_t>(hash.low64));
    } else if constexpr (kIsVector<T> || kIsMap<T>) {
      PutSize(value.size());
      for (const auto& element : value) Put(element);
    } else if constexpr (kIsVariant<T>) {
      PutRaw(static_cast<std::uint8_t>(value.index()));
      std::visit([&](const auto& alternative) { Put(alternative); }, value);
    } else {
      static_assert(DescribedStruct<T>, "describe this type next to its definition");
      ForEachMember(value, [&](std::string_view, const auto& member) { Put(member); });
    }
  }

 private:
  /// For nearly every member of every record: a call of its own would cost more than what it does.
  template <class I>
  [[gnu::always_inline]] void PutRaw(I value) {
    if (static_cast<std::size_t>(end_ - at_) < sizeof value) [[unlikely]]
      Hash();
    const I bytes = LittleEndian(value);
    std::memcpy(at_, &bytes, sizeof bytes);
    at_ += sizeof bytes;
  }
  void PutSize(std::size_t size) { PutRaw(static_cast<std::uint64_t>(size)); }
  void PutBytes(const char* bytes, std::size_t size) {
    while (size > 0) {
      if (at_ == end_) Hash();
      const std::size_t piece = std::min(size, static_cast<std::size_t>(end_ - at_));
      std::memcpy(at_, bytes, piece);
      at_ += piece;
      bytes += piece;
      size -= piece;
    }
  }
  [[gnu::noinline]] void Hash() {
    TF_CHECK(XXH3_128bits_update(state_, buffer_, used()) == XXH_OK);
    at_ = buffer_;
  }

  XXH3_state_t* state_;
  char* buffer_;
  char* at_;
  char* end_;
  Lists& lists_;
};

}  // namespace

/// The hashes of the list that was met last, block by block: the same reports go from the RM to a
/// client, from there to the host, and on to the AM; and the next client's list shares most blocks.
struct Digest::LatestList {
  using List = SharedList<yarn::NodeReport>;

  List list;  // keeps addresses from being used again
  std::vector<XXH128_hash_t> of_blocks;
  XXH128_hash_t hash{};
  bool any = false;
  std::unique_ptr<XXH3_state_s, FreeState> state{XXH3_createState()};
  std::array<char, kBuffer> buffer{};

  XXH128_hash_t HashOf(const List& value) {
    const std::vector<List::Block>& known = list.blocks();
    const std::vector<List::Block>& blocks = value.blocks();
    if (any && &known == &blocks) return hash;
    of_blocks.resize(blocks.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (i >= known.size() || known[i] != blocks[i]) of_blocks[i] = Hash(*blocks[i]);
    }
    // A block's hash says how many elements it has, so the blocks' hashes say all of the list.
    std::vector<std::uint64_t> words;
    words.reserve(2 * of_blocks.size());
    for (const XXH128_hash_t& block : of_blocks) {
      words.push_back(block.high64);
      words.push_back(block.low64);
    }
    hash = Hash(words);
    list = value;
    any = true;
    return hash;
  }

  template <class T>
  XXH128_hash_t Hash(const std::vector<T>& elements) {
    TF_CHECK(state != nullptr);
    TF_CHECK(XXH3_128bits_reset(state.get()) == XXH_OK);
    Writer<LatestList> writer(state.get(), buffer.data(), 0, *this);
    writer.Put(elements);
    TF_CHECK(XXH3_128bits_update(state.get(), buffer.data(), writer.used()) == XXH_OK);
    return XXH3_128bits_digest(state.get());
  }
};

std::string ToString(const DigestValue& value) {
  return fmt::format("{:016x}{:016x}", value.high, value.low);
}

void Digest::FreeState::operator()(XXH3_state_s* state) const {
  XXH3_freeState(state);
}

Digest::Digest()
    : state_(XXH3_createState()),
      latest_list_(std::make_unique<LatestList>()),
      buffer_(std::make_unique<char[]>(kBuffer)) {
  TF_CHECK(state_ != nullptr);
  TF_CHECK(XXH3_128bits_reset(state_.get()) == XXH_OK);
}

Digest::~Digest() = default;
Digest::Digest(Digest&&) noexcept = default;
Digest& Digest::operator=(Digest&&) noexcept = default;

void Digest::Add(const TraceRecord& record) {
  Writer<LatestList> writer(state_.get(), buffer_.get(), used_, *latest_list_);
  writer.Put(record);
  used_ = writer.used();
  ++records_;
}

DigestValue Digest::value() const {
  const std::unique_ptr<XXH3_state_s, FreeState> copy(XXH3_createState());
  TF_CHECK(copy != nullptr);
  XXH3_copyState(copy.get(), state_.get());
  TF_CHECK(XXH3_128bits_update(copy.get(), buffer_.get(), used_) == XXH_OK);
  const XXH128_hash_t hash = XXH3_128bits_digest(copy.get());
  return {.high = hash.high64, .low = hash.low64};
}

}  // namespace tfyarn::trace
