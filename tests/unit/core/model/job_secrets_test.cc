#include "core/model/job_secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tfyarn::job_secrets_test {
namespace {

using testing::Optional;

TEST(JobSecretsTest, NamesAreSecretInWhateverCase) {
  for (const char* name : {"PASSWORD", "db_password", "HF_TOKEN", "ClientSecret", "API_KEY",
                           "AWS_SECRET_ACCESS_KEY", "passwd", "Credentials"})
    EXPECT_TRUE(LooksSecret(name)) << name;
  for (const char* name : {"", "PATH", "TF_CPP_MIN_LOG_LEVEL", "PASS", "EPOCHS"})
    EXPECT_FALSE(LooksSecret(name)) << name;
}

TEST(JobSecretsTest, AValueTravelsUnderANameOfItsOwn) {
  const SecretValue all{.name = "API_TOKEN", .value = "a=b\nc"};
  const SecretValue one{.task_type = "my-worker_2", .name = "API_TOKEN", .value = ""};
  EXPECT_NE(TravelName(all), TravelName(one));
  EXPECT_THAT(SecretFrom(TravelName(all), all.value), Optional(all));
  EXPECT_THAT(SecretFrom(TravelName(one), one.value), Optional(one));
  EXPECT_EQ(SecretFrom("TFYARN_TASK", "worker:0"), std::nullopt);
  EXPECT_EQ(SecretFrom("TFYARN_SECRET.", ""), std::nullopt);
}

TEST(JobSecretsTest, AnEnvironmentGetsValuesForStarsAlone) {
  std::map<std::string, std::string> environment{
      {"A_KEY", "***"}, {"B_KEY", "***"}, {"C_KEY", "of a framework"}, {"D_KEY", "***"}};
  FillInSecrets({{.task_type = "ps", .name = "A_KEY", .value = "not this"},
                 {.task_type = "worker", .name = "A_KEY", .value = "own"},
                 {.name = "A_KEY", .value = "of all"},
                 {.name = "B_KEY", .value = "b"},
                 {.name = "C_KEY", .value = "c"},
                 {.name = "E_KEY", .value = "e"}},
                "worker", environment);
  EXPECT_EQ(environment,
            (std::map<std::string, std::string>{
                {"A_KEY", "own"}, {"B_KEY", "b"}, {"C_KEY", "of a framework"}, {"D_KEY", "***"}}));
}

TEST(JobSecretsTest, ATextLosesEveryValue) {
  const std::vector<SecretValue> secrets{{.name = "A", .value = "swordfish"},
                                         {.name = "B", .value = "swordfish-2"},
                                         {.name = "C", .value = "abc"},
                                         {.name = "D", .value = ""}};
  EXPECT_EQ(WithoutSecrets("no swordfish-2, swordfish, or swordfishswordfish", secrets),
            "no ***, ***, or ******");
  // A tail begins in the middle of a value.
  EXPECT_EQ(WithoutSecrets("dfish-2 is wrong", secrets), "*** is wrong");
  EXPECT_EQ(WithoutSecrets("wordfish is wrong", secrets), "*** is wrong");
  EXPECT_EQ(WithoutSecrets("fish", secrets), "***");
  EXPECT_EQ(WithoutSecrets("fish", {{.name = "C", .value = "fish"}}), "***");
  EXPECT_EQ(WithoutSecrets("abc and h are words", secrets), "abc and h are words");
  EXPECT_EQ(WithoutSecrets("", secrets), "");
}

}  // namespace
}  // namespace tfyarn::job_secrets_test
