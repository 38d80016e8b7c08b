// Which program names in a work directory are reserved for.
#include "core/model/work_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tfyarn::work_directory_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(WorkDirectoryTest, ThePartsOfAPathAreThoseThatMeanSomething) {
  EXPECT_THAT(PartsOf("./a//b/"), ElementsAre("a", "b"));
  EXPECT_THAT(PartsOf("/a/../b"), ElementsAre("a", "..", "b"));
  EXPECT_THAT(PartsOf("././/"), IsEmpty());
}

TEST(WorkDirectoryTest, AFileHasItsLastName) {
  EXPECT_EQ(NameInWorkDirectory("sub/train.py"), "train.py");
  EXPECT_EQ(NameInWorkDirectory("data/"), "data");
  EXPECT_EQ(NameInWorkDirectory("/x/.hidden"), ".hidden");
  for (const char* none : {"", ".", "..", "a/..", "/"}) EXPECT_EQ(NameInWorkDirectory(none), "");
}

TEST(WorkDirectoryTest, SomeNamesHaveAnOwner) {
  for (const char* ours : {".tfyarn", ".tfyarn-runtime", ".tfyarnx"})
    EXPECT_EQ(OwnerOf(ours), "tfyarn") << ours;
  for (const char* yarns : {"container_tokens", ".container_tokens.crc", "launch_container.sh",
                            ".launch_container.sh.crc", "tmp", "sysfs"})
    EXPECT_EQ(OwnerOf(yarns), "YARN") << yarns;
  for (const char* free :
       {"job.yaml", "identity.pem", "runtime", "tmp2", "x.crc", ".crc", "train.py"})
    EXPECT_EQ(OwnerOf(free), "") << free;
}

TEST(WorkDirectoryTest, ANameExcludesItselfAndWhatLiesInIt) {
  EXPECT_TRUE(Exclude({"a"}, {"a"}));
  EXPECT_TRUE(Exclude({"a", "b"}, {"a"}));
  EXPECT_TRUE(Exclude({"a"}, {"a", "b"}));
  EXPECT_FALSE(Exclude({"a", "b"}, {"a", "c"}));
  EXPECT_FALSE(Exclude({"a"}, {"ab"}));
}

}  // namespace
}  // namespace tfyarn::work_directory_test
