#include "hosts/yarn/hdfs_staging.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>
#include <variant>

#include "core/model/work_directory.h"
#include "hosts/runtime/staging.h"
#include "hosts/yarn/archive_writer.h"

namespace tfyarn::hosts {
namespace {

namespace fs = std::filesystem;

/// A user waits for a submission: unlike a running job it does not wait for room.
Error ToError(const hdfs::HdfsError& error) {
  const bool full = error.code == hdfs::HdfsErrorCode::kQuotaExceeded;
  const auto code = error.code == hdfs::HdfsErrorCode::kNotFound ? ErrorCode::kNotFound
                    : MayPass(error.code) && !full               ? ErrorCode::kUnavailable
                                                                 : ErrorCode::kFailedPrecondition;
  return {.code = code, .message = error.message};
}

/// What is wrong here does not pass.
Error OfThisMachine(Error error) {
  error.code = ErrorCode::kFailedPrecondition;
  return error;
}

}  // namespace

/// Items, one after the other.
struct HdfsStaging::Stages {
  std::vector<Item> items;
  std::size_t next = 0;
  yarn::ContainerLaunchContext context;
  ContextAnswer answer;
};

void HdfsStaging::Find(yarn::LocalResource wanted, const ResourceAnswer& answer) {
  hdfs::GetFileStatusRequest request{.path = wanted.path};
  storage_.Call(std::move(request),
                lifetime_.Guard([answer, wanted = std::move(wanted)](
                                    const hdfs::HdfsResponse& response) mutable {
                  if (const auto* error = std::get_if<hdfs::HdfsError>(&response))
                    return answer(tl::unexpected<Error>(ToError(*error)));
                  const auto& status = std::get<hdfs::FileStatus>(response);
                  wanted.size = status.size;
                  wanted.timestamp = status.modification_time;
                  answer(std::move(wanted));
                }));
}

// ---------------------------------------------------------------- the runtime

void HdfsStaging::ProvideRuntime(const std::string& programs, const RuntimePlaces& places,
                                 ResourceAnswer answer) {
  auto bundle = FindRuntime(programs);
  if (!bundle) return answer(tl::unexpected<Error>(OfThisMachine(bundle.error())));
  Upload upload{.bundle = std::move(*bundle),
                .wanted = {},
                .scratch = places.scratch,
                .answer = std::move(answer)};
  if (places.shared.empty()) return ProvideOwn(std::move(upload), places);
  LookInShared(std::move(upload), places);
}

namespace {

// A node unpacks it for the first of its user's applications, which takes a second; its name says
// what is in it.
yarn::LocalResource BundleIn(const std::string& directory, const RuntimeBundle& bundle) {
  return {.path = directory + "/" + bundle.name, .archive = true, .shared = true};
}

}  // namespace

void HdfsStaging::LookInShared(Upload upload, RuntimePlaces places) {
  using Found = tl::expected<wire::WebHdfsFile, hdfs::HdfsError>;
  const std::string directory = places.shared;
  storage_.client().Status(directory, lifetime_.Guard([this, upload = std::move(upload),
                                                       places](const Found& place) mutable {
    if (!place || !place->status.directory) return ProvideOwn(std::move(upload), places);
    const std::string owner = place->owner;
    upload.wanted = BundleIn(places.shared, upload.bundle);
    upload.for_all = true;
    const std::string path = upload.wanted.path;
    storage_.client().Status(path, lifetime_.Guard([this, upload = std::move(upload), places,
                                                    owner](const Found& file) mutable {
      if (file && (file->owner == owner || file->owner == places.user)) {
        upload.wanted.size = file->status.size;
        upload.wanted.timestamp = file->status.modification_time;
        return upload.answer(std::move(upload.wanted));
      }
      const bool absent = !file && file.error().code == hdfs::HdfsErrorCode::kNotFound;
      if (!absent || owner != places.user) return ProvideOwn(std::move(upload), places);
      TryToWrite(std::make_shared<const Upload>(std::move(upload)));
    }));
  }));
}

void HdfsStaging::ProvideOwn(Upload upload, const RuntimePlaces& places) {
  upload.wanted = BundleIn(places.own, upload.bundle);
  upload.for_all = false;
  const yarn::LocalResource wanted = upload.wanted;
  Find(wanted, [this, upload = std::move(upload)](Expected<yarn::LocalResource> found) {
    if (found || found.error().code != ErrorCode::kNotFound) return upload.answer(std::move(found));
    TryToWrite(std::make_shared<const Upload>(upload));
  });
}

/// Packing takes seconds of a processor: a byte goes first, which needs all that the whole needs, a
/// right, room for a block and a DataNode.
void HdfsStaging::TryToWrite(std::shared_ptr<const Upload> upload) {
  // Under another name: who finds it finds all of it.
  const std::string part = fmt::format("{}.{}.part", upload->wanted.path, ::getpid());
  storage_.Call(
      hdfs::AppendRequest{.path = part, .bytes = "\n", .writer = {}},
      lifetime_.Guard([this, upload = std::move(upload), part](const hdfs::HdfsResponse& response) {
        if (const auto* error = std::get_if<hdfs::HdfsError>(&response))
          return GiveUp(upload, part, *error);
        // A client that is interrupted while it packs leaves nothing behind.
        storage_.Call(hdfs::DeleteRequest{.path = part},
                      lifetime_.Guard([this, upload, part](const hdfs::HdfsResponse& deleted) {
                        if (const auto* error = std::get_if<hdfs::HdfsError>(&deleted))
                          return upload->answer(tl::unexpected<Error>(ToError(*error)));
                        PackAndUpload(upload, part);
                      }));
      }));
}

/// HDFS has a file from its creation on, also one for which there is no room for a byte.
void HdfsStaging::GiveUp(const std::shared_ptr<const Upload>& upload, const std::string& part,
                         const hdfs::HdfsError& error) {
  RemovePart(part, [upload, error] { upload->answer(tl::unexpected<Error>(ToError(error))); });
}

/// `done` comes also when HDFS does not remove it: then it stays, and does no harm.
void HdfsStaging::RemovePart(const std::string& part, std::function<void()> done) {
  storage_.Call(hdfs::DeleteRequest{.path = part},
                lifetime_.Guard([done = std::move(done)](const hdfs::HdfsResponse&) { done(); }));
}

void HdfsStaging::PackAndUpload(const std::shared_ptr<const Upload>& upload,
                                const std::string& part) {
  const std::string local =
      fmt::format("{}/{}.{}", upload->scratch, upload->bundle.name, ::getpid());
  std::error_code ignored;
  if (auto written = WriteBundle(upload->bundle, local); !written) {
    fs::remove(local, ignored);
    return upload->answer(tl::unexpected<Error>(OfThisMachine(written.error())));
  }
  storage_.client().Upload(
      local, part, true,
      lifetime_.Guard([this, local, part, upload](const hdfs::HdfsResponse& response) {
        std::error_code failed;
        fs::remove(local, failed);
        if (const auto* error = std::get_if<hdfs::HdfsError>(&response))
          return GiveUp(upload, part, *error);
        storage_.client().Rename(
            part, upload->wanted.path,
            lifetime_.Guard([this, part, upload](tl::expected<bool, hdfs::HdfsError> done) {
              if (!done) return GiveUp(upload, part, done.error());
              if (*done) return Find(upload->wanted, upload->answer);
              // Another client was quicker, and the names say that both files are the same.
              RemovePart(part, [this, upload] { Find(upload->wanted, upload->answer); });
            }));
      }),
      upload->for_all ? wire::WebHdfsClient::Readers::kAll
                      : wire::WebHdfsClient::Readers::kAsUmaskSays);
}

// ---------------------------------------------------------------- the job

yarn::ContainerLaunchContext AgentContext(const JobSpec& job, const YarnAddresses& addresses,
                                          const yarn::LocalResource& runtime) {
  yarn::ContainerLaunchContext context;
  context.command = BundledCommand("tfyarn-agent");
  context.environment = ToEnvironment(addresses);
  context.local_resources[kRuntimeDirectory] = runtime;
  if (!job.container_image.empty()) {
    context.environment["YARN_CONTAINER_RUNTIME_TYPE"] = "docker";
    context.environment["YARN_CONTAINER_RUNTIME_DOCKER_IMAGE"] = job.container_image;
  }
  return context;
}

void HdfsStaging::Stage(const JobSpec& job, const JobPlaces& places, const YarnAddresses& addresses,
                        const yarn::LocalResource& runtime, ContextAnswer answer) {
  const auto stages = std::make_shared<Stages>();
  stages->answer = std::move(answer);
  stages->context = AgentContext(job, addresses, runtime);
  for (const std::string& file : job.files) {
    const std::string name = NameInWorkDirectory(file);
    const std::string local = fs::path(places.here) / file;
    const std::string path = places.there + "/files/" + name;
    std::error_code failed;
    if (!fs::is_directory(local, failed)) {
      stages->items.push_back({.name = name, .local = local, .path = path});
      continue;
    }
    // Its suffix says to NodeManagers what it is.
    stages->items.push_back({.name = name,
                             .local = fmt::format("{}/tfyarn-files-{}.{}.tar.gz", places.scratch,
                                                  stages->items.size(), ::getpid()),
                             .path = path + ".tar.gz",
                             .archive = true,
                             .packed_from = local});
  }
  for (const ArchiveSpec& archive : job.archives) {
    // Beside its own name, which says to NodeManagers what it is, that of its directory: two may
    // have the same.
    const std::string name = NameInWorkDirectory(archive.path);
    stages->items.push_back(
        {.name = archive.as,
         .local = fs::path(places.here) / archive.path,
         .path = fmt::format("{}/archives/{}/{}", places.there, archive.as, name),
         .archive = true});
  }
  NextItem(stages);
}

void HdfsStaging::NextItem(const std::shared_ptr<Stages>& stages) {
  if (stages->next == stages->items.size()) return stages->answer(std::move(stages->context));
  const Item& item = stages->items[stages->next++];
  if (item.packed_from.empty()) return UploadItem(stages, item);
  if (auto packed = PackDirectory(item.packed_from, item.local); !packed) {
    std::error_code ignored;
    fs::remove(item.local, ignored);
    return stages->answer(tl::unexpected<Error>(OfThisMachine(packed.error())));
  }
  UploadItem(stages, item);
}

void HdfsStaging::UploadItem(const std::shared_ptr<Stages>& stages, const Item& item) {
  const ResourceAnswer took = [this, stages, &item](Expected<yarn::LocalResource> found) {
    if (!found) return stages->answer(tl::unexpected<Error>(found.error()));
    stages->context.local_resources[item.name] = std::move(*found);
    NextItem(stages);
  };
  storage_.client().Upload(
      item.local, item.path, true,
      lifetime_.Guard([this, stages, &item, took](const hdfs::HdfsResponse& response) {
        std::error_code ignored;
        if (!item.packed_from.empty()) fs::remove(item.local, ignored);
        if (const auto* error = std::get_if<hdfs::HdfsError>(&response)) {
          Error failed = ToError(*error);
          failed.message = fmt::format("{}: {}", item.name, failed.message);
          return stages->answer(tl::unexpected<Error>(std::move(failed)));
        }
        Find({.path = item.path, .archive = item.archive}, took);
      }));
}

}  // namespace tfyarn::hosts
