#include "apps/yarn/cluster_health.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/model/resource.h"

namespace tfyarn::apps {
namespace {

using enum CheckState;

/// Clocks are read to the second, and answers take their time.
constexpr Duration kSkewed = 5s;
/// Tokens of YARN and certificates of ours are good for minutes.
constexpr Duration kBroken = 5min;

std::string Percent(std::int64_t permille) {
  if (permille < 0) return "?";
  return permille % 10 == 0 ? fmt::format("{} %", permille / 10)
                            : fmt::format("{}.{} %", permille / 10, permille % 10);
}

bool MaySubmit(const SchedulerFacts& facts, const std::string& path) {
  const std::string last = path.substr(path.rfind('.') + 1);
  return std::any_of(facts.rights->begin(), facts.rights->end(),
                     [&](const hadoop::QueueRights& rights) {
                       return rights.submit && (rights.queue == path || rights.queue == last);
                     });
}

}  // namespace

std::vector<Check> JudgeManagers(const std::vector<ManagerFacts>& managers) {
  using State = ManagerFacts::State;
  const bool active = std::any_of(managers.begin(), managers.end(), [](const ManagerFacts& each) {
    return each.state == State::kActive;
  });
  std::vector<Check> checks;
  for (const ManagerFacts& each : managers) {
    Check check{.subject = each.name};
    if (each.state == State::kActive) check.text = "active";
    if (each.state == State::kStandby) check.text = "on standby";
    if (each.state == State::kStandby && !active) check.state = kProblem;
    if (each.state == State::kSilent) {
      check.state = active ? kWarning : kProblem;
      check.text = "cannot be reached: " + each.error;
      check.advice = active ? "start it, or no ResourceManager takes over when the active one ends"
                            : "is it running, and is this its address? `tfyarn config show "
                              "--origin yarn.resourcemanager.address` says where that is from";
    }
    if (each.state == State::kRefuses) {
      check.state = active ? kWarning : kProblem;
      check.text = "does not take calls: " + each.error;
    }
    checks.push_back(std::move(check));
  }
  if (!active && managers.size() > 1) {
    checks.push_back({.subject = "ResourceManagers",
                      .state = kProblem,
                      .text = "none of them is active",
                      .advice = "`yarn rmadmin -getAllServiceState` says more"});
  }
  return checks;
}

std::vector<Check> JudgeNodes(const NodeFacts& facts) {
  std::int64_t up = 0;
  std::int64_t away = 0;
  std::int64_t with_gpus = 0;
  Resource sum;
  for (const yarn::NodeReport& node : facts.nodes) {
    if (node.state == yarn::NodeState::kRunning) {
      ++up;
      sum += node.capability;
      with_gpus += node.capability.gpus > 0 ? 1 : 0;
    } else if (node.state == yarn::NodeState::kLost || node.state == yarn::NodeState::kUnhealthy) {
      ++away;
    }
  }
  std::vector<Check> checks;
  checks.push_back(
      {.subject = "nodes",
       .state = up == 0    ? kProblem
                : away > 0 ? kWarning
                           : kOk,
       .text = fmt::format("{} up with {}{}", up, ToString(sum),
                           away > 0 ? fmt::format("; {} lost or unhealthy", away) : ""),
       .advice = up == 0    ? "start NodeManagers: nothing can run"
                 : away > 0 ? "`yarn node -list -all` names them"
                            : ""});
  const bool known =
      std::find(facts.types.begin(), facts.types.end(), kGpuResourceName) != facts.types.end();
  Check gpus{.subject = "GPUs"};
  if (!known) {
    gpus.state = kWarning;
    gpus.text = fmt::format("the ResourceManager does not know {}", kGpuResourceName);
    gpus.advice =
        "jobs with `gpus` are refused; to have them, name it in yarn.resource-types and give nodes "
        "the GPU plugin";
  } else if (with_gpus == 0) {
    gpus.state = kWarning;
    gpus.text = fmt::format("{} is known, but no node has any", kGpuResourceName);
    gpus.advice = "set yarn.nodemanager.resource-plugins on the nodes with GPUs";
  } else {
    gpus.text = fmt::format("{} on {} of {} nodes", sum.gpus, with_gpus, up);
  }
  checks.push_back(std::move(gpus));
  std::vector<std::string> names;
  for (const hadoop::NodeLabel& label : facts.labels)
    names.push_back(label.name + (label.exclusive ? "" : " (shared)"));
  checks.push_back({.subject = "node labels",
                    .text = names.empty() ? "none: `node_label` cannot be used"
                                          : fmt::format("{}", fmt::join(names, ", "))});
  return checks;
}

std::vector<Check> JudgeQueues(const SchedulerFacts& facts) {
  std::vector<Check> checks;
  for (const wire::SchedulerQueue& queue : facts.scheduler.queues) {
    Check check{.subject = "queue " + queue.path};
    if (queue.capacity >= 0) {
      check.text = fmt::format("{} of the cluster, at most {}; {} in use", Percent(queue.capacity),
                               Percent(queue.maximum), Percent(queue.used));
    } else {
      check.text = "there";
    }
    if (!queue.state.empty() && queue.state != "RUNNING") {
      check.state = kWarning;
      check.text = queue.state + ": takes no new jobs";
      check.advice = "use another queue, or have it started again (yarn.scheduler.capacity." +
                     queue.path + ".state)";
    } else if (facts.rights && !MaySubmit(facts, queue.path)) {
      check.state = kWarning;
      check.text += fmt::format("; {} may not submit to it", facts.user);
      check.advice = "use another queue, or ask for the right (yarn.scheduler.capacity." +
                     queue.path + ".acl_submit_applications)";
    }
    checks.push_back(std::move(check));
  }
  const bool usable = std::any_of(checks.begin(), checks.end(),
                                  [](const Check& check) { return check.state == kOk; });
  if (!usable) {
    checks.push_back({.subject = "queues",
                      .state = kProblem,
                      .text = "there is none to which " + facts.user + " can submit"});
  }
  return checks;
}

// The ResourceManager does not say which calculator it has. With one that counts memory only, the
// vcores of a queue's limit for AMs stay at the least amount, 1, whatever its share of memory is.
// With yarn.io/gpu among its resource types an RM of Hadoop 3.4 refuses to start with it.
Check JudgeCalculator(const SchedulerFacts& facts) {
  constexpr std::int64_t kClear = 4;
  const char* advice =
      "set yarn.scheduler.capacity.resource-calculator to "
      "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator and restart the "
      "ResourceManager";
  Check check{.subject = "what is scheduled by"};
  const wire::SchedulerAnswer& scheduler = facts.scheduler;
  if (scheduler.type == "fairScheduler") {
    const bool memory_only =
        std::any_of(scheduler.queues.begin(), scheduler.queues.end(),
                    [](const wire::SchedulerQueue& queue) { return queue.policy == "fair"; });
    check.text = memory_only ? "the Fair Scheduler's policy `fair` counts memory only: GPUs are "
                               "not shared fairly"
                             : "all resources count (Fair Scheduler)";
    if (memory_only) check.state = kWarning;
    if (memory_only) check.advice = "use the policy `drf`";
    return check;
  }
  if (scheduler.type != "capacityScheduler") {
    check.state = kNotChecked;
    check.text = "the scheduler is of another kind: " + scheduler.type;
    return check;
  }
  bool judged = false;
  for (const wire::SchedulerQueue& queue : scheduler.queues) {
    if (facts.cluster.vcores <= 0 || queue.am_memory_mb < 0 || queue.am_vcores < 0) continue;
    const std::int64_t memory_per_vcore = facts.cluster.memory_mb / facts.cluster.vcores;
    // As many vcores would be the queue's for AMs if they counted.
    if (memory_per_vcore <= 0 || queue.am_memory_mb / memory_per_vcore < kClear) continue;
    judged = true;
    if (queue.am_vcores > 1) continue;
    check.state = facts.gpus ? kProblem : kWarning;
    check.text =
        "memory only (DefaultResourceCalculator): vcores and GPUs are not counted, nodes "
        "can be given more tasks than they have cores";
    check.advice = advice;
    return check;
  }
  if (judged || facts.gpus) {
    check.text = "all resources count";
    return check;
  }
  check.state = kNotChecked;
  check.text = "this cluster is too small to tell";
  return check;
}

std::vector<Check> JudgeDaemons(const DaemonFacts& facts) {
  std::vector<Check> checks;
  Check least{.subject = "smallest container", .state = kNotChecked, .text = "not said"};
  if (facts.least_memory_mb) {
    least.state = kOk;
    least.text = *facts.least_memory_mb + " MiB; asks are rounded up to multiples of it";
  }
  checks.push_back(std::move(least));
  Check attempts{.subject = "attempts of an AM", .state = kNotChecked, .text = "not said"};
  if (facts.am_attempts) {
    const bool once = *facts.am_attempts == "1";
    attempts.state = once ? kWarning : kOk;
    attempts.text = "at most " + *facts.am_attempts;
    if (once)
      attempts.advice = "a job does not outlive its AM: raise yarn.resourcemanager.am.max-attempts";
  }
  checks.push_back(std::move(attempts));
  Check memory{.subject = "memory checks", .state = kNotChecked, .text = "no node says"};
  if (facts.pmem_check && facts.vmem_check) {
    const bool virtual_too = *facts.vmem_check == "true";
    memory.state = virtual_too ? kWarning : kOk;
    memory.text = fmt::format(
        "on {}: physical {}, virtual {}", facts.node, *facts.pmem_check == "true" ? "on" : "off",
        virtual_too ? "on, " + facts.vmem_ratio.value_or("?") + " times" : "off");
    if (virtual_too) {
      memory.advice =
          "TensorFlow maps much more memory than it uses and may be killed for that (-103): set "
          "yarn.nodemanager.vmem-check-enabled to false";
    }
  }
  checks.push_back(std::move(memory));
  Check logs{.subject = "logs", .state = kNotChecked, .text = "no node says"};
  if (facts.collects_logs) {
    const bool collects = *facts.collects_logs == "true";
    logs.state = collects ? kOk : kWarning;
    logs.text = collects ? "are collected in HDFS at a job's end"
                         : "stay on the nodes, which delete them after a while";
    if (!collects) {
      logs.advice = "set yarn.log-aggregation-enable to true on the nodes";
    } else if (!facts.collects_here) {
      logs.state = kWarning;
      logs.advice =
          "this machine's configuration does not know: set "
          "yarn.log-aggregation-enable here, too";
    }
  }
  checks.push_back(std::move(logs));
  return checks;
}

Check JudgeHdfs(const HdfsFacts& facts) {
  Check check{.subject = "HDFS"};
  if (!facts.error) {
    check.text = fmt::format(
        "{} can write to {}: a file was made, appended to, renamed, read and "
        "deleted",
        facts.user, facts.directory);
    return check;
  }
  check.state = kProblem;
  check.text = fmt::format("{} in {}: {}", facts.step, facts.directory, facts.error->message);
  switch (facts.error->code) {
    case hdfs::HdfsErrorCode::kUnavailable:
      check.advice =
          "is the NameNode running, is this its web server (dfs.namenode.http-address), "
          "and are DataNodes up and reachable from here?";
      break;
    case hdfs::HdfsErrorCode::kSafeMode:
      check.advice =
          "the NameNode takes no writes: wait until it has found its blocks, or `hdfs "
          "dfsadmin -safemode leave`";
      break;
    case hdfs::HdfsErrorCode::kQuotaExceeded:
      check.advice = fmt::format(
          "make room, or have the quota raised: `hdfs dfs -count -q "
          "/user/{}`",
          facts.user);
      break;
    case hdfs::HdfsErrorCode::kAccessDenied:
      check.advice = fmt::format(
          "an HDFS administrator makes the home directory: `hdfs dfs -mkdir "
          "-p /user/{0}` and `hdfs dfs -chown {0} /user/{0}`",
          facts.user);
      break;
    case hdfs::HdfsErrorCode::kNotFound:
    case hdfs::HdfsErrorCode::kAlreadyExists:
    case hdfs::HdfsErrorCode::kInvalidPath:
    case hdfs::HdfsErrorCode::kLeaseLost:
      check.advice = "check what is at that path: jobs need this directory";
      break;
  }
  return check;
}

Check JudgeClocks(const std::vector<ClockFacts>& clocks) {
  Check check{.subject = "clocks", .state = kNotChecked, .text = "no server has reported its time"};
  Duration worst{};
  for (const ClockFacts& each : clocks) {
    const Duration off = each.ahead < Duration::zero() ? -each.ahead : each.ahead;
    if (check.state != kNotChecked && off <= worst) continue;
    worst = off;
    check.state = off >= kBroken ? kProblem : off >= kSkewed ? kWarning : kOk;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(off).count();
    check.text = check.state == kOk
                     ? "agree with this machine's"
                     : fmt::format("that of {} is {} s {}", each.name, seconds,
                                   each.ahead > Duration::zero() ? "ahead" : "behind");
    check.advice =
        check.state == kOk
            ? ""
            : "let all machines follow one clock (NTP): tokens and certificates are good "
              "for a short time only";
  }
  return check;
}

}  // namespace tfyarn::apps
