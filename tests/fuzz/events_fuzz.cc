// Any bytes as events.jsonl, as an ApplicationMaster or `tfyarn history` may find it in HDFS.
// Reading never crashes, whatever is cut where, and what was read can be made into result and
// report. The first byte says where the file is cut in two, and whether another file follows.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/check.h"
#include "core/trace/json.h"
#include "hosts/runtime/run_documents.h"

namespace {

using tfyarn::hosts::EventsReader;
using tfyarn::hosts::RunDocuments;

/// A line that was read says the same when it is written and read again.
void CheckLine(const tfyarn::trace::TraceRecord& record) {
  const std::string line = tfyarn::trace::RecordJson(record);
  const auto again = tfyarn::trace::RecordFromJson(line);
  TF_CHECK(again && tfyarn::trace::RecordJson(again->record) == line);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  RunDocuments documents("1", "name: a\n");
  EventsReader reader([&](const tfyarn::trace::TraceRecord& record) {
    CheckLine(record);
    documents.Observe(record);
  });
  const std::size_t cut = bytes.size() * (data[0] / 2) / 128;
  reader.Feed(bytes.substr(0, cut));
  if (data[0] % 2 == 1) reader.NextFile();
  reader.Feed(bytes.substr(cut));
  const auto made = documents.Make(tfyarn::Duration(1), data[0] % 2 == 0);
  TF_CHECK(!made.json.empty());
  return 0;
}
