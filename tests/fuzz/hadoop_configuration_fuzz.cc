// Any bytes as a yarn-site.xml and what it includes: every value of it can be read or is an error
// that can be shown.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "config/hadoop_settings.h"
#include "core/model/check.h"

namespace tfyarn::config {
namespace {

void Try(const std::string& text, const std::string& included) {
  HadoopSurroundings surroundings{
      .variable = [](const std::string& name) -> std::optional<std::string> {
        if (name == "A") return "${env.A}";
        return std::nullopt;
      },
      .user = "u",
      .open = [&](const std::string& path) -> Expected<std::unique_ptr<ByteSource>> {
        if (path == "c/yarn-site.xml") return OpenBytes(text);
        if (path == "c/i") return OpenBytes(included);
        return Fail(ErrorCode::kNotFound, "No such file or directory");
      }};
  const auto loaded = HadoopConfiguration::Load("c", std::move(surroundings));
  if (!loaded) {
    TF_CHECK(!Render(loaded.error()).empty());
    return;
  }
  for (const std::string& key : loaded->SetKeys()) {
    const auto value = loaded->Find(key);
    if (value && *value) TF_CHECK(!loaded->OriginOf(**value).empty());
  }
  const auto settings = ReadHadoopSettings(*loaded);
  if (!settings) TF_CHECK(!Render(settings.error()).empty());
}

}  // namespace
}  // namespace tfyarn::config

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  // What follows a zero byte is the file that is included.
  const std::size_t zero = std::min(text.find('\0'), text.size());
  tfyarn::config::Try(text.substr(0, zero), text.substr(std::min(zero + 1, text.size())));
  return 0;
}
