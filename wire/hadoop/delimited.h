// Messages behind their own length, a varint, as protobuf's writeDelimitedTo() writes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tfyarn::hadoop {

void AppendDelimited(std::string_view message, std::string& out);
/// Takes one message off the front of `bytes`; nullopt when there is no whole one.
[[nodiscard]] std::optional<std::string_view> TakeDelimited(std::string_view& bytes);

}  // namespace tfyarn::hadoop
