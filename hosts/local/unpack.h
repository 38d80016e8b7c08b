// Archives (tar and zip, compressed or not) into a directory, as a NodeManager unpacks them.
#pragma once

#include <cstdint>
#include <string>

#include "core/model/error.h"

namespace tfyarn::hosts {

/// What an archive may hold at most, so that a small one cannot fill the disk.
struct UnpackLimits {
  std::uint64_t bytes = std::uint64_t{64} << 30;
  std::uint64_t entries = 1'000'000;
};

/// Unpacks into `directory`, which is made. Nothing leaves it: absolute names, names with '..' and
/// links that lead out are errors. Owners and special modes are not restored.
/// Errors: kNotFound: no such file; kInvalidArgument: not an archive, damaged, or one of the above;
/// kUnavailable: cannot write. What was unpacked by then stays.
[[nodiscard]] Expected<void> Unpack(const std::string& archive, const std::string& directory,
                                    const UnpackLimits& limits = {});

/// Whether it can be read, without writing anything: all of it until `most` bytes have been
/// unpacked, of which a gigabyte takes four seconds. Errors: as Unpack, but kUnavailable.
[[nodiscard]] Expected<void> CheckArchive(const std::string& archive,
                                          std::uint64_t most = std::uint64_t{2} << 30);

}  // namespace tfyarn::hosts
