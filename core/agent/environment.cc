#include "core/agent/environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "core/model/check.h"
#include "core/model/job_secrets.h"

namespace tfyarn::agent {
namespace {

using Environment = std::map<std::string, std::string>;
using Json = nlohmann::ordered_json;

const std::vector<HostPort>& AddressesOf(const ClusterSpec& spec, std::string_view type) {
  static const std::vector<HostPort> kNone;
  const auto entry = spec.tasks.find(std::string(type));
  return entry == spec.tasks.end() ? kNone : entry->second;
}

/// The default-made address (port 0) when it is not in the spec.
HostPort AddressOf(const ClusterSpec& spec, const TaskId& task) {
  const std::vector<HostPort>& addresses = AddressesOf(spec, task.type);
  const auto index = static_cast<std::size_t>(task.index);
  return index < addresses.size() ? addresses[index] : HostPort{};
}

TaskClass ClassOf(const JobSpec& job, std::string_view type) {
  const TaskTypeSpec* spec = job.FindType(type);
  return spec != nullptr && spec->task_class ? *spec->task_class : DefaultClass(type);
}

bool IsTrainingName(std::string_view type) {
  return type == "chief" || type == "master" || type == "worker" || type == "ps";
}

/// Bytes that are not UTF-8 become the replacement character: nothing here may throw.
std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// ---------------------------------------------------------------- all

std::string FullSpecJson(const ClusterSpec& spec) {
  Json json = Json::object();
  for (const auto& [type, addresses] : spec.tasks) {
    Json& list = json[type] = Json::array();
    for (const HostPort& address : addresses) list.push_back(ToString(address));
  }
  return Dump(json);
}

void AddCommon(Environment& out, const JobSpec& job, const TaskId& task, const ProcessRef& process,
               const ClusterSpec& spec, const ApplicationId& application, bool resume) {
  const std::size_t listed = AddressesOf(spec, task.type).size();
  const std::size_t count =
      listed > 0 ? listed : static_cast<std::size_t>(job.FindType(task.type)->instances);
  out["TFYARN_JOB_NAME"] = job.name;
  out["TFYARN_APPLICATION_ID"] = ToString(application);
  out["TFYARN_TASK_TYPE"] = task.type;
  out["TFYARN_TASK_INDEX"] = fmt::format("{}", task.index);
  out["TFYARN_TASK_COUNT"] = fmt::format("{}", count);
  out["TFYARN_EPOCH"] = fmt::format("{}", process.epoch.value);
  out["TFYARN_ATTEMPT"] = fmt::format("{}", process.attempt.value);
  out["TFYARN_RESUME"] = resume ? "1" : "0";
  out["TFYARN_PORT"] = fmt::format("{}", AddressOf(spec, task).port);
  out["TFYARN_CLUSTER_SPEC"] = FullSpecJson(spec);
}

// ---------------------------------------------------------------- tensorflow

/// Whether `type` stands in the TF_CONFIG of a task of type `reader`. A sidecar never does:
/// TensorFlow would wait for a server that never comes. An evaluator (or another drained type)
/// stands only in its own: with it the chief of a parameter-server job hangs without a message.
bool IsInTfCluster(const JobSpec& job, std::string_view type, std::string_view reader) {
  if (type == "tensorboard") return false;
  if (IsTrainingName(type)) return true;
  if (type == "evaluator") return type == reader;
  switch (ClassOf(job, type)) {
    case TaskClass::kTracked:
    case TaskClass::kService:
      return true;
    case TaskClass::kDrained:
      return type == reader;
    case TaskClass::kSidecar:
      return false;
  }
  return false;
}

Json TfAddresses(const std::vector<HostPort>& addresses) {
  const bool complete = std::all_of(addresses.begin(), addresses.end(),
                                    [](const HostPort& address) { return address.port != 0; });
  Json out = complete ? Json::array() : Json::object();
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (complete) {
      out.push_back(ToString(addresses[i]));
    } else if (addresses[i].port != 0) {
      out[fmt::format("{}", i)] = ToString(addresses[i]);
    }
  }
  return out;
}

void AddTensorflow(Environment& out, const JobSpec& job, const TaskId& task,
                   const ClusterSpec& spec) {
  out.try_emplace("TF_GRPC_REUSE_PORT", "true");
  if (!IsInTfCluster(job, task.type, task.type)) return;
  Json cluster = Json::object();
  for (const auto& [type, addresses] : spec.tasks) {
    if (IsInTfCluster(job, type, task.type)) cluster[type] = TfAddresses(addresses);
  }
  Json config;
  config["cluster"] = std::move(cluster);
  config["task"]["type"] = task.type;
  config["task"]["index"] = task.index;
  out["TF_CONFIG"] = Dump(config);
}

// ---------------------------------------------------------------- ranks, for pytorch and horovod

/// The place of one task among all that take part in collectives.
struct Ranks {
  std::int32_t rank = 0;
  std::int32_t size = 0;
  std::int32_t local_rank = 0;  ///< Among those on the same host.
  std::int32_t local_size = 0;
  std::int32_t node_rank = 0;   ///< Of the host, in the order of the lowest rank on it.
  std::int32_t cross_rank = 0;  ///< Of the host among those that have this local rank.
  std::int32_t cross_size = 0;
  HostPort first;  ///< Rank 0's.
};

bool HasRank(const JobSpec& job, std::string_view type) {
  if (type == "ps" || type == "evaluator" || type == "tensorboard") return false;
  if (job.framework == Framework::kHorovod && type == "driver") return false;
  return ClassOf(job, type) == TaskClass::kTracked;
}

int RankGroup(std::string_view type) {
  if (type == "chief" || type == "master") return 0;
  return type == "worker" ? 1 : 2;
}

/// Horovod numbers ranks host by host (its hierarchical operations compute with that);
/// torch.distributed takes any order, and its users expect the rank of a worker to follow its
/// index.
void GroupByHost(std::vector<TaskId>& order, const ClusterSpec& spec) {
  std::map<std::string, std::size_t> place;
  for (const TaskId& task : order) place.try_emplace(AddressOf(spec, task).host, place.size());
  std::stable_sort(order.begin(), order.end(), [&](const TaskId& a, const TaskId& b) {
    return place.at(AddressOf(spec, a).host) < place.at(AddressOf(spec, b).host);
  });
}

std::vector<TaskId> TasksByRank(const JobSpec& job, const ClusterSpec& spec) {
  std::vector<TaskId> order;
  for (const auto& [type, addresses] : spec.tasks) {
    if (!HasRank(job, type)) continue;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      order.push_back({.type = type, .index = static_cast<std::int32_t>(i)});
    }
  }
  std::stable_sort(order.begin(), order.end(), [](const TaskId& a, const TaskId& b) {
    return RankGroup(a.type) < RankGroup(b.type);
  });
  if (job.framework == Framework::kHorovod) GroupByHost(order, spec);
  return order;
}

