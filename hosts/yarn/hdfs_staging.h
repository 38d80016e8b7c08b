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

/// Where the bundle may be in HDFS.
struct RuntimePlaces {
  /// One directory for all users of the cluster, if its administrator has made one; "" = none.
  std::string shared;
  std::string own;      ///< Of this user.
  std::string user;     ///< Who this is.
  std::string scratch;  ///< A directory of this machine for the archive.
};

class HdfsStaging {
 public:
  using ResourceAnswer = std::function<void(Expected<yarn::LocalResource>)>;
  using ContextAnswer = std::function<void(Expected<yarn::ContainerLaunchContext>)>;

  /// `storage` must outlive this.
  explicit HdfsStaging(HdfsStorage& storage) : storage_(storage) {}

  /// The bundle, uploaded when it is not there yet. In the shared place only the files of that
  /// directory's owner are believed, and only that owner uploads: all others use what is there, and
  /// their own place where nothing is. Errors: kUnavailable may pass; any
  /// other does not.
  void ProvideRuntime(const std::string& programs, const RuntimePlaces& places,
                      ResourceAnswer answer);

  /// Where a job's files are, and where they go.
  struct JobPlaces {
    std::string here;     ///< A directory of this machine, for paths that are relative.
    std::string there;    ///< The application's directory in HDFS.
    std::string scratch;  ///< A directory of this machine for archives of directories.
  };
  /// How agents of the job are started, which fetch job.yaml themselves. A directory among its
  /// files goes as an archive, which NodeManagers unpack. Errors: kUnavailable may pass; any other
  /// does not.
  void Stage(const JobSpec& job, const JobPlaces& places, const YarnAddresses& addresses,
             const yarn::LocalResource& runtime, ContextAnswer answer);

 private:
  struct Item {
    std::string name;  ///< In the container.
    std::string local;
    std::string path;
    bool archive = false;
    /// A directory of this machine from which `local` is made, and removed again; "" = it is there.
    std::string packed_from;
  };
  struct Stages;

  /// Answers with what is at `wanted.path`: its size and time.
  void Find(yarn::LocalResource wanted, const ResourceAnswer& answer);
  struct Upload {
    RuntimeBundle bundle;
    yarn::LocalResource wanted;
    std::string scratch;
    bool for_all = false;  ///< Other users may read it.
    ResourceAnswer answer;
  };

  void LookInShared(Upload upload, RuntimePlaces places);
  void ProvideOwn(Upload upload, const RuntimePlaces& places);
  void TryToWrite(std::shared_ptr<const Upload> upload);
  void PackAndUpload(const std::shared_ptr<const Upload>& upload, const std::string& part);
  void GiveUp(const std::shared_ptr<const Upload>& upload, const std::string& part,
              const hdfs::HdfsError& error);
  void RemovePart(const std::string& part, std::function<void()> done);
  void NextItem(const std::shared_ptr<Stages>& stages);
  void UploadItem(const std::shared_ptr<Stages>& stages, const Item& item);

  HdfsStorage& storage_;
  Lifetime lifetime_;
};

}  // namespace tfyarn::hosts
