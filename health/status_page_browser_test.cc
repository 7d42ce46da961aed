// The status page in a real browser: what is rendered, what runs and what does not.
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "health/http_server.h"
#include "health/status_for_test.h"
#include "health/status_page.h"

namespace health {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kOwned[] =
    "<script>document.title='owned'</script><img src=x "
    "onerror=\"document.title='owned'\"></script>";

// Tells around the page how wide it came to be. The page's policy would not let it run:
// it is left out for these.
constexpr char kMeasure[] =
    "<script>addEventListener('load', () => { const e = document.documentElement;"
    "parent.document.body.dataset.wide = e.scrollWidth + ' of ' + e.clientWidth; })"
    "</script></body>";

// A window is at least 500 pixels wide; a frame in it may be narrower.
std::string Frame(int width) {
  return absl::StrCat("<!DOCTYPE html><body><iframe src=\"/statusz\" width=\"", width,
                      "\" height=\"844\" style=\"border:0\"></iframe></body>");
}

class StatusPageInABrowser : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v chromium > /dev/null") != 0) {
      GTEST_SKIP() << "chromium is not there (Debian package chromium)";
    }
  }

  // Serves what `page` makes, each time anew; any other path is `around`.
  void Serve(std::function<std::string()> page, bool with_policy, const std::string& around = "") {
    HttpServerOptions options;
    options.address = "127.0.0.1";
    options.port = 0;
    auto server = HttpServer::Start(
        [page = std::move(page), with_policy, around](absl::string_view target) {
          HttpAnswer answer;
          answer.content_type = "text/html; charset=utf-8";
          answer.body = target == "/statusz" ? page() : around;
          if (with_policy) answer.content_security_policy = std::string(StatusPagePolicy());
          return answer;
        },
        {}, options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  // What the browser prints.
  std::string Browse(const std::string& flags, const std::string& path = "/statusz") {
    const std::string folder = testing::TempDir();
    const std::string out = folder + "/browser.txt";
    const std::string command =
        absl::StrCat("HOME=", folder,
                     " timeout 90 chromium --headless --no-sandbox --disable-gpu "
                     "--disable-quic --no-first-run --disable-background-networking "
                     "--disable-component-update --disable-sync --disable-dev-shm-usage "
                     "--user-data-dir=\"$(mktemp -d ",
                     folder, "/profile-XXXXXX)\" ", flags, " http://127.0.0.1:", server_->port(),
                     path, " > ", out, " 2> ", out, ".err");
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    std::stringstream text;
    text << std::ifstream(out).rdbuf();
    return text.str();
  }

  std::unique_ptr<HttpServer> server_;
};

TEST_F(StatusPageInABrowser, HasItsRowsAndUpdatesItself) {
  int asked = 0;
  Serve(
      [&asked] {
        Status status = OrdinaryStatus();
        if (++asked > 1) {
          status.drains.items.push_back(
              MakeDrain("shop/later", "10.0.9.9:80", DrainState::kWaits, absl::Seconds(60)));
        }
        return StatusPage(status, OrdinaryVitals());
      },
      /*with_policy=*/true);
  const std::string dom = Browse("--virtual-time-budget=5000 --dump-dom");
  EXPECT_THAT(dom, HasSubstr("shop/web-6d5f7-9xkzt"));
  EXPECT_THAT(dom, HasSubstr("watch pods in namespace shop"));
  EXPECT_GT(asked, 1) << "its script runs, with the policy in force";
  EXPECT_THAT(dom, HasSubstr("shop/later")) << "what has changed is put in";
  EXPECT_THAT(dom, HasSubstr("updated every 2 s"));
}

TEST_F(StatusPageInABrowser, SaysSoWhenNoAnswerComes) {
  int asked = 0;
  Serve([&asked] { return ++asked == 1 ? StatusPage(OrdinaryStatus(), OrdinaryVitals()) : "?"; },
        /*with_policy=*/true);
  const std::string dom = Browse("--virtual-time-budget=5000 --dump-dom");
  EXPECT_THAT(dom, HasSubstr("shop/web-6d5f7-9xkzt")) << "what was known stays";
  EXPECT_THAT(dom, HasSubstr("what is shown is of"));
}

TEST_F(StatusPageInABrowser, RunsNothingThatANameHolds) {
  Serve([] { return StatusPage(HostileStatus(kOwned), HostileVitals(kOwned)); },
        /*with_policy=*/false);
  const std::string dom = Browse("--virtual-time-budget=5000 --dump-dom");
  EXPECT_THAT(dom, HasSubstr("<title>not ready"));
  EXPECT_THAT(dom, Not(HasSubstr("<title>owned")));
  EXPECT_THAT(dom, HasSubstr("&lt;script&gt;document.title='owned'&lt;/script&gt;"));
}

class Width : public StatusPageInABrowser, public ::testing::WithParamInterface<int> {};

TEST_P(Width, NothingIsBroaderThanTheScreen) {
  const std::string long_name = absl::StrCat(std::string(253, 'w'), "/", kOwned);
  for (const bool hostile : {false, true}) {
    Serve(
        [&] {
          const std::string page =
              hostile ? StatusPage(HostileStatus(long_name), HostileVitals(long_name))
                      : StatusPage(OrdinaryStatus(), OrdinaryVitals());
          return absl::StrReplaceAll(page, {{"</body>", kMeasure}});
        },
        /*with_policy=*/false, Frame(GetParam()));
    const std::string dom = Browse(
        absl::StrCat("--dump-dom --hide-scrollbars --window-size=", GetParam() + 200, ",900"), "/");
    EXPECT_THAT(dom, HasSubstr(absl::StrCat("data-wide=\"", GetParam(), " of ", GetParam(), "\"")))
        << (hostile ? "with long names" : "");
  }
}

INSTANTIATE_TEST_SUITE_P(Screens, Width, testing::Values(390, 768, 1280));

}  // namespace
}  // namespace health
