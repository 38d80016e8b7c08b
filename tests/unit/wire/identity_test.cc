// Certificates and keys. Whether a peer's are accepted is tested where they are used: over real
// connections, in channel_refusal_test.cc.
#include "wire/identity.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/unit/wire/channel_world.h"
#include "wire/openssl_handles.h"

namespace tfyarn::wire::identity_test {
namespace {

TEST(IdentityTest, ACertificateNamesApplicationRoleAndContainer) {
  const auto authority = AuthorityOf();
  const auto am = ReadCertificate(authority.IssueAm(2)->certificate_pem);
  EXPECT_EQ(UriOf(*am), "tfyarn://application_1700000000000_0007/am/2");
  const auto agent =
      ReadCertificate(authority.IssueAgent(ContainerOf((1LL << 40) + 3))->certificate_pem);
  EXPECT_EQ(UriOf(*agent),
            "tfyarn://application_1700000000000_0007/agent/"
            "container_e01_1700000000000_0007_01_000003");
}

TEST(IdentityTest, ACertificateHoldsForFourHundredDaysAndAClockFiveMinutesBehind) {
  const auto authority = AuthorityOf();
  const auto certificate = ReadCertificate(authority.IssueAm(1)->certificate_pem);
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(Today().time_since_epoch()).count();
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kDay = 24 * 60 * kMinute;
  const auto holds = [&](std::int64_t seconds_from_now) {
    std::time_t at = now + seconds_from_now;
    return X509_cmp_time(X509_get0_notBefore(certificate.get()), &at) < 0 &&
           X509_cmp_time(X509_get0_notAfter(certificate.get()), &at) > 0;
  };
  EXPECT_FALSE(holds(-6 * kMinute));
  EXPECT_TRUE(holds(-4 * kMinute));
  EXPECT_TRUE(holds(399 * kDay));
  EXPECT_FALSE(holds(401 * kDay));
}

TEST(IdentityTest, NoTwoCertificatesHaveOneSerialNumber) {
  const auto authority = AuthorityOf();
  std::set<std::string> serials;
  for (int i = 0; i < 20; ++i) {
    const auto certificate = ReadCertificate(authority.IssueAgent(ContainerOf(2))->certificate_pem);
    const ASN1_INTEGER* serial = X509_get0_serialNumber(certificate.get());
    serials.emplace(reinterpret_cast<const char*>(ASN1_STRING_get0_data(serial)),
                    static_cast<std::size_t>(ASN1_STRING_length(serial)));
  }
  EXPECT_EQ(serials.size(), 20U);
}

TEST(IdentityTest, AnAgentOfAnotherApplicationGetsNone) {
  const auto authority = AuthorityOf();
  const auto issued = authority.IssueAgent(ContainerOf(2, {1700000000000, 8}));
  ASSERT_FALSE(issued.has_value());
  EXPECT_EQ(issued.error().code, ErrorCode::kInvalidArgument);
}

TEST(IdentityTest, ALaterAmAttemptGoesOnWithTheSameAuthority) {
  const auto first = AuthorityOf();
  const auto second = CertificateAuthority::FromPem(kApplication, first.ToPem());
  ASSERT_TRUE(second.has_value()) << second.error().message;
  EXPECT_EQ(second->ToPem(), first.ToPem());
  EXPECT_EQ(second->IssueAm(2)->authority_pem, first.IssueAm(1)->authority_pem);
}

TEST(IdentityTest, AnAuthorityOfAnotherApplicationIsNotTaken) {
  const auto other = CertificateAuthority::FromPem({1, 1}, AuthorityOf().ToPem());
  ASSERT_FALSE(other.has_value());
  EXPECT_NE(other.error().message.find("application_1_0001"), std::string::npos)
      << other.error().message;
}

TEST(IdentityTest, AnAuthorityThatIsDamagedIsNotTaken) {
  const std::string pem = AuthorityOf().ToPem();
  const std::string key = AuthorityOf().ToPem().substr(pem.find("-----BEGIN PRIVATE"));
  for (const std::string& bad :
       {std::string(), std::string("x"), pem.substr(0, pem.size() / 2), pem.substr(100),
        pem.substr(0, pem.find("-----BEGIN PRIVATE")) + key}) {
    const auto read = CertificateAuthority::FromPem(kApplication, bad);
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST(IdentityTest, AnIdentityIsReadBackFromItsOneFile) {
  const auto identity = AuthorityOf().IssueAgent(ContainerOf(2)).value();
  const auto read = IdentityFromPem(ToPem(identity));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->certificate_pem, identity.certificate_pem);
  EXPECT_EQ(read->key_pem, identity.key_pem);
  EXPECT_EQ(read->authority_pem, identity.authority_pem);
}

TEST(IdentityTest, AnIdentityThatIsNotWholeIsRefused) {
  const auto authority = AuthorityOf();
  const auto mine = authority.IssueAgent(ContainerOf(2)).value();
  const auto other = authority.IssueAgent(ContainerOf(3)).value();
  for (const std::string& bad :
       {std::string(), mine.certificate_pem, mine.certificate_pem + mine.key_pem,
        mine.certificate_pem + mine.authority_pem,
        mine.certificate_pem + mine.authority_pem + other.key_pem,
        ToPem(mine) + other.certificate_pem, ToPem(mine).substr(0, ToPem(mine).size() - 60)}) {
    const auto read = IdentityFromPem(bad);
    ASSERT_FALSE(read.has_value()) << bad;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(read.error().message.find("PRIVATE"), std::string::npos);
  }
}

}  // namespace
}  // namespace tfyarn::wire::identity_test
