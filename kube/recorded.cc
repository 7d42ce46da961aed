#include "kube/recorded.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "base/json.h"

namespace kube {
namespace {

constexpr char kFolder[] = "testdata/kube-1.36";

[[noreturn]] void Die(const std::string& why) {
  std::cerr << why << "\n";
  std::abort();
}

}  // namespace

Recorded ReadRecorded(const std::string& name) {
  const std::string path = std::string(kFolder) + "/" + name + ".json";
  std::ifstream file(path);
  if (!file) Die("cannot read " + path);
  std::stringstream text;
  text << file.rdbuf();
  const auto document = base::ParseJson(text.str(), path);
  if (!document.ok()) Die(std::string(document.status().message()));
  const rapidjson::Value& request = (*document)["request"];
  const rapidjson::Value& response = (*document)["response"];
  Recorded recorded;
  recorded.method = request["method"].GetString();
  recorded.path = request["path"].GetString();
  recorded.accept = base::ReadString(request["headers"], "Accept").value_or("");
  recorded.content_type = base::ReadString(request["headers"], "Content-Type").value_or("");
  recorded.request_body = base::WriteJson(request["body"]);
  recorded.status = response["status"].GetInt();
  recorded.body = base::WriteJson(response["body"]);
  if (response["body"].IsArray()) {
    for (const rapidjson::Value& event : response["body"].GetArray()) {
      recorded.lines.push_back(base::WriteJson(event));
    }
  }
  return recorded;
}

std::vector<std::string> RecordedNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  if (names.empty()) Die(std::string("nothing in ") + kFolder);
  return names;
}

}  // namespace kube
