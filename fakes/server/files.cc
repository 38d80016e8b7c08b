#include "fakes/server/files.h"

#include <fstream>
#include <iterator>

namespace tfyarn::fakes {
namespace {

constexpr std::size_t kTail = 4096;

}  // namespace

void WriteFile(const std::filesystem::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

std::string Tail(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  return text.size() > kTail ? text.substr(text.size() - kTail) : text;
}

std::string Quoted(std::string text) {
  for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 4)
    text.replace(at, 1, "'\\''");
  return "'" + text + "'";
}

}  // namespace tfyarn::fakes
