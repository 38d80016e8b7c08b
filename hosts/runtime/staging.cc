#include "hosts/runtime/staging.h"

#include "core/model/codec.h"

namespace tfyarn::hosts {

bool MayPass(hdfs::HdfsErrorCode code) {
  return code == hdfs::HdfsErrorCode::kUnavailable || code == hdfs::HdfsErrorCode::kSafeMode ||
         code == hdfs::HdfsErrorCode::kQuotaExceeded;
}

std::string ToBytes(const StagedFacts& facts) {
  std::string bytes;
  Encoder(bytes).Put(facts);
  return bytes;
}

Expected<StagedFacts> StagedFactsFrom(std::string_view bytes) {
  StagedFacts facts;
  Decoder decoder(bytes);
  decoder.Get(facts);
  if (decoder.at_end()) return facts;
  return Fail(ErrorCode::kDataLoss,
              "cluster-facts is damaged, or was written by another version of tfyarn");
}

}  // namespace tfyarn::hosts
