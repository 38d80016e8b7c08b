// The kinds of faults by name, in the order of the documentation, in which exploration draws them,
// too.
//
// A kind is a line here and two files: its contract in config/faults (what a scenario may say of
// it, what others may ask about it) and its effect in sim/faults. One that lacks either does not
// link.
#pragma once

#include <cstddef>
#include <cstdint>

/// What strikes: x_y.cc in config/faults and what it does in sim/faults are of `XY(One)` here.
// clang-format off
#define TF_FAULTS_THAT_STRIKE(One) \
  One(NodeCrash) \
  One(NodeReboot) \
  One(NodeDecommission) \
  One(NodeUnhealthy) \
  One(SlowNode) \
  One(DiskFull) \
  One(DisksFailed) \
  One(NmRestart) \
  One(NmHeartbeatLoss) \
  One(LaunchFail) \
  One(LocalizeFail) \
  One(LocalizeSlow) \
  One(RmFailover) \
  One(RmRestart) \
  One(RmPause) \
  One(RmDropResponse) \
  One(RmDuplicateResponse) \
  One(RmSlow) \
  One(AmResync) \
  One(AmCrash) \
  One(AmPause) \
  One(ContainerExit) \
  One(ContainerSignal) \
  One(ContainerOom) \
  One(ContainerVmem) \
  One(ContainerLost) \
  One(Preempt) \
  One(Hang) \
  One(PortInUse) \
  One(ClientKill) \
  One(ClientLost) \
  One(ClientSuspend) \
  One(ClientResume) \
  One(GpuScarcity) \
  One(GpuLost) \
  One(GpuSlow) \
  One(Partition) \
  One(Latency) \
  One(Loss) \
  One(Reorder) \
  One(Drop) \
  One(Delay) \
  One(Duplicate) \
  One(HdfsDown) \
  One(HdfsSafemode) \
  One(HdfsSlow) \
  One(HdfsQuota) \
  One(TokenExpiry) \
  One(ClockSkew) \
  One(ClockJump)
// clang-format on

/// A recorded trace strikes as NodeCrash, and has no effect of its own.
#define TF_FAULT_KINDS(One)  \
  TF_FAULTS_THAT_STRIKE(One) \
  One(Trace)

namespace tfyarn::config {

enum class FaultId : std::uint8_t {
#define TF_FAULT_ID(Name) k##Name,
  TF_FAULT_KINDS(TF_FAULT_ID)
#undef TF_FAULT_ID
};

}  // namespace tfyarn::config
