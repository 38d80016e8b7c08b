// Messages behind their own length, a varint, as protobuf's writeDelimitedTo() writes them.
//
// Not google/protobuf/util/delimited_message_util.h: it has no way to take a message unparsed, and
// is not in libprotobuf-lite.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tfyarn::hadoop {

void AppendDelimited(std::string_view message, std::string& out);
/// Takes one message off the front of `bytes`; nullopt when there is no whole one.
[[nodiscard]] std::optional<std::string_view> TakeDelimited(std::string_view& bytes);

}  // namespace tfyarn::hadoop
