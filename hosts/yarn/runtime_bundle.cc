#include "hosts/yarn/runtime_bundle.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <system_error>

#include "hosts/yarn/archive_writer.h"

namespace tfyarn::hosts {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLoader = "ld-linux-x86-64.so.2";
constexpr const char* kSaslMechanism = "libdigestmd5.so";
constexpr std::size_t kPiece = std::size_t{1} << 16;

struct ClosePipe {
  void operator()(std::FILE* pipe) const { pclose(pipe); }
};

/// SIGINT and SIGTERM wait while it lives, in the calling thread and in what it starts meanwhile.
class InterruptsWait {
 public:
  InterruptsWait() {
    sigset_t waiting;
    sigemptyset(&waiting);
    sigaddset(&waiting, SIGINT);
    sigaddset(&waiting, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &waiting, &before_);
  }
  ~InterruptsWait() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  InterruptsWait(const InterruptsWait&) = delete;
  InterruptsWait& operator=(const InterruptsWait&) = delete;

 private:
  sigset_t before_{};
};

std::string ShellQuoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// "\tlibz.so.1 => /lib/libz.so.1 (0x7f...)" and "\t/lib64/ld-linux-x86-64.so.2 (0x7f...)".
void TakeLibrary(std::string line, std::map<std::string, std::string>& libraries) {
  const auto slash = line.find('/');
  if (slash == std::string::npos) return;
  const std::string path = line.substr(slash, line.find(" (", slash) - slash);
  libraries[fs::path(path).filename()] = path;
}

/// What the loader would load for it. Source: ld.so(8), LD_TRACE_LOADED_OBJECTS.
Expected<void> AddLibrariesOf(const std::string& object,
                              std::map<std::string, std::string>& libraries) {
  const std::string loader = std::string("/lib64/") + kLoader;
  // A Ctrl-C would end the loader as well, or cut short what is read of it: a bundle that lacks a
  // library. It takes milliseconds.
  const InterruptsWait interrupts_wait;
  const std::unique_ptr<std::FILE, ClosePipe> pipe(
      popen((loader + " --list " + ShellQuoted(object)).c_str(), "re"));
  if (pipe == nullptr)
    return Fail(ErrorCode::kUnavailable,
                fmt::format("{} cannot be started: {}", loader, std::strerror(errno)));
  std::array<char, 4096> line{};
  bool any = false;
  while (std::fgets(line.data(), line.size(), pipe.get()) != nullptr) {
    TakeLibrary(line.data(), libraries);
    any = true;
  }
  if (any) return {};
  return Fail(ErrorCode::kNotFound, fmt::format("{} does not know what {} needs", loader, object));
}

/// Of what is installed here: beside the other libraries.
Expected<std::string> SaslMechanism(const std::map<std::string, std::string>& libraries) {
  for (const auto& [name, path] : libraries) {
    if (!name.starts_with("libsasl2.so")) continue;
    std::error_code failed;
    const fs::path real = fs::canonical(path, failed);
    const fs::path mechanism = real.parent_path() / "sasl2" / kSaslMechanism;
    if (fs::exists(mechanism, failed)) return mechanism.string();
    return Fail(ErrorCode::kNotFound,
                fmt::format("{} is not there: install libsasl2-modules, which an AM needs to "
                            "authenticate itself to YARN",
                            mechanism.string()));
  }
  return std::string();
}

Expected<void> HashFile(XXH3_state_t* hash, const BundledFile& file) {
  std::ifstream in(file.path, std::ios::binary);
  std::array<char, kPiece> piece{};
  XXH3_128bits_update(hash, file.name.data(), file.name.size());
  while (in.read(piece.data(), piece.size()) || in.gcount() > 0)
    XXH3_128bits_update(hash, piece.data(), static_cast<std::size_t>(in.gcount()));
  if (in.eof()) return {};
  return Fail(ErrorCode::kNotFound,
              fmt::format("{} cannot be read: {}", file.path, std::strerror(errno)));
}

Expected<std::string> NameOf(const std::vector<BundledFile>& files) {
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> hash(XXH3_createState(),
                                                                             XXH3_freeState);
  XXH3_128bits_reset(hash.get());
  for (const BundledFile& file : files) {
    if (auto hashed = HashFile(hash.get(), file); !hashed)
      return tl::unexpected<Error>(hashed.error());
  }
  const XXH128_hash_t digest = XXH3_128bits_digest(hash.get());
  return fmt::format("tfyarn-runtime-{:016x}{:016x}.tar.gz", digest.high64, digest.low64);
}

}  // namespace

Expected<RuntimeBundle> FindRuntime(const std::string& programs) {
  std::map<std::string, std::string> libraries;
  for (const char* program : {"tfyarn-am", "tfyarn-agent"}) {
    if (auto added = AddLibrariesOf(programs + "/" + program, libraries); !added)
      return tl::unexpected<Error>(added.error());
  }
  const auto mechanism = SaslMechanism(libraries);
  if (!mechanism) return tl::unexpected<Error>(mechanism.error());
  if (!mechanism->empty()) {
    if (auto added = AddLibrariesOf(*mechanism, libraries); !added)
      return tl::unexpected<Error>(added.error());
  }
  RuntimeBundle bundle;
  for (const char* program : {"tfyarn-agent", "tfyarn-am"})
    bundle.files.push_back(
        {.name = std::string("bin/") + program, .path = programs + "/" + program});
  for (const auto& [name, path] : libraries)
    bundle.files.push_back({.name = "lib/" + name, .path = path});
  if (!mechanism->empty())
    bundle.files.push_back(
        {.name = std::string("lib/sasl2/") + kSaslMechanism, .path = *mechanism});
  auto name = NameOf(bundle.files);
  if (!name) return tl::unexpected<Error>(name.error());
  bundle.name = std::move(*name);
  return bundle;
}

Expected<void> WriteBundle(const RuntimeBundle& bundle, const std::string& path) {
  auto writer = ArchiveWriter::Create(path);
  if (!writer) return tl::unexpected<Error>(writer.error());
  for (const BundledFile& file : bundle.files) {
    if (auto added = writer->AddFile(file.name, file.path, 0755); !added) return added;
  }
  return writer->Close();
}

std::vector<std::string> BundledCommand(const std::string& program) {
  const std::string lib = std::string(kRuntimeDirectory) + "/lib";
  return {lib + "/" + kLoader, "--library-path", lib,
          fmt::format("{}/bin/{}", kRuntimeDirectory, program)};
}

std::string BundledSaslPath() {
  return std::string(kRuntimeDirectory) + "/lib/sasl2";
}

}  // namespace tfyarn::hosts
