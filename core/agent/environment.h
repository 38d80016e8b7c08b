// What a task's process finds in its environment and on its command line: pure functions of the job
// and the cluster spec.
//
// One writer per framework, each after what that framework reads. Nothing here starts a process,
// and nothing about the machine (PATH, CUDA devices, work directory) is known here: a host merges
// this over its own environment. The simulator does not call it, as a rendered spec of a thousand
// tasks is megabytes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/channel.h"
#include "core/model/cluster_spec.h"
#include "core/model/ids.h"
#include "core/model/job_spec.h"

namespace tfyarn::agent {

/// The variables for one process of `task`, which must be a task type of the job.
///
/// The job's `env`, over it the task type's `env`, over both its `secrets`, with stars for values
/// (job_secrets.h), over all what this file writes; only TF_GRPC_REUSE_PORT gives way to the user's
/// value. Lists of addresses follow the task index; an
/// address that is not known yet (port 0) is left out of TF_CONFIG, which then uses TensorFlow's
/// sparse form for that task type.
///
/// all: TFYARN_JOB_NAME, _APPLICATION_ID, _TASK_TYPE, _TASK_INDEX, _TASK_COUNT (tasks of that
/// type), _EPOCH, _ATTEMPT, _RESUME (1 or 0), _PORT, _CLUSTER_SPEC (JSON of every task that
/// listens). tensorflow: TF_CONFIG; TF_GRPC_REUSE_PORT, so that TensorFlow may bind the port that
/// the agent still holds. pytorch: MASTER_ADDR, MASTER_PORT, RANK, WORLD_SIZE, LOCAL_RANK,
/// LOCAL_WORLD_SIZE, NODE_RANK. horovod: HOROVOD_* for Gloo; the rendezvous is task `driver:0` if
/// there is one, else rank 0. Ranks go to chief or master, then workers, then other tracked types
/// by name; tasks without a rank get none of those. compat tony: JOB_NAME, TASK_INDEX, TASK_NUM,
/// CLUSTER_SPEC, DISTRIBUTED_MODE, and TB_PORT for tensorboard. Source: TF_CONFIG as
/// TFConfigClusterResolver reads it; torch.distributed env:// and torchrun; horovod's gloo_run.py;
/// TonY's TFRuntime and Utils.constructTFConfig.
[[nodiscard]] std::map<std::string, std::string> RenderEnvironment(
    const JobSpec& job, const TaskId& task, const ProcessRef& process, const ClusterSpec& spec,
    const ApplicationId& application, bool resume);

/// Whether the job's framework makes a process of `task` listen at its address in `spec`.
/// tensorflow: who stands in the cluster of its own TF_CONFIG together with others, but for the
/// types that do not train, and under strategy independent no task, as no peer connects. pytorch:
/// rank 0, where it has peers. horovod: the driver.
[[nodiscard]] bool ShouldListen(const JobSpec& job, const TaskId& task, const ClusterSpec& spec);

/// Name in the work directory of the unpacked environment whose bin/ comes first in the PATH of
/// tasks of that type; "" = the machine's own Python.
[[nodiscard]] std::string PythonDirectory(const JobSpec& job, std::string_view task_type);

/// The task's argv with {ps_hosts} {worker_hosts} {task_type} {task_index} {port} filled in, and
/// {TYPE_hosts} for every other type of the spec; anything else in braces stays as it is. What was
/// filled in is not looked at again. A `shell` command becomes /bin/sh -c COMMAND; a `logdir`
/// without a command becomes TensorBoard at the task's address. `task` must be a task type of the
/// job.
[[nodiscard]] std::vector<std::string> RenderCommand(const JobSpec& job, const TaskId& task,
                                                     const ClusterSpec& spec);

}  // namespace tfyarn::agent
