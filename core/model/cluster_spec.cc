#include "core/model/cluster_spec.h"

#include <xxhash.h>

#include "core/model/codec.h"

namespace tfyarn {

SpecRef Share(ClusterSpec spec) {
  std::string bytes;
  Encoder(bytes).Put(spec);
  const SpecId id(XXH3_64bits(bytes.data(), bytes.size()));
  return SpecRef(id, std::make_shared<const ClusterSpec>(std::move(spec)));
}

}  // namespace tfyarn
