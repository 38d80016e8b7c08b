// What the ResourceManager answers to clients.
//
// Source: ClientRMService.java, RMAppManager.java.
#pragma once

#include <cstdint>
#include <optional>

#include "core/model/yarn.h"
#include "fakes/yarn-rm/messages.h"
#include "fakes/yarn-rm/rm_applications.h"
#include "fakes/yarn-rm/rm_context.h"
#include "fakes/yarn-rm/rm_records.h"

namespace tfyarn::fakes {

class RmClientService {
 public:
  /// All outlive this.
  RmClientService(RmRecords& records, RmApplications& applications)
      : records_(records), applications_(applications) {}

  [[nodiscard]] yarn::RmResponse Answer(const RmCall&, const yarn::GetNewApplicationRequest&);
  [[nodiscard]] yarn::RmResponse Answer(const RmCall&,
                                        const yarn::SubmitApplicationRequest& request);
  [[nodiscard]] yarn::RmResponse Answer(const RmCall&,
                                        const yarn::GetApplicationReportRequest& request);
  [[nodiscard]] yarn::RmResponse Answer(const RmCall&, const yarn::KillApplicationRequest& request);
  [[nodiscard]] yarn::RmResponse Answer(const RmCall&, const yarn::GetClusterNodesRequest&);
  [[nodiscard]] yarn::RmResponse Answer(const RmCall&, const yarn::GetQueueInfoRequest& request);

 private:
  [[nodiscard]] std::optional<yarn::RpcError> CheckSubmission(
      const yarn::SubmitApplicationRequest& request) const;
  [[nodiscard]] static yarn::ApplicationReport ReportOf(const RmApplication& application);

  RmRecords& records_;
  RmApplications& applications_;
  std::int32_t next_application_ = 1;
};

}  // namespace tfyarn::fakes
