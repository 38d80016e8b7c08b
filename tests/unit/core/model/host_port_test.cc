#include "core/model/host_port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tfyarn::host_port_test {
namespace {

using testing::HasSubstr;

TEST(HostPortTest, OnlyIpv6IsWrittenInBrackets) {
  EXPECT_EQ(ToString(HostPort{"gpu-1.example", 2222}), "gpu-1.example:2222");
  EXPECT_EQ(ToString(HostPort{"10.0.0.1", 1}), "10.0.0.1:1");
  EXPECT_EQ(ToString(HostPort{"fe80::1%eth0", 65535}), "[fe80::1%eth0]:65535");
}

TEST(HostPortTest, WhatIsWrittenIsReadBack) {
  for (const HostPort& address :
       {HostPort{"gpu_1.example", 1}, HostPort{"10.0.0.1", 8020}, HostPort{"fe80::1%eth0", 65535}})
    EXPECT_EQ(ParseHostPort(ToString(address)).value(), address);
}

TEST(HostPortTest, ATextWithoutPortNeedsADefault) {
  EXPECT_EQ(ParseHostPort("h", 7).value(), (HostPort{"h", 7}));
  EXPECT_EQ(ParseHostPort("[::1]", 7).value(), (HostPort{"::1", 7}));
  EXPECT_EQ(ParseHostPort("h", 0).value(), (HostPort{"h", 0}));
  EXPECT_EQ(ParseHostPort("h:1", 7).value(), (HostPort{"h", 1}));
  for (const char* text : {"h", "[::1]"}) {
    const auto address = ParseHostPort(text);
    ASSERT_FALSE(address) << text;
    EXPECT_THAT(address.error().message, HasSubstr("it has no port; expected HOST:PORT"));
  }
}

TEST(HostPortTest, AnErrorSaysWhatIsWrongAndWhatIsExpected) {
  const auto error_of = [](const char* text) {
    const auto address = ParseHostPort(text, 7);
    return address ? ToString(*address) : address.error().message;
  };
  EXPECT_EQ(error_of("h:0"),
            "'h:0' is no address: its port is no number from 1 to 65535; expected HOST, "
            "HOST:PORT, or [HOST]:PORT for IPv6");
  for (const char* text : {"h:", "h:x", "h:0", "h:-1", "h:+1", "h:65536", "h:99999999999", "h: 1"})
    EXPECT_THAT(error_of(text), HasSubstr("its port is no number from 1 to 65535")) << text;
  for (const char* text : {"", ":1", "[]:1"})
    EXPECT_THAT(error_of(text), HasSubstr("it has no host")) << text;
  for (const char* text : {"h:1:2", "::1", "::1:8020"})
    EXPECT_THAT(error_of(text), HasSubstr("it has more than one colon")) << text;
  for (const char* text : {"[::1", "["})
    EXPECT_THAT(error_of(text), HasSubstr("its bracket is not closed")) << text;
  EXPECT_THAT(error_of("[::1]2"), HasSubstr("only a port may follow the bracket"));
  for (const char* text : {"a b:1", "u@h:1", "a%20b:1", "h/x:1", "a,b:1", "$h:1", "h\n:1", "h]:1"})
    EXPECT_THAT(error_of(text), HasSubstr("its host has characters that no host has")) << text;
}

TEST(HostPortTest, AnErrorQuotesLittleOfALongText) {
  const auto address = ParseHostPort(std::string(100'000, 'x'));
  ASSERT_FALSE(address);
  EXPECT_LT(address.error().message.size(), 300u);
}

}  // namespace
}  // namespace tfyarn::host_port_test
