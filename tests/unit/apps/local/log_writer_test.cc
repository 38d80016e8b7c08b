// A reader who stands still holds up nothing but itself.
#include "apps/local/log_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <thread>

namespace tfyarn::local::log_writer_test {
namespace {

class LogWriterTest : public testing::Test {
 protected:
  LogWriterTest() {
    if (::pipe2(ends_, O_CLOEXEC) != 0) std::abort();
  }
  ~LogWriterTest() override {
    CloseReader();
    ::close(ends_[1]);
  }
  void CloseReader() {
    if (ends_[0] >= 0) ::close(ends_[0]);
    ends_[0] = -1;
  }
  std::string Read(std::size_t size) const {
    std::string text(size, '\0');
    std::size_t done = 0;
    while (done < size) {
      const ssize_t got = ::read(ends_[0], text.data() + done, size - done);
      if (got <= 0) break;
      done += static_cast<std::size_t>(got);
    }
    text.resize(done);
    return text;
  }

  int ends_[2] = {-1, -1};
};

TEST_F(LogWriterTest, WritesInOrder) {
  LogWriter writer(ends_[1]);
  std::string all;
  for (int i = 0; i < 100; ++i) {
    const std::string text = std::to_string(i) + "\n";
    writer.Write(text);
    all += text;
  }
  EXPECT_EQ(Read(all.size()), all);
  EXPECT_TRUE(writer.Drain(1min));
  EXPECT_EQ(writer.waiting(), 0U);
}

TEST_F(LogWriterTest, AReaderWhoTakesNothingHoldsUpNobody) {
  const std::string much(4U << 20, 'x');
  {
    LogWriter writer(ends_[1]);
    writer.Write(much);
    EXPECT_FALSE(writer.Drain(20ms));
    EXPECT_GT(writer.waiting(), 3U << 20);
  }
  // Its thread is in a write that only the end of the reader ends.
  CloseReader();
}

TEST_F(LogWriterTest, ASlowReaderIsWaitedFor) {
  const std::string much(4U << 20, 'x');
  LogWriter writer(ends_[1]);
  writer.Write(much);
  std::string got;
  std::thread reader([&] { got = Read(much.size()); });
  EXPECT_TRUE(writer.Drain(1min));
  reader.join();
  EXPECT_EQ(got, much);
}

TEST_F(LogWriterTest, AReaderWhoHasGoneIsAnEnd) {
  CloseReader();
  LogWriter writer(ends_[1]);
  writer.Write("text");
  EXPECT_TRUE(writer.Drain(1min));
  writer.Write("more");
  EXPECT_EQ(writer.waiting(), 0U);
}

}  // namespace
}  // namespace tfyarn::local::log_writer_test
