#include "annotations/annotations.h"

#include <set>
#include <string>

#include "annotations/table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace annotations {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;

kube::Annotations Of(absl::string_view key, absl::string_view value) {
  return {{std::string(key), std::string(value)}};
}

TEST(ParseServiceAnnotations, OptsInOnExactlyTrue) {
  EXPECT_FALSE(ParseServiceAnnotations({}).values.backend_draining);
  EXPECT_TRUE(ParseServiceAnnotations(Of(kBackendDraining, "true")).values.backend_draining);
  EXPECT_FALSE(ParseServiceAnnotations(Of(kBackendDraining, "false")).values.backend_draining);
  for (const char* value : {"", "True", "TRUE", "yes", "1", " true", "true "}) {
    const ServiceAnnotations parsed = ParseServiceAnnotations(Of(kBackendDraining, value));
    EXPECT_FALSE(parsed.values.backend_draining) << value;
    EXPECT_THAT(parsed.bad, ElementsAre(BadValue{std::string(kBackendDraining), value,
                                                 "\"true\" or \"false\""}));
  }
}

TEST(ParseServiceAnnotations, ReadsEveryValue) {
  const ServiceAnnotations parsed =
      ParseServiceAnnotations({{std::string(kBackendDraining), "true"},
                               {std::string(kServing), "1m30s"},
                               {std::string(kShutdown), "0s"},
                               {std::string(kStickyCutoff), "10s"},
                               {std::string(kReserve), "10%"},
                               {std::string(kMinimum), "250ms"},
                               {"oci-native-ingress.oraclecloud.com/policy", "ROUND_ROBIN"}});
  EXPECT_THAT(parsed.bad, IsEmpty());
  EXPECT_TRUE(parsed.values.backend_draining);
  EXPECT_EQ(parsed.values.serving, absl::Seconds(90));
  EXPECT_EQ(parsed.values.shutdown, absl::ZeroDuration());
  EXPECT_EQ(parsed.values.sticky_cutoff, absl::Seconds(10));
  EXPECT_EQ(parsed.values.reserve, (Reserve{Reserve::Kind::kPercent, 10}));
  EXPECT_EQ(parsed.values.minimum, absl::Milliseconds(250));
}

TEST(ParseServiceAnnotations, ReportsAllBadValuesAtOnceAndKeepsDefaults) {
  const ServiceAnnotations parsed =
      ParseServiceAnnotations({{std::string(kBackendDraining), "ture"},
                               {std::string(kServing), "2h"},
                               {std::string(kShutdown), "-5s"},
                               {std::string(kReserve), "101%"}});
  EXPECT_THAT(parsed.bad,
              ElementsAre(Field(&BadValue::key, kBackendDraining), Field(&BadValue::key, kServing),
                          Field(&BadValue::key, kShutdown), Field(&BadValue::key, kReserve)));
  EXPECT_EQ(parsed.values.serving, absl::ZeroDuration());
  EXPECT_EQ(parsed.values.shutdown, absl::Seconds(30));
  EXPECT_EQ(parsed.values.reserve, std::nullopt);
}

TEST(ParseServiceAnnotations, TellsOfNamesThatDoNotBelongThere) {
  const ServiceAnnotations parsed =
      ParseServiceAnnotations({{std::string(kPaused), "true"},
                               {std::string(kPublishedLabel), "x"},
                               {std::string(kBackendDraining) + "-of-another-project", "5s"},
                               {std::string(kServing) + "s", "5s"}});
  EXPECT_THAT(parsed.bad,
              ElementsAre(Field(&BadValue::allowed,
                                "nothing here: it is an annotation for an object of kind "
                                "IngressClass"),
                          Field(&BadValue::allowed, "nothing: there is no such annotation"),
                          Field(&BadValue::allowed,
                                "nothing here: it is a label for an object of kind Pod")));
}

TEST(BadValue, IsOneLineHoweverLongTheValue) {
  const BadValue bad{"key", std::string(100000, 'x') + "\n", "\"true\""};
  EXPECT_LT(bad.ToString().size(), 200u);
  EXPECT_EQ((BadValue{"key", "a\nb", "\"true\""}).ToString(),
            "key: \"a\\nb\" is not allowed; allowed is \"true\"");
}

TEST(ParseIngressClassAnnotations, ReadsEveryValue) {
  const IngressClassAnnotations parsed = ParseIngressClassAnnotations(
      {{std::string(kLoadBalancerId), "ocid1.loadbalancer.oc1.iad.aaaa"},
       {std::string(kIsDefaultClass), "true"},
       {std::string(kPaused), "true"},
       {std::string(kCarry), "all"},
       {"oci-native-ingress.oraclecloud.com/implicit-default-tags", "{}"}});
  EXPECT_THAT(parsed.bad, IsEmpty());
  EXPECT_EQ(parsed.values.load_balancer_id, "ocid1.loadbalancer.oc1.iad.aaaa");
  EXPECT_TRUE(parsed.values.is_default);
  EXPECT_TRUE(parsed.values.paused);
  EXPECT_TRUE(parsed.values.carry_all);
}

