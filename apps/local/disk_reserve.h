// Room on the disk of a run that is kept for its own records.
//
// Logs may fill the disk. What the job then decided could not be written, and the verdict would
// have no cause. So a part of the disk is taken before anything starts, and given back when it is
// needed: when no process of the user's is left to fill it too, or when nothing has moved for a
// while.
#pragma once

#include <optional>
#include <string>

#include "core/model/error.h"
#include "core/model/time.h"

namespace tfyarn::local {

class DiskReserve {
 public:
  /// Nothing is taken before Take. `directory`: of the run.
  explicit DiskReserve(const std::string& directory) : directory_(directory) {}
  DiskReserve(const DiskReserve&) = delete;
  DiskReserve& operator=(const DiskReserve&) = delete;
  ~DiskReserve() { GiveBack(); }

  /// Errors: kUnavailable: the disk has not so much room.
  [[nodiscard]] Expected<void> Take();
  /// Looks whether the disk is full. `alone`: no process of the user's runs.
  void Look(Instant now, bool alone);
  void GiveBack();
  /// What filled the disk, in words; "" when it never was full.
  [[nodiscard]] std::string Account() const;

 private:
  std::string directory_;
  bool taken_ = false;
  bool was_full_ = false;
  std::optional<Instant> full_since_;
};

}  // namespace tfyarn::local
