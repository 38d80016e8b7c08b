// What the ResourceManager answers to ApplicationMasters, and what of their asks it takes.
//
// Source: ApplicationMasterService.java, DefaultAMSProcessor.java.
#pragma once

#include <optional>
#include <vector>

#include "core/model/ids.h"
#include "core/model/resource.h"
#include "core/model/yarn.h"
#include "fakes/yarn-rm/messages.h"
#include "fakes/yarn-rm/rm_applications.h"
#include "fakes/yarn-rm/rm_context.h"
#include "fakes/yarn-rm/rm_outbox.h"
#include "fakes/yarn-rm/rm_records.h"

namespace tfyarn::fakes {

class RmMasterService {
 public:
  /// All outlive this.
  RmMasterService(RmRecords& records, RmOutbox& out, RmApplications& applications)
      : records_(records), out_(out), applications_(applications) {}

  [[nodiscard]] yarn::RmResponse Answer(const RmCall& call,
                                        const yarn::RegisterApplicationMasterRequest& request);
  [[nodiscard]] yarn::RmResponse Answer(const RmCall& call, const yarn::AllocateRequest& request);
  [[nodiscard]] yarn::RmResponse Answer(const RmCall& call,
                                        const yarn::FinishApplicationMasterRequest& request);
  void Forget(const ForgetRegistration& order);
  void Expire(const ExpireAmRmToken& order);

 private:
  // ------------------------------------------------------------ rm_masters.cc
  /// The attempt that the caller is, or why he is refused.
  [[nodiscard]] std::optional<yarn::RpcError> CheckMaster(const RmCall& call,
                                                          RmApplication*& application);
  [[nodiscard]] yarn::AllocateResponse FillResponse(RmApplication& application);
  [[nodiscard]] yarn::Container ToldOf(RmApplication& application, const BookedContainer& container,
                                       std::vector<yarn::NmToken>& nm_tokens);
  void AcknowledgeDelivered(RmApplication& application);
  [[nodiscard]] Resource HeadroomOf(const RmApplication& application) const;

  // ------------------------------------------------------------ rm_asks.cc
  [[nodiscard]] std::optional<yarn::RpcError> CheckAllocate(
      const RmApplication& application, const yarn::AllocateRequest& request) const;
  [[nodiscard]] std::optional<yarn::RpcError> CheckRow(const RmApplication& application,
                                                       const yarn::ResourceRequest& row) const;
  void TakeAsks(RmApplication& application, const std::vector<yarn::ResourceRequest>& rows);
  void TakeReleases(RmApplication& application, const std::vector<ContainerId>& releases);
  void TakeBlacklist(RmApplication& application, const yarn::AllocateRequest& request);

  RmRecords& records_;
  RmOutbox& out_;
  RmApplications& applications_;
};

}  // namespace tfyarn::fakes