TEST(ParseIngressClassAnnotations, TakesAnEmptyIdAsNotYetMade) {
  const IngressClassAnnotations parsed = ParseIngressClassAnnotations(Of(kLoadBalancerId, ""));
  EXPECT_THAT(parsed.bad, IsEmpty());
  EXPECT_EQ(parsed.values.load_balancer_id, "");
}

TEST(ParseIngressClassAnnotations, RefusesIdsThatAreNoLoadBalancers) {
  for (const std::string& id : {std::string("ocid1.networkloadbalancer.oc1.iad.a"),
                                std::string("10.0.0.1"), std::string("ocid1.loadbalancer.oc1/../x"),
                                "ocid1.loadbalancer." + std::string(300, 'a')}) {
    const IngressClassAnnotations parsed = ParseIngressClassAnnotations(Of(kLoadBalancerId, id));
    EXPECT_THAT(parsed.bad, SizeIs(1)) << id;
    EXPECT_EQ(parsed.values.load_balancer_id, "");
  }
}

TEST(ParseIngressClassAnnotations, PausesOnAValueThatCannotBeUnderstood) {
  const IngressClassAnnotations parsed = ParseIngressClassAnnotations(Of(kPaused, "yes"));
  EXPECT_TRUE(parsed.values.paused);
  EXPECT_THAT(parsed.bad, SizeIs(1));
}

TEST(ParseDuration, AcceptsWholeNumbersWithUnitsInOrder) {
  EXPECT_EQ(ParseDuration("0s"), absl::ZeroDuration());
  EXPECT_EQ(ParseDuration("10s"), absl::Seconds(10));
  EXPECT_EQ(ParseDuration("1m30s"), absl::Seconds(90));
  EXPECT_EQ(ParseDuration("1h"), absl::Hours(1));
  EXPECT_EQ(ParseDuration("59m59s999ms"), absl::Hours(1) - absl::Milliseconds(1));
  EXPECT_EQ(ParseDuration("1m5ms"), absl::Minutes(1) + absl::Milliseconds(5));
}

TEST(ParseDuration, RefusesEverythingElse) {
  for (const char* text : {"",
                           "10",
                           "s",
                           "10 s",
                           " 10s",
                           "10s ",
                           "+10s",
                           "-10s",
                           "1.5s",
                           "10S",
                           "1s1m",
                           "1s1s",
                           "1h1s",
                           "61m",
                           "3601s",
                           "999999999h",
                           "99999999999999999999s",
                           "inf",
                           "1d",
                           "10s\n",
                           "ms",
                           "1ms1s"}) {
    EXPECT_EQ(ParseDuration(text), std::nullopt) << text;
  }
}

TEST(ParseReserve, AcceptsAutoNumbersAndPercentages) {
  EXPECT_EQ(ParseReserve("auto"), (Reserve{Reserve::Kind::kAuto, 0}));
  EXPECT_EQ(ParseReserve("0"), (Reserve{Reserve::Kind::kBackends, 0}));
  EXPECT_EQ(ParseReserve("512"), (Reserve{Reserve::Kind::kBackends, 512}));
  EXPECT_EQ(ParseReserve("100%"), (Reserve{Reserve::Kind::kPercent, 100}));
  for (const char* text : {"", "%", "-1", "513", "101%", "1.5%", "20 ", "Auto", "5%%"}) {
    EXPECT_EQ(ParseReserve(text), std::nullopt) << text;
  }
}

TEST(Table, NamesEachNameOnceAndItsDefaultsParse) {
  std::set<absl::string_view> names;
  for (const Definition& definition : Table()) {
    EXPECT_TRUE(names.insert(definition.name).second) << definition.name;
    EXPECT_EQ(Find(definition.name), &definition);
    EXPECT_THAT(std::string(definition.meaning), ::testing::EndsWith("."));
    if (definition.kind != Kind::kAnnotation || definition.default_value.empty()) continue;
    const kube::Annotations only = Of(definition.name, definition.default_value);
    EXPECT_THAT(definition.place == Place::kService ? ParseServiceAnnotations(only).bad
                                                    : ParseIngressClassAnnotations(only).bad,
                IsEmpty())
        << definition.name;
  }
  EXPECT_EQ(Find("no-such-name"), nullptr);
}

TEST(Table, SaysTheDefaultsThatTheParserHas) {
  const ServiceValues service;
  EXPECT_EQ(ParseBoolean(Find(kBackendDraining)->default_value), service.backend_draining);
  EXPECT_EQ(ParseDuration(Find(kServing)->default_value), service.serving);
  EXPECT_EQ(ParseDuration(Find(kShutdown)->default_value), service.shutdown);
  EXPECT_EQ(ParseDuration(Find(kMinimum)->default_value), service.minimum);
}

}  // namespace
}  // namespace annotations
