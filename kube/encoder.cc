#include "kube/encoder.h"

#include "absl/strings/string_view.h"
#include "kube/http_status.h"
#include "rapidjson/stringbuffer.h"
#include "rapidjson/writer.h"

namespace kube {
namespace {

constexpr size_t kMaxNoteBytes = 1024;
constexpr size_t kMaxWordBytes = 128;

// Members of one object, in the order of the calls.
class ObjectWriter {
 public:
  ObjectWriter() : writer_(buffer_) { writer_.StartObject(); }

  void String(absl::string_view name, absl::string_view value) {
    Key(name);
    writer_.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  }
  void NonEmpty(absl::string_view name, absl::string_view value) {
    if (!value.empty()) String(name, value);
  }
  void Int(absl::string_view name, int value) {
    Key(name);
    writer_.Int(value);
  }
  // Kubernetes' MicroTime.
  void Time(absl::string_view name, absl::Time time) {
    String(name, absl::FormatTime("%E4Y-%m-%dT%H:%M:%E6SZ", time, absl::UTCTimeZone()));
  }
  void Begin(absl::string_view name) {
    Key(name);
    writer_.StartObject();
  }
  void End() { writer_.EndObject(); }

  std::string Finish() && {
    writer_.EndObject();
    return {buffer_.GetString(), buffer_.GetSize()};
  }

 private:
  void Key(absl::string_view name) {
    writer_.Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
  }

  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> writer_;
};

}  // namespace

std::string EncodeConfigMap(const ConfigMap& config_map, const Reporter& reporter) {
  ObjectWriter body;
  body.String("apiVersion", "v1");
  body.String("kind", "ConfigMap");
  body.Begin("metadata");
  body.String("name", config_map.key.name);
  body.String("namespace", config_map.key.ns);
  body.NonEmpty("resourceVersion", config_map.resource_version);
  body.Begin("labels");
  body.String("app.kubernetes.io/managed-by", reporter.controller);
  body.End();
  body.End();
  body.Begin("data");
  for (const auto& [key, value] : config_map.data) body.String(key, value);
  body.End();
  return std::move(body).Finish();
}

std::string EncodeEvent(const Event& event, const Reporter& reporter) {
  const absl::string_view reason = ClipUtf8(event.reason, kMaxWordBytes);
  const absl::string_view action = ClipUtf8(event.action, kMaxWordBytes);
  ObjectWriter body;
  body.String("apiVersion", "events.k8s.io/v1");
  body.String("kind", "Event");
  body.Begin("metadata");
  body.String("name", event.key.name);
  body.String("namespace", event.key.ns);
  body.End();
  body.Time("eventTime", event.event_time);
  body.String("reportingController", reporter.controller);
  body.String("reportingInstance", ClipUtf8(reporter.instance, kMaxWordBytes));
  body.String("action", action.empty() ? reason : action);
  body.String("reason", reason);
  body.String("type", event.type);
  body.String("note", ClipUtf8(event.note, kMaxNoteBytes));
  body.Begin("regarding");
  body.NonEmpty("apiVersion", event.regarding.api_version);
  body.String("kind", event.regarding.kind);
  body.NonEmpty("namespace", event.regarding.key.ns);
  body.String("name", event.regarding.key.name);
  body.NonEmpty("uid", event.regarding.uid);
  body.End();
  return std::move(body).Finish();
}

std::string EncodeEventSeries(int count, absl::Time last_observed) {
  ObjectWriter body;
  body.Begin("series");
  body.Int("count", count);
  body.Time("lastObservedTime", last_observed);
  body.End();
  return std::move(body).Finish();
}

}  // namespace kube
