#include "fakes/yarn-rm/rm_context.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tfyarn::fakes {

RmRecords::RmRecords(RmOptions with)
    : options(std::move(with)),
      rm_identifier(options.cluster_timestamp),
      amrm_key(options.amrm_token_roll, options.am_expiry),
      nm_key(options.nm_token_roll, options.nm_expiry),
      container_key(options.nm_token_roll, options.nm_expiry),
      tokens(std::make_shared<TokenBook>()),
      partitions{""},
      limits(options),
      queues(options),
      ended(static_cast<std::size_t>(options.max_completed_applications)) {
  books.partitions = partitions;
  for (const std::string& partition : options.partitions) (void)PartitionNumber(partition);
  for (std::size_t q = 0; q < queues.size(); ++q)
    books.queues.push_back(&queues[static_cast<std::int32_t>(q)]);
}

std::optional<std::int32_t> RmRecords::FindPartition(const std::string& label) const {
  const auto found = std::find(partitions.begin(), partitions.end(), label);
  if (found == partitions.end()) return std::nullopt;
  return static_cast<std::int32_t>(found - partitions.begin());
}

std::int32_t RmRecords::PartitionNumber(const std::string& label) {
  if (const auto known = FindPartition(label)) return *known;
  partitions.push_back(label);
  books.partitions = partitions;
  return static_cast<std::int32_t>(partitions.size()) - 1;
}

}  // namespace tfyarn::fakes
