#include "config/resource_table.h"

#include <fmt/format.h>

#include "config/names.h"

namespace tfyarn::config {
namespace {

constexpr std::int64_t kMostOfAType = 1'000'000'000;

bool ReadOther(Decoder& decoder, const Entry& entry, Resource& out) {
  if (entry.key == kGpuResourceName) {
    decoder.ErrorAtKey(entry, "`yarn.io/gpu` is written as the field `gpus`");
    return true;
  }
  if (!IsResourceType(entry.key)) return false;
  std::int64_t amount = 0;
  const Decoder::Scope scope(decoder, entry.key);
  Whole(0, kMostOfAType).read(decoder, entry.value, amount);
  out.Set(entry.key, amount);
  return true;
}

constexpr std::string_view kResourceTypePattern =
    "^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*$";

}  // namespace

const Record<Resource>& ResourceTable() {
  static const Record<Resource> table = [] {
    Record<Resource> record("resources", "An amount of everything a container or a node can hold.");
    record.Field("memory", &Resource::memory_mb, Memory(), "Memory.",
                 {.example = "256GiB", .also = {"mem", "ram"}});
    record.Field("vcores", &Resource::vcores, Whole(0, 1'000'000), "Virtual cores.",
                 {.also = {"cpu", "cpus", "cores"}});
    record.Field("gpus", &Resource::gpus, Whole(0, 1'000'000), "GPUs (yarn.io/gpu).");
    record.OtherKeys(std::string(kResourceTypePattern), ReadOther);
    return record;
  }();
  return table;
}

Type<Resource> OtherResources() {
  static const Record<Resource> table = [] {
    Record<Resource> record("other resources",
                            "Countable resource types by their YARN names, like yarn.io/fpga.");
    record.OtherKeys(std::string(kResourceTypePattern), ReadOther);
    return record;
  }();
  return {.info = {.shape = Shape::kMap,
                   .text = "map of resource types to amounts",
                   .pattern = std::string(kResourceTypePattern),
                   .of = {Whole(0, kMostOfAType).info}},
          .read = [](Decoder& decoder, const Node& node,
                     Resource& out) { table.Read(decoder, node, out); },
          .show = [](const Resource&) { return std::string("{}"); }};
}

}  // namespace tfyarn::config
