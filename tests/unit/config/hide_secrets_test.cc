#include "config/hide_secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/config/config_testing.h"

namespace tfyarn::config::hide_secrets_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kJob = R"(name: a
command: [true]
env: {API_TOKEN: hush-1, PLAIN: seen}
tasks:
  worker:
    memory: 1GiB
    env:
      db_password: "hush-2"
      PRIVATE_KEY: |
        hush-3
        hush-4
)";

LoadOptions WithFile(std::string_view text, std::vector<std::string> sets = {}) {
  return {.sets = std::move(sets), .open = OpenVirtual({{"job.yaml", std::string(text)}})};
}

std::string Shown(std::string_view text, std::vector<std::string> sets = {}) {
  const auto job = LoadJobDocument("job.yaml", WithFile(text, std::move(sets)));
  return job ? "no error" : Render(job.error());
}

TEST(HideSecretsTest, ADocumentHasStarsAndTheValuesStandApart) {
  const auto job = LoadJobDocument("job.yaml", WithFile(kJob));
  ASSERT_TRUE(job) << Render(job.error());
  EXPECT_THAT(job->effective_yaml, Not(HasSubstr("hush")));
  EXPECT_THAT(job->effective_yaml, HasSubstr("API_TOKEN: \"***\""));
  EXPECT_EQ(job->spec.env.at("API_TOKEN"), "***");
  EXPECT_EQ(job->spec.env.at("PLAIN"), "seen");
  EXPECT_THAT(
      job->secrets,
      ElementsAre(
          SecretValue{.name = "API_TOKEN", .value = "hush-1"},
          SecretValue{.task_type = "worker", .name = "db_password", .value = "hush-2"},
          SecretValue{.task_type = "worker", .name = "PRIVATE_KEY", .value = "hush-3\nhush-4\n"}));
  // What is read again has no values any more.
  const auto again = LoadJobDocument("job.yaml", WithFile(job->effective_yaml));
  ASSERT_TRUE(again) << Render(again.error());
  EXPECT_TRUE(again->secrets.empty());
  EXPECT_EQ(again->effective_yaml, job->effective_yaml);
}

TEST(HideSecretsTest, TheLastValueHolds) {
  const auto job = LoadJobDocument(
      "job.yaml", WithFile(kJob, {"env.API_TOKEN=other", "tasks.worker.env.db_password=null",
                                  "tasks.worker.env.PRIVATE_KEY=", "env.MY_KEY=new"}));
  ASSERT_TRUE(job) << Render(job.error());
  EXPECT_THAT(job->secrets, ElementsAre(SecretValue{.name = "API_TOKEN", .value = "other"},
                                        SecretValue{.name = "MY_KEY", .value = "new"}));
  EXPECT_THAT(job->effective_yaml, Not(HasSubstr("other")));
}

TEST(HideSecretsTest, NoDiagnosticQuotesAValue) {
  const std::string wrong = std::string(kJob) + "queue: [1]\n";
  EXPECT_THAT(Shown(wrong), HasSubstr("queue"));
  EXPECT_THAT(Shown(std::string(kJob) + "secrets: {A: hush-8}\n"), Not(HasSubstr("hush")));
  const auto with = [](std::string_view from, std::string_view to) {
    std::string text(kJob);
    return text.replace(text.find(from), from.size(), to);
  };
  for (const std::string& text :
       {with("PLAIN: seen}", "PLAIN: seen, PLAIN: twice}"), with("PLAIN: seen}", "PLAIN: seen"),
        with("API_TOKEN: hush-1", "1A: 2, API_TOKEN: hush-1"),
        with("API_TOKEN: hush-1", "API_TOKEN: [hush-1]"),
        with("API_TOKEN: hush-1", "API_TOKEN: 'hush-1"),
        with("db_password: \"hush-2\"", "db_password: \"hush-2\" hush-5"),
        with("db_password: \"hush-2\"", "db_password: hush-2: hush-5")}) {
    const std::string shown = Shown(text);
    EXPECT_THAT(shown, HasSubstr("error"));
    EXPECT_THAT(shown, Not(HasSubstr("hush"))) << text;
  }
  for (const char* set : {"env.API_TOKEN.x=1", "env.API_TOKEN=[hush-6]", "env.API_TOKEN='hush-6",
                          "env.API_TOKEN=hush-6: hush-7"}) {
    EXPECT_THAT(Shown(kJob, {set}), HasSubstr("error")) << set;
    EXPECT_THAT(Shown(kJob, {set}), Not(HasSubstr("hush"))) << set;
  }
}

TEST(HideSecretsTest, AScenarioHasThemNowhere) {
  const auto scenario = LoadScenarioText(R"(name: s
cluster: {racks: 1, nodes: [{name: n, count: 3, resources: {memory: 16GiB, vcores: 8}}]}
defaults: {env: {A_TOKEN: hush-1}}
jobs: [{name: a, env: {B_TOKEN: hush-2}, tasks: {worker: {memory: 1GiB, env: {C_TOKEN: hush-3}}}}]
arrivals: [{prefix: b, count: 2, interarrival: 1m, template: {env: {D_KEY: hush-4}, tasks: {worker: {memory: 1GiB}}}}]
)",
                                         "s", NoFiles());
  ASSERT_TRUE(scenario) << Render(scenario.error());
  EXPECT_THAT(scenario->effective_yaml, Not(HasSubstr("hush")));
  EXPECT_EQ(scenario->jobs.at(0).spec.env.at("A_TOKEN"), "***");
}

TEST(HideSecretsTest, ASecretSaysWhereItsValueIs) {
  const auto with = [](std::string_view secrets) {
    return "name: a\ncommand: [true]\ntasks: {worker: {memory: 1GiB, env: {W: x}}}\nenv: {E: x}\n"
           "secrets: " +
           std::string(secrets) + "\n";
  };
  EXPECT_TRUE(JobErrors(with("{A: {env: B}, C: {file: d/e}}")).empty());
  EXPECT_THAT(JobErrors(with("{A: {}}")), Contains(HasSubstr("one of `env` and `file`")));
  EXPECT_THAT(JobErrors(with("{A: {env: B, file: c}}")),
              Contains(HasSubstr("one of `env` and `file`")));
  EXPECT_THAT(JobErrors(with("{A: {env: '1 2'}}")), Contains(HasSubstr("a name of a variable")));
  EXPECT_THAT(JobErrors(with("{E: {env: B}}")), Contains(HasSubstr("in `env` and in `secrets`")));
  EXPECT_THAT(JobErrors(with("{W: {env: B}}")),
              Contains(HasSubstr("in `tasks.worker.env` and in `secrets`")));
  EXPECT_THAT(JobErrors(with("{A: hush}")), Contains(HasSubstr("got `***`")));
}

TEST(HideSecretsTest, AnAssignmentIsShownWithoutItsValue) {
  EXPECT_EQ(WithoutSecretOfSet("jobs.0.env.API_TOKEN=hush"), "jobs.0.env.API_TOKEN=***");
  EXPECT_EQ(WithoutSecretOfSet("jobs.0.queue=a"), "jobs.0.queue=a");
  EXPECT_THAT(WithoutSecretOfSet("jobs.0.env={MY_KEY: hush}"), Not(HasSubstr("hush")));
}

}  // namespace
}  // namespace tfyarn::config::hide_secrets_test
