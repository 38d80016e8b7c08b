#include "core/model/describe.h"

namespace tfyarn {

std::string KebabCase(std::string_view pascal) {
  std::string out;
  for (std::size_t i = 0; i < pascal.size(); ++i) {
    const char c = pascal[i];
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper && i > 0) out += '-';
    out += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

}  // namespace tfyarn
