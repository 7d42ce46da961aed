// A fake cluster in virtual time for tests.
#ifndef OCI_BACKEND_DRAIN_SIM_KUBE_TEST_WORLD_H_
#define OCI_BACKEND_DRAIN_SIM_KUBE_TEST_WORLD_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "sim/controllers.h"
#include "sim/fake_api_server.h"
#include "sim/json_tree.h"
#include "sim/yaml_manifests.h"

namespace sim {

struct KubeTestWorld {
  explicit KubeTestWorld(ControllersOptions options = {}) : controllers(server, options) {}

  // Runs until `duration` has passed.
  void RunFor(absl::Duration duration) {
    const absl::Time end = now + duration;
    RunUntil(end, [] { return false; });
    now = end;
    controllers.Step(now);
  }

  // Runs until `done`, at most to `end`; false if that came first.
  bool RunUntil(absl::Time end, const std::function<bool()>& done) {
    for (;;) {
      const absl::Time next = controllers.Step(now);
      if (done()) return true;
      if (next > end) return false;
      now = next;
    }
  }

  void Apply(absl::string_view yaml) {
    const auto manifests = ParseManifests(yaml, "test");
    ASSERT_TRUE(manifests.ok()) << manifests.status();
    for (const JsonTree& manifest : *manifests) {
      const KubeResult result = server.ApplyManifest(manifest, now);
      ASSERT_TRUE(result.ok()) << result.error->message;
    }
  }

  void ApplyFiles(const std::string& path) {
    const auto manifests = ReadManifests(path);
    ASSERT_TRUE(manifests.ok()) << manifests.status();
    ASSERT_FALSE(manifests->empty());
    for (const JsonTree& manifest : *manifests) {
      const KubeResult result = server.ApplyManifest(manifest, now);
      ASSERT_TRUE(result.ok()) << result.error->message;
    }
  }

  http::Response Send(const std::string& method, const std::string& target,
                      const std::string& body = "", const std::string& type = "application/json") {
    return server
        .Handle({.method = method,
                 .target = target,
                 .headers = {{"User-Agent", "test/1"}, {"Content-Type", type}},
                 .body = body},
                now)
        .response;
  }

  JsonTree Get(const std::string& target) {
    const auto tree = JsonTree::Parse(Send("GET", target).body, target);
    EXPECT_TRUE(tree.ok()) << tree.status();
    return tree.ok() ? *tree : JsonTree();
  }

  // Of one namespace, by name.
  std::vector<JsonTree> Pods(const std::string& ns) {
    return Get("/api/v1/namespaces/" + ns + "/pods")["items"].items();
  }

  FakeApiServer server;
  Controllers controllers;
  absl::Time now = absl::FromUnixSeconds(1796000000);
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_KUBE_TEST_WORLD_H_
