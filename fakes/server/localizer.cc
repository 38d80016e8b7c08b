#include "fakes/server/localizer.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <system_error>

#include "fakes/server/files.h"

namespace tfyarn::fakes {
namespace {

namespace fs = std::filesystem;

const ApplicationId& ApplicationOf(const LocalizeOrder& order) {
  return order.container.application_attempt.application;
}

// Source: FSDownload.verifyAndCopy.
Expected<void> CheckTime(const yarn::LocalResource& file, std::int64_t changed) {
  if (changed == file.timestamp) return {};
  return Fail(ErrorCode::kFailedPrecondition,
              fmt::format("Resource {} changed on src filesystem - expected: \"{}\", was: \"{}\"",
                          file.path, file.timestamp, changed));
}

std::optional<std::int64_t> TimeOf(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return std::nullopt;
  constexpr std::int64_t kMilli = 1000;
  constexpr std::int64_t kNanosInMilli = 1'000'000;
  return found.st_mtim.tv_sec * kMilli + found.st_mtim.tv_nsec / kNanosInMilli;
}

// Source: FSDownload.unpack: by the name's end.
std::string Unpack(const yarn::LocalResource& file, const std::string& from,
                   const std::string& to) {
  const bool zip = file.path.ends_with(".zip") || file.path.ends_with(".jar");
  return fmt::format("mkdir {1}; {2} {0} {3} {1}\n", Quoted(from), Quoted(to),
                     zip ? "unzip -q" : "tar -xf", zip ? "-d" : "-C");
}

}  // namespace

Localizer::Localizer(boost::asio::io_context& io, fs::path folder, const NameNode* hdfs, Done done)
    : folder_(std::move(folder)),
      hdfs_(hdfs),
      done_(std::move(done)),
      processes_(io, [this](const ContainerId& container, std::int32_t exit_status) {
        Ended(container, exit_status);
      }) {}

void Localizer::Fetch(LocalizeOrder order) {
  if (HasAll(order)) return done_(order.container, LinksOf(order));
  if (IsUnderWay(order)) {
    waiting_.push_back(std::move(order));
    return;
  }
  if (const auto begun = Begin(order); !begun)
    done_(order.container, tl::unexpected<Error>(begun.error()));
}

Expected<void> Localizer::Begin(const LocalizeOrder& order) {
  Fetching fetching{.order = order};
  const auto script = ScriptFor(order, fetching.files);
  if (!script) return tl::unexpected<Error>(script.error());
  const fs::path file = order.log_directory / "fetch.sh";
  WriteFile(file, *script);
  if (auto started = processes_.Start(order.container, file.string(), folder_.string(),
                                      (order.log_directory / "prelaunch.out").string());
      !started)
    return started;
  fetching_.emplace(ApplicationOf(order), std::move(fetching));
  return {};
}

Expected<std::string> Localizer::ScriptFor(const LocalizeOrder& order,
                                           std::map<File, std::string>& files) {
  std::string script = "set -e\nPATH=/usr/bin:/bin\n";
  for (const auto& [name, file] : order.files) {
    const File key = KeyOf(order, file);
    if (there_.count(key) > 0 || files.count(key) > 0) continue;
    const fs::path owned =
        file.shared ? fs::path("usercache") / order.user : fs::path(ToString(ApplicationOf(order)));
    const fs::path place = folder_ / owned / "filecache" / std::to_string(next_++);
    std::error_code ignored;
    fs::create_directories(place, ignored);
    // Source: DefaultContainerExecutor.createUserLocalDirs. Others' files are their application's.
    if (file.shared) fs::permissions(folder_ / owned, fs::perms(0750), ignored);
    const auto from = Source(order, file, place / ".source");
    if (!from) return tl::unexpected<Error>(from.error());
    const std::string to = place / fs::path(file.path).filename();
    script += file.archive ? Unpack(file, *from, to)
                           : fmt::format("cp {0} {1}; chmod 0500 {1}\n", Quoted(*from), Quoted(to));
    script += fmt::format("rm -f {}\n", Quoted((place / ".source").string()));
    files.emplace(key, to);
  }
  return script;
}

Expected<std::string> Localizer::Source(const LocalizeOrder& order, const yarn::LocalResource& file,
                                        const fs::path& scratch) const {
  if (order.local_files) {
    const auto changed = TimeOf(file.path);
    if (!changed)
      return Fail(ErrorCode::kNotFound, fmt::format("File does not exist: {}", file.path));
    if (auto same = CheckTime(file, *changed); !same) return tl::unexpected<Error>(same.error());
    return file.path;
  }
  if (hdfs_ == nullptr) return Fail(ErrorCode::kNotFound, "there is no HDFS here");
  const auto status = hdfs_->StatusFor(order.user, file.path);
  if (!status) return Fail(ErrorCode::kNotFound, status.error().message);
  if (auto same = CheckTime(file, status->modified.time_since_epoch().count()); !same)
    return tl::unexpected<Error>(same.error());
  const auto bytes = hdfs_->ReadFor(order.user, file.path, 0, std::nullopt);
  if (!bytes) return Fail(ErrorCode::kNotFound, bytes.error().message);
  WriteFile(scratch, *bytes);
  return scratch.string();
}

Localizer::File Localizer::KeyOf(const LocalizeOrder& order, const yarn::LocalResource& file) {
  return {file.shared ? Owner(order.user) : Owner(ApplicationOf(order)), file.path, file.timestamp};
}

bool Localizer::HasAll(const LocalizeOrder& order) const {
  return std::all_of(order.files.begin(), order.files.end(), [&](const auto& entry) {
    return there_.count(KeyOf(order, entry.second)) > 0;
  });
}

bool Localizer::IsUnderWay(const LocalizeOrder& order) const {
  return std::any_of(fetching_.begin(), fetching_.end(), [&](const auto& fetching) {
    if (fetching.first == ApplicationOf(order)) return true;
    return std::any_of(order.files.begin(), order.files.end(), [&](const auto& entry) {
      return fetching.second.files.count(KeyOf(order, entry.second)) > 0;
    });
  });
}

LocalLinks Localizer::LinksOf(const LocalizeOrder& order) const {
  LocalLinks links;
  for (const auto& [name, file] : order.files)
    links.emplace_back(name, there_.at(KeyOf(order, file)));
  return links;
}

void Localizer::Ended(const ContainerId& container, std::int32_t exit_status) {
  const ApplicationId application = container.application_attempt.application;
  const auto found = fetching_.find(application);
  if (found == fetching_.end()) return;
  const Fetching fetching = std::move(found->second);
  fetching_.erase(found);
  if (exit_status == 0) {
    there_.insert(fetching.files.begin(), fetching.files.end());
    done_(container, LinksOf(fetching.order));
  } else {
    done_(container,
          Fail(ErrorCode::kUnavailable, Tail(fetching.order.log_directory / "prelaunch.out")));
  }
  Next();
}

void Localizer::Next() {
  // Those that have to go on waiting come back.
  for (LocalizeOrder& order : std::exchange(waiting_, {})) Fetch(std::move(order));
}

void Localizer::Forget(const ContainerId& container) {
  std::erase_if(waiting_, [&](const LocalizeOrder& order) { return order.container == container; });
}

void Localizer::Keep(const std::set<ApplicationId>& applications) {
  std::set<ApplicationId> over;
  for (const auto& entry : there_) {
    const auto* application = std::get_if<ApplicationId>(&std::get<Owner>(entry.first));
    if (application != nullptr && applications.count(*application) == 0 &&
        fetching_.count(*application) == 0)
      over.insert(*application);
  }
  std::error_code ignored;
  for (const ApplicationId& application : over) {
    std::erase_if(there_, [&](const auto& entry) {
      return std::get<Owner>(entry.first) == Owner(application);
    });
    fs::remove_all(folder_ / ToString(application), ignored);
  }
}

}  // namespace tfyarn::fakes