std::optional<Ranks> RanksOf(const JobSpec& job, const TaskId& task, const ClusterSpec& spec) {
  const std::vector<TaskId> order = TasksByRank(job, spec);
  const auto self = std::find(order.begin(), order.end(), task);
  if (self == order.end()) return std::nullopt;
  Ranks ranks;
  ranks.rank = static_cast<std::int32_t>(self - order.begin());
  ranks.size = static_cast<std::int32_t>(order.size());
  ranks.first = AddressOf(spec, order.front());
  const std::string own_host = AddressOf(spec, task).host;
  std::vector<std::pair<std::string, std::int32_t>>
      hosts;  // With how many ranks, in order of the lowest rank.
  for (const TaskId& other : order) {
    const std::string host = AddressOf(spec, other).host;
    auto entry =
        std::find_if(hosts.begin(), hosts.end(), [&](const auto& h) { return h.first == host; });
    if (entry == hosts.end()) entry = hosts.insert(hosts.end(), {host, 0});
    if (other == task) ranks.local_rank = entry->second;
    ++entry->second;
  }
  bool before_own = true;
  for (const auto& [host, count] : hosts) {
    if (host == own_host) {
      ranks.local_size = count;
      before_own = false;
    }
    if (before_own) ++ranks.node_rank;
    if (count <= ranks.local_rank) continue;
    ++ranks.cross_size;
    if (before_own) ++ranks.cross_rank;
  }
  return ranks;
}

void AddPytorch(Environment& out, const JobSpec& job, const TaskId& task, const ClusterSpec& spec) {
  const std::optional<Ranks> ranks = RanksOf(job, task, spec);
  if (!ranks) return;
  out["MASTER_ADDR"] = ranks->first.host;
  out["MASTER_PORT"] = fmt::format("{}", ranks->first.port);
  out["RANK"] = fmt::format("{}", ranks->rank);
  out["WORLD_SIZE"] = fmt::format("{}", ranks->size);
  out["LOCAL_RANK"] = fmt::format("{}", ranks->local_rank);
  out["LOCAL_WORLD_SIZE"] = fmt::format("{}", ranks->local_size);
  out["NODE_RANK"] = fmt::format("{}", ranks->node_rank);
}

