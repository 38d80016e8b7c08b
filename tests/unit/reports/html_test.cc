#include "reports/html.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tfyarn::reports::html_test {
namespace {

constexpr Assets kSmall{
    .page =
        "<style>{{style}}</style><script "
        "id=r>{{result}}</script><script>{{report}}</script><script>{{script}}</script>",
    .style = "b{}",
    .script = "run()"};

TEST(HtmlTest, AssetsAndDocumentsGoWhereTheirMarkersAre) {
  EXPECT_EQ(
      *Html("{\"a\":1}", "{}", kSmall),
      "<style>b{}</style><script id=r>{\"a\":1}</script><script>{}</script><script>run()</script>");
}

// A name in a scenario may hold anything: it must not end the element that it stands in, nor begin
// a comment in it.
TEST(HtmlTest, NoTextOfARunCanBecomeMarkup) {
  const std::string evil = R"({"name":"</script><script>alert(1)</script><!--","amp":"&lt;"})";
  const std::string safe = EmbeddableJson(evil);
  EXPECT_EQ(safe.find('<'), std::string::npos);
  EXPECT_EQ(safe.find('>'), std::string::npos);
  EXPECT_EQ(safe.find('&'), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(safe), nlohmann::json::parse(evil));
}

TEST(HtmlTest, MarkersInsideDocumentsAreLeftAlone) {
  const auto html = Html(R"({"name":"{{script}} {{report}}"})", "{}", kSmall);
  ASSERT_TRUE(html);
  EXPECT_NE(html->find(R"({"name":"{{script}} {{report}}"})"), std::string::npos);
}

TEST(HtmlTest, APageWithoutAMarkerIsAnErrorThatNamesIt) {
  const auto html =
      Html("{}", "{}", {.page = "{{style}}{{result}}{{script}}", .style = "", .script = ""});
  ASSERT_FALSE(html);
  EXPECT_EQ(html.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(html.error().message.find("{{report}}"), std::string::npos);
}

TEST(HtmlTest, AnAssetThatWouldEndItsElementIsAnError) {
  EXPECT_FALSE(Html("{}", "{}", {.page = kSmall.page, .style = "", .script = "x = '</SCRIPT>'"}));
  EXPECT_FALSE(Html("{}", "{}", {.page = kSmall.page, .style = "</Style >", .script = ""}));
}

TEST(HtmlTest, TheBuiltInPageTakesBothDocumentsAndLoadsNothing) {
  const auto html = Html("{\"schema\":\"tfsim.result/v1\"}", "{}");
  ASSERT_TRUE(html) << html.error().message;
  EXPECT_NE(html->find("tfsim.result/v1"), std::string::npos);
  EXPECT_NE(html->find("default-src 'none'"), std::string::npos);
  for (const char* outside : {"http://", "https://", "innerHTML", "src=\"", "@import"}) {
    EXPECT_EQ(html->find(outside), std::string::npos) << outside;
  }
}

}  // namespace
}  // namespace tfyarn::reports::html_test
