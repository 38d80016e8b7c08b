#include "hosts/agent/log_tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "hosts/agent/unique_fd.h"

namespace tfyarn::agent_host {
namespace {

bool IsContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

/// Length of the well-formed character that `text` begins with; 0 when it begins with none.
/// Source: Unicode 15, table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF.
std::size_t CharacterLength(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!IsContinuation(text[i])) return 0;
  }
  const unsigned char second = byte(1);
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
      (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) {
    return 0;
  }
  return length;
}

bool IsControl(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return (lead < 0x20 && lead != '\n' && lead != '\t') || lead == 0x7F;
  return lead == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;  // U+0080..U+009F
}

std::string ReadAt(int file, std::uint64_t begin, std::size_t size) {
  std::string bytes(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got =
        ::pread(file, bytes.data() + done, size - done, static_cast<off_t>(begin + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

}  // namespace

std::string CleanText(std::string_view bytes) {
  std::string clean;
  clean.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t length = CharacterLength(bytes);
    const std::string_view character = bytes.substr(0, std::max<std::size_t>(length, 1));
    bytes.remove_prefix(character.size());
    if (character == "\r") {
      if (!bytes.starts_with('\n')) clean.push_back('\n');
    } else if (length == 0 || IsControl(character)) {
      clean.push_back('?');
    } else {
      clean.append(character);
    }
  }
  return clean;
}

std::string ReadLogTail(const std::string& path, std::uint64_t from, std::size_t limit) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return "";
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (from > size) from = 0;
  const std::uint64_t begin = size - from > limit ? size - limit : from;
  const std::string bytes = ReadAt(file.get(), begin, static_cast<std::size_t>(size - begin));
  std::string_view text = bytes;
  if (begin > from) {
    for (int i = 0; i < 3 && !text.empty() && IsContinuation(text.front()); ++i) {
      text.remove_prefix(1);
    }
  }
  return CleanText(text);
}

}  // namespace tfyarn::agent_host