void AddHorovod(Environment& out, const JobSpec& job, const TaskId& task, const ClusterSpec& spec) {
  const std::vector<TaskId> order = TasksByRank(job, spec);
  const std::vector<HostPort>& drivers = AddressesOf(spec, "driver");
  const bool is_driver = task.type == "driver";
  const std::optional<Ranks> ranks = RanksOf(job, task, spec);
  if (!ranks && !is_driver) return;
  HostPort rendezvous;
  if (!drivers.empty()) {
    rendezvous = drivers.front();
  } else if (!order.empty()) {
    rendezvous = AddressOf(spec, order.front());
  }
  out["HOROVOD_CONTROLLER"] = "gloo";
  out["HOROVOD_CPU_OPERATIONS"] = "gloo";
  out["HOROVOD_GLOO_RENDEZVOUS_ADDR"] = rendezvous.host;
  out["HOROVOD_GLOO_RENDEZVOUS_PORT"] = fmt::format("{}", rendezvous.port);
  out["HOROVOD_HOSTNAME"] = AddressOf(spec, task).host;
  out["HOROVOD_SIZE"] = fmt::format("{}", order.size());
  if (!ranks) return;
  out["HOROVOD_RANK"] = fmt::format("{}", ranks->rank);
  out["HOROVOD_LOCAL_RANK"] = fmt::format("{}", ranks->local_rank);
  out["HOROVOD_LOCAL_SIZE"] = fmt::format("{}", ranks->local_size);
  out["HOROVOD_CROSS_RANK"] = fmt::format("{}", ranks->cross_rank);
  out["HOROVOD_CROSS_SIZE"] = fmt::format("{}", ranks->cross_size);
}

// ---------------------------------------------------------------- compat tony

/// TonY calls the task type JOB_NAME and counts the tracked tasks; FCFS is its name for a start
/// without a gang.
void AddTony(Environment& out, const JobSpec& job, const TaskId& task, const ClusterSpec& spec) {
  std::int32_t tracked = 0;
  for (const TaskTypeSpec& type : job.tasks) {
    if (ClassOf(job, type.name) == TaskClass::kTracked) tracked += type.instances;
  }
  out["JOB_NAME"] = task.type;
  out["TASK_INDEX"] = fmt::format("{}", task.index);
  out["TASK_NUM"] = fmt::format("{}", tracked);
  out["CLUSTER_SPEC"] = FullSpecJson(spec);
  out["DISTRIBUTED_MODE"] = job.gang.policy == GangPolicy::kNone ? "FCFS" : "GANG";
  // The one port that a task leases is the training's, so TensorBoard has one only as a task of its
  // own.
  if (task.type == "tensorboard") out["TB_PORT"] = fmt::format("{}", AddressOf(spec, task).port);
}

// ---------------------------------------------------------------- command line

/// TensorBoard for a task that names only what it shows. A relative directory is one below the
/// directory that all tasks see, where the host has such a one; only a shell can tell.
std::vector<std::string> TensorboardCommand(const TaskTypeSpec& type, const HostPort& address) {
  constexpr const char* kLine =
      "cd \"${TFYARN_SHARED_DIRECTORY:-.}\" && exec tensorboard --logdir \"$1\" --host \"$2\" "
      "--port \"$3\"";
  return {"/bin/sh",
          "-c",
          kLine,
          "tensorboard",
          type.logdir,
          address.host.empty() ? "localhost" : address.host,
          fmt::format("{}", address.port)};
}

std::string Hosts(const ClusterSpec& spec, std::string_view type) {
  std::string out;
  for (const HostPort& address : AddressesOf(spec, type)) {
    if (!out.empty()) out += ',';
    out += ToString(address);
  }
  return out;
}

