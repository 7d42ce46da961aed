#include "controller/ledger_codec.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace controller {
namespace {

using ::testing::HasSubstr;

drain::BackendKey Key(const std::string& set, const std::string& backend) {
  return {oci::BackendSetName(set), oci::BackendName(backend)};
}

drain::Ledger SomeLedger() {
  const absl::Time now = absl::FromUnixNanos(1796040000123456789);
  drain::LedgerEntry full;
  full.pod = "web-0";
  full.pod_uid = "u0";
  full.since = now;
  full.deadline = now + absl::Seconds(45);
  full.deleted_at = now - absl::Milliseconds(1);
  full.offline = true;
  full.confirmed = true;
  full.by_operator = true;
  drain::LedgerEntry sparse;
  sparse.since = now;
  return {{Key("bs_x", "10.0.0.1:8080"), full}, {Key("bs_y", "fd00::1:8080"), sparse}};
}

TEST(LedgerCodec, GivesBackWhatItWasGiven) {
  for (const drain::Ledger& ledger : {SomeLedger(), drain::Ledger()}) {
    const auto text = EncodeLedger(ledger);
    ASSERT_TRUE(text.ok()) << text.status();
    const auto back = DecodeLedger(*text);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(*back, ledger);
  }
}

TEST(LedgerCodec, GivesBackTimesWithoutAnEnd) {
  for (const absl::Time time : {absl::InfinitePast(), absl::InfiniteFuture()}) {
    drain::LedgerEntry entry;
    entry.since = entry.deadline = entry.deleted_at = time;
    const drain::Ledger ledger{{{oci::BackendSetName("b"), oci::BackendName("a:1")}, entry}};
    const auto text = EncodeLedger(ledger);
    ASSERT_TRUE(text.ok()) << text.status();
    const auto read = DecodeLedger(*text);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, ledger);
  }
}

TEST(LedgerCodec, WritesItsFormat) {
  EXPECT_EQ(*EncodeLedger({}), R"({"version":1,"entries":[]})");
  drain::LedgerEntry entry;
  entry.pod = "web-\"0\"";
  entry.since = absl::FromUnixSeconds(0);
  EXPECT_EQ(*EncodeLedger({{Key("bs_x", "10.0.0.1:8080"), entry}}),
            R"({"version":1,"entries":[{"set":"bs_x","backend":"10.0.0.1:8080",)"
            R"("pod":"web-\"0\"","since":"1970-01-01T00:00:00Z"}]})");
}

TEST(LedgerCodec, AnEmptyTextIsAnEmptyLedger) {
  const auto ledger = DecodeLedger("");
  ASSERT_TRUE(ledger.ok());
  EXPECT_TRUE(ledger->empty());
}

TEST(LedgerCodec, SkipsMembersItDoesNotKnow) {
  const auto ledger = DecodeLedger(
      R"({"version":1,"written_by":{"x":1},"entries":[
          {"set":"b","backend":"a:1","since":"2026-11-30T12:00:00Z","colour":"red"}]})");
  ASSERT_TRUE(ledger.ok()) << ledger.status();
  EXPECT_EQ(ledger->size(), 1u);
}

TEST(LedgerCodec, RefusesWithTheEntryAndTheMember) {
  const struct {
    std::string json;
    std::string error;
  } kCases[] = {
      {"{", "ledger: JSON error at byte 1"},
      {"[]", "ledger: no version"},
      {"{}", "ledger: no version"},
      {R"({"version":"1"})", "ledger: no version"},
      {R"({"version":2})", "ledger: version 2 was written by a newer program; this one knows 1"},
      {R"({"version":1,"entries":{}})", "ledger: entries: expected a list"},
      {R"({"version":1,"entries":[1]})", "ledger: entry 0: expected an object"},
      {R"({"version":1,"entries":[{"set":"b"}]})", "ledger: entry 0: backend: missing"},
      {R"({"version":1,"entries":[{"set":"b","backend":"a:1","confirmed":"yes"}]})",
       "ledger: entry 0 (b a:1): confirmed: expected a boolean, got string"},
      {R"({"version":1,"entries":[{"set":"b","backend":"a:1"},
           {"set":"b","backend":"a:2","deadline":"soon"}]})",
       "ledger: entry 1 (b a:2): deadline: not an RFC 3339 time"},
      {R"({"version":1,"entries":[{"set":"b","backend":"a:1"},{"set":"b","backend":"a:1"}]})",
       "ledger: entry 1 (b a:1): entered twice"},
      {R"({"version":1,"entries":[{"set":"b","backend":""}]})",
       "ledger: entry 0: a set or backend without a name"},
      {R"({"version":1,"entries":[{"set":"","backend":"a:1"}]})",
       "ledger: entry 0 ( a:1): a set or backend without a name"},
      {std::string(kMaxLedgerBytes + 1, ' '), "at most 921600"},
  };
  for (const auto& c : kCases) {
    const auto ledger = DecodeLedger(c.json);
    ASSERT_FALSE(ledger.ok()) << c.json.substr(0, 200);
    EXPECT_THAT(std::string(ledger.status().message()), HasSubstr(c.error));
  }
}

TEST(LedgerCodec, ThousandsOfEntriesFitAndTooManyAreRefused) {
  drain::Ledger ledger;
  drain::LedgerEntry entry = SomeLedger().begin()->second;
  entry.pod_uid = "0d5fd2c1-8d8f-4b1f-9a53-3d1e6c9a0f11";
  const auto fill = [&](int count) {
    for (int i = 0; i < count; ++i) {
      ledger[Key("bs_f151df96ee98ff0", absl::StrCat("10.0.", i / 256, ".", i % 256, ":8080"))] =
          entry;
    }
  };
  fill(2500);
  EXPECT_TRUE(EncodeLedger(ledger).ok());
  fill(10000);
  EXPECT_EQ(EncodeLedger(ledger).status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace controller
