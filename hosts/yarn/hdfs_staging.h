// What a job brings with it, put where NodeManagers find it: the runtime bundle, once for all jobs
// of a user, and the job's own files, beside its journal.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/model/error.h"
#include "core/model/job_spec.h"
#include "core/model/yarn.h"
#include "hosts/runtime/lifetime.h"
#include "hosts/yarn/hdfs_storage.h"
#include "hosts/yarn/runtime_bundle.h"
#include "hosts/yarn/yarn_environment.h"

namespace tfyarn::hosts {

/// What every agent of the job is started with, but for its files. A job with an image asks for
/// YARN's docker runtime: NodeManagers that allow it start the whole container in the image, which
/// needs nothing of ours. Source: hadoop-yarn-site/DockerContainers.html.
[[nodiscard]] yarn::ContainerLaunchContext AgentContext(const JobSpec& job,
                                                        const YarnAddresses& addresses,
                                                        const yarn::LocalResource& runtime);

class HdfsStaging {
 public:
  using ResourceAnswer = std::function<void(Expected<yarn::LocalResource>)>;
  using ContextAnswer = std::function<void(Expected<yarn::ContainerLaunchContext>)>;

  /// `storage` must outlive this.
  explicit HdfsStaging(HdfsStorage& storage) : storage_(storage) {}

  /// The bundle in `directory`, uploaded when it is not there yet. `scratch`: a directory of this
  /// machine for the archive. Errors: those of FindRuntime and of HDFS.
  void ProvideRuntime(const std::string& programs, const std::string& directory,
                      const std::string& scratch, ResourceAnswer answer);

  /// How agents of the job are started, which fetch job.yaml themselves. Its files and archives are
  /// looked for in `here`. Errors: kUnavailable may pass; any other does not.
  void Stage(const JobSpec& job, const std::string& here, const std::string& application_directory,
             const YarnAddresses& addresses, const yarn::LocalResource& runtime,
             ContextAnswer answer);

 private:
  struct Item {
    std::string name;  ///< In the container.
    std::string local;
    std::string path;
    bool archive = false;
  };
  struct Stages;

  /// Answers with what is at `wanted.path`: its size and time.
  void Find(yarn::LocalResource wanted, const ResourceAnswer& answer);
  void UploadRuntime(const RuntimeBundle& bundle, const yarn::LocalResource& wanted,
                     const std::string& scratch, const ResourceAnswer& answer);
  void NextItem(const std::shared_ptr<Stages>& stages);

  HdfsStorage& storage_;
  Lifetime lifetime_;
};

}  // namespace tfyarn::hosts