/// What stands for {name}; nullopt when it is not one of ours.
std::optional<std::string> ValueOf(std::string_view name, const TaskId& task,
                                   const ClusterSpec& spec) {
  constexpr std::string_view kHosts = "_hosts";
  if (name == "task_type") return task.type;
  if (name == "task_index") return fmt::format("{}", task.index);
  if (name == "port") return fmt::format("{}", AddressOf(spec, task).port);
  if (name.size() <= kHosts.size() || name.substr(name.size() - kHosts.size()) != kHosts)
    return std::nullopt;
  const std::string_view type = name.substr(0, name.size() - kHosts.size());
  const bool always = type == "ps" || type == "worker";
  if (!always && spec.tasks.count(std::string(type)) == 0) return std::nullopt;
  return Hosts(spec, type);
}

std::string FillIn(std::string_view text, const TaskId& task, const ClusterSpec& spec) {
  std::string out;
  while (true) {
    const std::size_t open = text.find('{');
    const std::size_t close = open == text.npos ? text.npos : text.find_first_of("{}", open + 1);
    if (close == text.npos) return out.append(text);
    std::optional<std::string> value;
    if (text[close] == '}') value = ValueOf(text.substr(open + 1, close - open - 1), task, spec);
    if (value) {
      out.append(text.substr(0, open)).append(*value);
      text.remove_prefix(close + 1);
    } else {
      out.append(text.substr(0, close));  // A second '{' may begin a name of ours.
      text.remove_prefix(close);
      if (!text.empty() && text[0] == '}') {
        out += '}';
        text.remove_prefix(1);
      }
    }
  }
}

}  // namespace

std::map<std::string, std::string> RenderEnvironment(const JobSpec& job, const TaskId& task,
                                                     const ProcessRef& process,
                                                     const ClusterSpec& spec,
                                                     const ApplicationId& application,
                                                     bool resume) {
  const TaskTypeSpec* type = job.FindType(task.type);
  TF_CHECK(type != nullptr);
  Environment out = type->env;
  out.insert(job.env.begin(), job.env.end());  // What the task type sets stays.
  for (const auto& [name, source] : job.secrets) out[name] = std::string(kSecretStars);
  AddCommon(out, job, task, process, spec, application, resume);
  switch (job.framework) {
    case Framework::kTensorflow:
      AddTensorflow(out, job, task, spec);
      break;
    case Framework::kPytorch:
      AddPytorch(out, job, task, spec);
      break;
    case Framework::kHorovod:
      AddHorovod(out, job, task, spec);
      break;
    case Framework::kGeneric:
      break;
  }
  if (job.compat_tony) AddTony(out, job, task, spec);
  return out;
}

bool ShouldListen(const JobSpec& job, const TaskId& task, const ClusterSpec& spec) {
  if (AddressOf(spec, task).port == 0) return false;
  switch (job.framework) {
    case Framework::kTensorflow: {
      const TaskClass task_class = ClassOf(job, task.type);
      const bool trains = task.type != "evaluator" && IsInTfCluster(job, task.type, task.type) &&
                          (task_class == TaskClass::kTracked || task_class == TaskClass::kService);
      if (!trains || job.strategy == Strategy::kIndependent) return false;
      std::size_t members = 0;
      for (const auto& [type, addresses] : spec.tasks) {
        if (IsInTfCluster(job, type, task.type)) members += addresses.size();
      }
      return members > 1;
    }
    case Framework::kPytorch: {
      const std::optional<Ranks> ranks = RanksOf(job, task, spec);
      return ranks && ranks->rank == 0 && ranks->size > 1;
    }
    case Framework::kHorovod:
      return task.type == "driver";
    case Framework::kGeneric:
      return false;
  }
  return false;
}

std::string PythonDirectory(const JobSpec& job, std::string_view task_type) {
  auto named = job.python_archives.find(std::string(task_type));
  if (named == job.python_archives.end()) named = job.python_archives.find("");
  if (named == job.python_archives.end()) return "";
  for (const ArchiveSpec& archive : job.archives) {
    if (archive.path == named->second) return archive.as;
  }
  return "";
}

std::vector<std::string> RenderCommand(const JobSpec& job, const TaskId& task,
                                       const ClusterSpec& spec) {
  const TaskTypeSpec* type = job.FindType(task.type);
  TF_CHECK(type != nullptr);
  if (type->command.empty() && type->shell.empty() && !type->logdir.empty())
    return TensorboardCommand(*type, AddressOf(spec, task));
  std::vector<std::string> argv = type->command;
  if (argv.empty() && !type->shell.empty()) argv = {"/bin/sh", "-c", type->shell};
  for (std::string& argument : argv) argument = FillIn(argument, task, spec);
  return argv;
}

}  // namespace tfyarn::agent
