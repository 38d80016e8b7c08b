#include "hosts/yarn/am_face.h"

#include <gmock/gmock.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/trace/json.h"
#include "hosts/runtime/clock.h"
#include "tests/unit/hosts/runtime/host_rig.h"
#include "tests/unit/wire/webhdfs/http_stage.h"

namespace tfyarn::hosts::am_face_test {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using wire::HttpStage;
using wire::StageReply;
using wire::StageRequest;

constexpr ApplicationId kApplication{.cluster_timestamp = 5, .id = 1};
const std::string kHistory = "/user/alice/.tfyarn/history";
const std::string kFirst = kHistory + "/application_5_0001/attempt-1";

/// A NameNode and its only DataNode: files by path, and what is called, "DELETE /staging".
class FakeHdfs {
 public:
  explicit FakeHdfs(boost::asio::io_context& loop)
      : stage_(loop, [this](const StageRequest& request, const HttpStage::Reply& reply) {
          if (!silent) reply(Answer(request));
        }) {}

  [[nodiscard]] std::uint16_t port() const { return stage_.port(); }

  bool silent = false;
  std::map<std::string, std::string> files;
  std::map<std::string, std::int64_t> directories;  ///< By path: when it was changed last.
  std::vector<std::string> calls;

 private:
  static std::string Parameter(const std::string& target, const std::string& name) {
    const auto at = target.find(name + "=");
    if (at == std::string::npos) return "";
    const auto begin = at + name.size() + 1;
    return target.substr(begin, target.find('&', begin) - begin);
  }

  StageReply Answer(const StageRequest& request) {
    const std::string prefix = "/webhdfs/v1";
    const std::string path =
        request.target.substr(prefix.size(), request.target.find('?') - prefix.size());
    const std::string operation = Parameter(request.target, "op");
    const bool data = operation == "CREATE" || operation == "APPEND" || operation == "OPEN";
    if (data && operation != "CREATE" && !files.contains(path)) return Missing();
    if (data && !request.Has("&there"))
      return {.status = 307, .location = stage_.url() + request.target + "&there"};
    calls.push_back(operation + " " + path);
    if (operation == "CREATE") files[path] = request.body;
    if (operation == "APPEND") files[path] += request.body;
    if (operation == "OPEN") return {.body = files[path]};
    if (operation == "LISTSTATUS") return List(path);
    if (operation == "GETFILESTATUS") {
      return {.body = json{{"FileStatus", Status("", false, 0)}}.dump()};
    }
    if (operation == "DELETE") {
      std::erase_if(directories, [&](const auto& each) { return each.first.starts_with(path); });
    }
    return {.status = operation == "CREATE" ? 201u : 200u, .body = R"({"boolean":true})"};
  }
  static StageReply Missing() {
    return {.status = 404,
            .body = R"({"RemoteException":{"exception":"FileNotFoundException","message":"m"}})"};
  }
  static json Status(const std::string& name, bool directory, std::int64_t changed) {
    return {{"fileId", 1},
            {"length", 0},
            {"modificationTime", changed},
            {"pathSuffix", name},
            {"type", directory ? "DIRECTORY" : "FILE"}};
  }
  StageReply List(const std::string& path) const {
    json list = json::array();
    for (const auto& [directory, changed] : directories) {
      const auto slash = directory.rfind('/');
      if (directory.substr(0, slash) == path)
        list.push_back(Status(directory.substr(slash + 1), true, changed));
    }
    return {.body = json{{"FileStatuses", {{"FileStatus", list}}}}.dump()};
  }

  HttpStage stage_;
};

class AmFaceTest : public HostRig {
 protected:
  std::unique_ptr<AmFace> Face(std::int32_t attempt) {
    JobSpec job;
    job.name = "mnist";
    job.tasks = {{.name = "worker", .resource = {.memory_mb = 1024, .vcores = 1, .gpus = 1}}};
    job.history_keep = 24h;
    YarnEnvironment environment;
    environment.addresses = {.name_nodes = {{"127.0.0.1", hdfs_.port()}}, .user = "alice"};
    environment.container = {
        .container = {.application_attempt = {.application = kApplication, .attempt = attempt},
                      .id = 1},
        .host = "127.0.0.1",
        .web_port = 8042,
        .submitted = WallNow() - 10s};
    auto face = std::make_unique<AmFace>(
        io_, std::make_shared<const JobSpec>(job), environment,
        AmFaceOptions{.version = "1.2.3",
                      .job_file = "name: mnist\n",
                      .directory = directory_.string(),
                      .staging_directory = "/staging",
                      .note = [this](const std::string& note) { notes_.push_back(note); }});
    face->Observe(Now(),
                  trace::AmTold{.job = {},
                                .am_attempt = attempt,
                                .event = AmStarted{
                                    .attempt = environment.container.container.application_attempt,
                                    .container = environment.container.container}});
    return face;
  }
  void Finish(AmFace& face, std::int32_t code) {
    bool done = false;
    face.Finish(code, [&] { done = true; });
    Until([&] { return done; }, "the end");
  }
  [[nodiscard]] json Result(const std::string& attempt) const {
    return json::parse(hdfs_.files.at(attempt + "/result.json"));
  }

