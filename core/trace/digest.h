// The digest of a run: one number that changes when anything in its trace does.
//
// Every described member of every record goes through XXH3 (128 bit) in one stream, in a form that
// cannot be confused: integers little-endian at their own width, strings and lists after their
// length, variants after the position of their alternative. So it depends on no compiler, locale or
// byte order. It is no defence against an author who wants two runs to look alike, only against
// accidents. A cluster spec counts by its id, which is a hash of its content, and a shared list by
// the hash of its elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/trace/record.h"

struct XXH3_state_s;

namespace tfyarn::trace {

struct DigestValue {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const DigestValue&, const DigestValue&) = default;
};

/// 32 hexadecimal digits.
[[nodiscard]] std::string ToString(const DigestValue& value);

class Digest {
 public:
  Digest();
  ~Digest();
  Digest(Digest&&) noexcept;
  Digest& operator=(Digest&&) noexcept;

  /// The next record of the run. Idle heartbeats and elision are no records: see routine.h.
  void Add(const TraceRecord& record);

  /// Of all records so far; adding may go on afterwards.
  [[nodiscard]] DigestValue value() const;
  [[nodiscard]] std::uint64_t records() const { return records_; }

 private:
  struct FreeState {
    void operator()(XXH3_state_s* state) const;
  };

  struct LatestList;

  std::unique_ptr<XXH3_state_s, FreeState> state_;
  std::unique_ptr<LatestList> latest_list_;
  std::unique_ptr<char[]> buffer_;  // bytes not yet hashed, the first used_ of a fixed size
  std::size_t used_ = 0;
  std::uint64_t records_ = 0;
};

}  // namespace tfyarn::trace
