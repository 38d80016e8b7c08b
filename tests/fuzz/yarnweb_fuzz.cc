// Any bytes as what YARN's daemons say over HTTP, and as a log that a NodeManager has collected: a
// value or an error, and never more bytes than were asked for.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/model/check.h"
#include "wire/yarnweb/aggregated_log.h"
#include "wire/yarnweb/cluster_answers.h"
#include "wire/yarnweb/node_logs.h"
#include "wire/yarnweb/rm_answers.h"

namespace {

using namespace tfyarn;

void ReadTail(const std::string& text) {
  constexpr std::uint64_t kAsked = 100;
  std::uint64_t bytes = 0;
  wire::LogTailReader reader(kAsked, [&](std::uint64_t offset, std::string_view piece) {
    bytes += piece.size();
    TF_CHECK(offset + piece.size() <= *reader.length());
  });
  for (std::size_t at = 0; at < text.size() && reader.Take(std::string_view(text).substr(at, 7));)
    at += 7;
  TF_CHECK(bytes <= kAsked);
}

void ReadCollected(const std::string& text) {
  std::uint64_t wanted = 0;
  std::uint64_t bytes = 0;
  const auto visited = wire::VisitAggregatedLog(
      text.size(),
      [&](std::uint64_t offset, std::uint64_t length) -> Expected<std::string> {
        TF_CHECK(offset <= text.size());
        return text.substr(offset, length);
      },
      {.wants =
           [&](const ContainerId&, const wire::LogFile& file) {
             if (file.name.size() % 2 == 1) return false;
             wanted += file.size;
             return true;
           },
       .bytes = [&](std::uint64_t, std::string_view piece) { bytes += piece.size(); }});
  if (visited) TF_CHECK(bytes == wanted);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)wire::ParseContainerLogs(text);
  (void)wire::ParseAttempts(text);
  (void)wire::ParseClusterInfo(text);
  (void)wire::ParseScheduler(text);
  (void)wire::ParseConfigurationValue(text);
  (void)wire::ParseHttpDate(text);
  ReadTail(text);
  ReadCollected(text);
  return 0;
}