  std::vector<std::string> notes_;
  FakeHdfs hdfs_{io_};
};

TEST_F(AmFaceTest, AtItsEndTheHistoryIsWholeAndTheStagingDirectoryIsGone) {
  const auto face = Face(1);
  Finish(*face, 0);
  EXPECT_THAT(hdfs_.files[kFirst + "/events.jsonl"], HasSubstr("AM attempt 1 starts"));
  EXPECT_EQ(hdfs_.files[kFirst + "/job.yaml"], "name: mnist\n");
  EXPECT_EQ(Result(kFirst)["jobs"][0]["name"], "mnist");
  EXPECT_THAT(hdfs_.files[kFirst + "/report.html"], HasSubstr("mnist"));
  EXPECT_THAT(hdfs_.calls, Contains("DELETE /staging"));
  EXPECT_THAT(notes_, IsEmpty());
  EXPECT_THAT(face->ReportAddress(), HasSubstr(kFirst + "/report.html?op=OPEN&user.name=alice"));
}

TEST_F(AmFaceTest, WhereAnotherAttemptMayFollowTheStagingDirectoryStays) {
  const auto face = Face(1);
  Finish(*face, 1);
  EXPECT_THAT(hdfs_.calls, Not(Contains("DELETE /staging")));
  EXPECT_EQ(Result(kFirst)["verdict"], "interrupted");
}

TEST_F(AmFaceTest, TheSecondAttemptsDocumentsAreOfBoth) {
  Finish(*Face(1), 1);
  hdfs_.files[kFirst + "/events.jsonl"] += "{\"cut";
  const auto second = Face(2);
  Finish(*second, 0);
  const json job = Result(kHistory + "/application_5_0001/attempt-2")["jobs"][0];
  EXPECT_EQ(job["am_attempts"], 2);
  EXPECT_EQ(Result(kFirst)["jobs"][0]["am_attempts"], 1);
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(AmFaceTest, WhatTheFirstAttemptDidNotWriteIsMissingAndThatIsSaid) {
  const auto second = Face(2);
  Until([this] { return !notes_.empty(); }, "a note");
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("without AM attempt 1")));
  Finish(*second, 0);
}

TEST_F(AmFaceTest, AnHdfsThatDoesNotAnswerHoldsTheEndForSecondsOnly) {
  hdfs_.silent = true;
  const auto face = Face(1);
  const auto begin = std::chrono::steady_clock::now();
  Finish(*face, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 2 * AmFace::kLongestEnd + 10s);
  EXPECT_THAT(notes_, Contains(HasSubstr("is not whole")));
}

// Of other applications: an AM that lives writes every hour.
TEST_F(AmFaceTest, RemovesHistoriesThatAreTooOldAndNothingElse) {
  const std::int64_t now = WallNow().time_since_epoch().count();
  const std::int64_t old = now - std::chrono::milliseconds(48h).count();
  hdfs_.directories = {
      {kHistory + "/application_4_0001", old}, {kHistory + "/application_4_0001/attempt-1", old},
      {kHistory + "/application_4_0002", old}, {kHistory + "/application_4_0002/attempt-1", now},
      {kHistory + "/application_4_0003", now}, {kHistory + "/pictures", old}};
  Finish(*Face(1), 0);
  std::set<std::string> deleted;
  for (const std::string& call : hdfs_.calls) {
    if (call.starts_with("DELETE")) deleted.insert(call);
  }
  EXPECT_THAT(deleted,
              ElementsAre("DELETE /staging", "DELETE " + kHistory + "/application_4_0001"));
}

}  // namespace
}  // namespace tfyarn::hosts::am_face_test
