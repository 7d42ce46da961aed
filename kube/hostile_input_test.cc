// Whatever bytes come from the API server, every reader answers a value or a
// status. Cut and changed forms of all recorded bodies; the sanitizers watch.
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "kube/decoder.h"
#include "kube/exec_token_source.h"
#include "kube/http_status.h"
#include "kube/recorded.h"
#include "kube/reflector.h"
#include "kube/yaml_view.h"

namespace kube {
namespace {

constexpr size_t kStep = 97;
constexpr Resource kResources[] = {
    Resource::kServices,       Resource::kIngresses,   Resource::kIngressClasses,
    Resource::kEndpointSlices, Resource::kPods,        Resource::kDeployments,
    Resource::kStatefulSets,   Resource::kReplicaSets, Resource::kLeases,
};

void ReadAsEverything(const std::string& text) {
  for (const Resource resource : kResources) {
    (void)DecodeListPage(resource, text);
    (void)DecodeWatchEvent(resource, text);
  }
  (void)DecodePod(text);
  (void)DecodeEndpoints(text);
  (void)DecodeConfigMap(text);
  (void)DecodeLease(text);
  (void)ParseExecCredential(text, "client.authentication.k8s.io/v1");
  http::Response response;
  response.status = 500;
  response.body = text;
  const absl::Status status = StatusOfResponse(response, "read", false);
  EXPECT_LE(status.message().size(), 2 * kMaxStatusMessageBytes);
}

// The bodies, and for a watch each of its lines.
std::vector<std::string> AllRecordedTexts() {
  std::vector<std::string> texts;
  for (const std::string& name : RecordedNames()) {
    Recorded recorded = ReadRecorded(name);
    texts.push_back(std::move(recorded.body));
    for (std::string& line : recorded.lines) texts.push_back(std::move(line));
  }
  return texts;
}

TEST(HostileInput, CutAnywhereIsAnError) {
  for (const std::string& text : AllRecordedTexts()) {
    for (size_t size = 0; size < text.size(); size += kStep) {
      const std::string cut = text.substr(0, size);
      ReadAsEverything(cut);
      EXPECT_FALSE(DecodeListPage(Resource::kPods, cut).ok());
      EXPECT_FALSE(DecodeListPage(Resource::kServices, cut).ok());
    }
  }
}

TEST(HostileInput, ChangedBytesAreAValueOrAnError) {
  for (const std::string& text : AllRecordedTexts()) {
    for (size_t at = 0; at < text.size(); at += kStep) {
      std::string changed = text;
      changed[at] = static_cast<char>(changed[at] ^ (1 << (at % 8)));
      ReadAsEverything(changed);
    }
  }
}

TEST(HostileInput, ReplacedValuesAreAValueOrAnError) {
  const char* const values[] = {"null", "{}", "[]", "-1", "1e999", "\"\"", "true", "[[[{}]]]"};
  size_t turn = 0;
  for (const std::string& text : AllRecordedTexts()) {
    for (size_t colon = text.find(':'); colon != std::string::npos;
         colon = text.find(':', colon + 1)) {
      const size_t end = text.find_first_of(",}]", colon);
      if (end == std::string::npos) break;
      if (++turn % 7 != 0) continue;
      std::string changed = text;
      changed.replace(colon + 1, end - colon - 1, values[turn / 7 % std::size(values)]);
      ReadAsEverything(changed);
    }
  }
}

TEST(HostileInput, AKubeconfigWithAnyByteCutOrChangedIsAValueOrAnError) {
  const std::string text =
      "apiVersion: v1\nkind: Config\ncurrent-context: &a \"oke\"\nclusters:\n- name: c\n"
      "  cluster: {server: 'https://10.0.0.1:6443', x: [1, *a, ~]}\nusers:\n- name: u\n"
      "  user:\n    token: |\n      secret\n    exec: !!map\n      ? command\n      : x # y\n";
  for (size_t at = 0; at < text.size(); ++at) {
    (void)ParseYaml(text.substr(0, at));
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = text;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      (void)ParseYaml(changed);
    }
  }
}

class NoSink final : public ReflectorSink {
 public:
  void OnListBegin() override {}
  void OnListEnd() override {}
  void OnObject(Object) override {}
  void OnDeleted(const ObjectKey&, const std::string&) override {}
  void OnBadObject(const ObjectKey&, const absl::Status&) override {}
};

TEST(HostileInput, NeverKeepsAReflectorFromAskingAgain) {
  base::Random random(1);
  NoSink sink;
  Reflector reflector({Resource::kPods, ""}, sink, random);
  absl::Time now = absl::FromUnixSeconds(1000000);
  for (const std::string& text : AllRecordedTexts()) {
    for (size_t size = 0; size < text.size(); size += 10 * kStep) {
      const Reflector::Step step = reflector.Next(now);
      if (step.kind == Reflector::StepKind::kWait) now = step.until;
      ASSERT_LE(now - absl::FromUnixSeconds(1000000), absl::Hours(24));
      if (reflector.Next(now).kind == Reflector::StepKind::kList) {
        reflector.OnPage(size % 2 == 0 ? text : text.substr(0, size), now);
      } else {
        const absl::Status status = reflector.OnBytes(text.substr(0, size) + "\n", now);
        reflector.OnWatchEnd(status, now);
      }
    }
  }
}

}  // namespace
}  // namespace kube
