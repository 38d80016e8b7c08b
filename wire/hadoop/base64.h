// Base64 as Hadoop writes tokens where text is wanted: with `+`, `/` and `=`, in one line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tfyarn::hadoop {

[[nodiscard]] std::string EncodeBase64(std::string_view bytes);
/// nullopt when `text` is none.
[[nodiscard]] std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace tfyarn::hadoop
