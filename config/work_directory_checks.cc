// What a job puts into the work directory of its tasks: one source for each name, and no name that
// tfyarn or YARN needs there. Found while the file is read, so that it holds for every host.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "config/job_table.h"
#include "core/model/work_directory.h"

namespace tfyarn::config {
namespace {

/// A name in the work directory and what needs it.
struct Claim {
  std::string field;
  std::string source;
  std::vector<std::string> parts;  ///< Of the name; empty: it is none.
  const Node* node = nullptr;
};

std::string NameOf(const Claim& claim) {
  return fmt::format("{}", fmt::join(claim.parts, "/"));
}

void ClaimFiles(const Node& node, const JobSpec& job, std::vector<Claim>& claims) {
  const Node& files = node.Nearest("files");
  for (std::size_t i = 0; i < job.files.size(); ++i) {
    claims.push_back({.field = "files",
                      .source = job.files[i],
                      .parts = PartsOf(NameInWorkDirectory(job.files[i])),
                      .node = &ItemOf(files, i)});
  }
}

void ClaimArchives(const Node& node, const JobSpec& job, std::vector<Claim>& claims) {
  const Node& archives = node.Nearest("archives");
  for (std::size_t i = 0; i < job.archives.size(); ++i) {
    claims.push_back({.field = "archives",
                      .source = job.archives[i].path,
                      .parts = PartsOf(job.archives[i].as),
                      .node = &ItemOf(archives, i).Nearest("as")});
  }
}

/// An environment that `archives` names too, or another task type, is unpacked once.
void ClaimPython(const Node& node, const JobSpec& job, std::vector<Claim>& claims) {
  for (const auto& [type, path] : job.python_archives) {
    bool known = false;
    for (const Claim& other : claims)
      known = known || (other.field != "files" && other.source == path);
    if (known) continue;
    const Node& all = node.Nearest("python.archive");
    claims.push_back({.field = "python",
                      .source = path,
                      .parts = PartsOf(ArchiveName(path)),
                      .node = type.empty() ? &all : &all.Nearest(type)});
  }
}

/// False, and said: its name is none, or another's.
bool HasName(Decoder& decoder, const Claim& claim) {
  const auto& parts = claim.parts;
  if (parts.empty() || std::find(parts.begin(), parts.end(), "..") != parts.end()) {
    decoder.Error(*claim.node, fmt::format("`{}`: `{}` gives no name in the work directory",
                                           claim.field, claim.source));
    return false;
  }
  const std::string_view owner = OwnerOf(claim.parts.front());
  if (owner.empty()) return true;
  decoder.Error(*claim.node,
                fmt::format("`{}`: the name `{}` in the work directory is {}'s own", claim.field,
                            NameOf(claim), owner),
                {"give it another name"});
  return false;
}

std::string Where(const Claim& claim, const Claim& other) {
  const bool here = claim.node->place.file == other.node->place.file;
  return here ? fmt::format("line {}", other.node->place.line) : "another file";
}

void CheckPair(Decoder& decoder, const Claim& claim, const Claim& earlier) {
  if (!Exclude(claim.parts, earlier.parts)) return;
  const std::string clash =
      claim.parts == earlier.parts
          ? fmt::format("both become `{}`", NameOf(claim))
          : fmt::format("`{}` and `{}` lie in one another", NameOf(earlier), NameOf(claim));
  decoder.Error(
      *claim.node,
      fmt::format("`{}`: `{}` and `{}` of `{}` ({}): {} in the work directory", claim.field,
                  claim.source, earlier.source, earlier.field, Where(claim, earlier), clash),
      {claim.field == "files"
           ? "rename one of them, or pack it into one of `archives`"
           : "give one of them another name by `archives: [{path: ..., as: NAME}]`"});
}

}  // namespace

void CheckWorkDirectory(Decoder& decoder, const Node& node, const JobSpec& job) {
  std::vector<Claim> claims;
  if (!decoder.Broken("files")) ClaimFiles(node, job, claims);
  if (!decoder.Broken("archives")) ClaimArchives(node, job, claims);
  if (!decoder.Broken("python") && !decoder.Broken("archives")) ClaimPython(node, job, claims);
  std::vector<const Claim*> good;
  for (const Claim& claim : claims) {
    if (!HasName(decoder, claim)) continue;
    for (const Claim* earlier : good) CheckPair(decoder, claim, *earlier);
    good.push_back(&claim);
  }
}

}  // namespace tfyarn::config
