// Fields that make up a Resource, wherever one is written: on a task type, on a node class, for the
// AM.
#pragma once

#include "config/record.h"
#include "core/model/resource.h"

namespace tfyarn::config {

/// `{memory: 256GiB, vcores: 32, gpus: 8, yarn.io/fpga: 2}`.
[[nodiscard]] const Record<Resource>& ResourceTable();
/// `resources: {yarn.io/fpga: 1}`: the types beside memory, vcores and gpus.
[[nodiscard]] Type<Resource> OtherResources();

/// memory, vcores, gpus and resources as fields of the owner itself.
template <class T>
void AddTaskResources(Record<T>& record, Resource T::*resource) {
  record.Field("memory", resource, &Resource::memory_mb, Memory(1), "Memory of each container.",
               {.example = "4GiB", .required = true, .also = {"mem", "ram"}});
  record.Field("vcores", resource, &Resource::vcores, Whole(1, 100'000),
               "Virtual cores of each container.",
               {.default_text = "1", .also = {"cpu", "cpus", "cores"}});
  record.Field("gpus", resource, &Resource::gpus, Whole(0, 100'000),
               "GPUs (yarn.io/gpu) of each container.", {.also = {"gpu"}});
  record.Field("resources", resource, OtherResources(),
               "Other countable types, by their YARN names.", {.example = "{yarn.io/fpga: 1}"});
}

}  // namespace tfyarn::config
