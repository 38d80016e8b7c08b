// An entry of the journal as bytes, and back: journal.proto.
#pragma once

#include <string>
#include <string_view>

#include "core/journal/entries.h"
#include "core/model/error.h"

namespace tfyarn::journal {

[[nodiscard]] std::string EncodeEntry(const JournalEntry& entry);
/// Errors: kInvalidArgument for bytes that are no entry, and for one of a newer version: of a kind,
/// or with an enumerator, that is not known here.
[[nodiscard]] Expected<JournalEntry> DecodeEntry(std::string_view bytes);

}  // namespace tfyarn::journal
