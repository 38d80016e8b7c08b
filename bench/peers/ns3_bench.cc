// ns-3 in the hold model: its schedulers as bare queues, and its simulator, whose events are
// heap-allocated callbacks. Usage: ns3_bench [REPEATS].
#include <ns3/event-impl.h>
#include <ns3/heap-scheduler.h>
#include <ns3/map-scheduler.h>
#include <ns3/object-factory.h>
#include <ns3/priority-queue-scheduler.h>
#include <ns3/simulator.h>

#include <cstdlib>
#include <memory>
#include <utility>

#include "bench/hold_model.h"

namespace {

using tfyarn::bench::Gaps;

template <class Scheduler>
class Queue {
 public:
  void Push(std::int64_t at, std::uint32_t payload) {
    scheduler_->Insert({nullptr, {static_cast<std::uint64_t>(at), next_++, payload}});
  }
  std::pair<std::int64_t, std::uint32_t> Pop() {
    const ns3::Scheduler::Event event = scheduler_->RemoveNext();
    return {static_cast<std::int64_t>(event.key.m_ts), event.key.m_context};
  }

 private:
  ns3::Ptr<Scheduler> scheduler_ = ns3::CreateObject<Scheduler>();
  std::uint32_t next_ = 0;
};

struct Run {
  Gaps* gaps;
  std::size_t left;
};

void Fire(Run* run) {
  if (run->left == 0) {
    ns3::Simulator::Stop();
    return;
  }
  --run->left;
  ns3::Simulator::Schedule(ns3::NanoSeconds(run->gaps->Next()), &Fire, run);
  if (run->left % 10 == 0) {
    ns3::Simulator::Schedule(ns3::NanoSeconds(run->gaps->Next()), &Fire, run).Cancel();
  }
}

double SimulatorOnce(std::size_t pending, std::size_t operations, Gaps& gaps) {
  ns3::ObjectFactory factory;
  factory.SetTypeId(ns3::PriorityQueueScheduler::GetTypeId());
  ns3::Simulator::SetScheduler(factory);
  Run run{&gaps, operations};
  for (std::size_t i = 0; i < pending; ++i)
    ns3::Simulator::Schedule(ns3::NanoSeconds(gaps.Next()), &Fire, &run);
  const double start = tfyarn::bench::CpuNanoseconds();
  ns3::Simulator::Run();
  const double spent = tfyarn::bench::CpuNanoseconds() - start;
  ns3::Simulator::Destroy();
  return spent / static_cast<double>(operations);
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 10;
  tfyarn::bench::MeasureHold("ns-3 MapScheduler", repeats,
                             tfyarn::bench::HoldOnce<Queue<ns3::MapScheduler>>);
  tfyarn::bench::MeasureHold("ns-3 HeapScheduler", repeats,
                             tfyarn::bench::HoldOnce<Queue<ns3::HeapScheduler>>);
  tfyarn::bench::MeasureHold("ns-3 PriorityQueueScheduler", repeats,
                             tfyarn::bench::HoldOnce<Queue<ns3::PriorityQueueScheduler>>);
  tfyarn::bench::MeasureHold("ns-3 Simulator, callbacks", repeats, SimulatorOnce);
}
