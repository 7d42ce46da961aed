#include "kube/encoder.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
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
  void BeginListOfOne(absl::string_view name) {
    Key(name);
    writer_.StartArray();
    writer_.StartObject();
  }
  void EndListOfOne() {
    writer_.EndObject();
    writer_.EndArray();
  }

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

void WriteMetadata(const ObjectKey& key, const std::string& resource_version,
                   const Reporter& reporter, ObjectWriter& body) {
  body.Begin("metadata");
  body.String("name", key.name);
  body.String("namespace", key.ns);
  body.NonEmpty("resourceVersion", resource_version);
  body.Begin("labels");
  body.String("app.kubernetes.io/managed-by", reporter.controller);
  body.End();
  body.End();
}

// Members of `news` over those of `target`, object by object.
void Overlay(const rapidjson::Value& news, rapidjson::Value& target,
             rapidjson::Document::AllocatorType& allocator) {
  for (const auto& member : news.GetObject()) {
    const auto known = target.FindMember(member.name);
    if (known == target.MemberEnd()) {
      target.AddMember(rapidjson::Value(member.name, allocator),
                       rapidjson::Value(member.value, allocator), allocator);
    } else if (member.value.IsObject() && known->value.IsObject()) {
      Overlay(member.value, known->value, allocator);
    } else {
      known->value.CopyFrom(member.value, allocator);
    }
  }
}

// `body` with what `document` has beside it; `body` alone if that is no object.
std::string WithUnknownFields(const std::string& document, std::string body) {
  if (document.empty()) return body;
  auto whole = base::ParseJson(document, "as read");
  const auto news = base::ParseJson(body, "to be written");
  if (!whole.ok() || !news.ok() || !whole->IsObject()) return body;
  Overlay(*news, *whole, whole->GetAllocator());
  return base::WriteJson(*whole);
}

}  // namespace

std::string EncodeConfigMap(const ConfigMap& config_map, const Reporter& reporter) {
  ObjectWriter body;
  body.String("apiVersion", "v1");
  body.String("kind", "ConfigMap");
  WriteMetadata(config_map.key, config_map.resource_version, reporter, body);
  body.Begin("data");
  for (const auto& [key, value] : config_map.data) body.String(key, value);
  body.End();
  return std::move(body).Finish();
}

std::string EncodeLease(const Lease& lease, const Reporter& reporter) {
  ObjectWriter body;
  body.String("apiVersion", "coordination.k8s.io/v1");
  body.String("kind", "Lease");
  WriteMetadata(lease.key, lease.resource_version, reporter, body);
  body.Begin("spec");
  body.String("holderIdentity", lease.holder);
  if (lease.duration > absl::ZeroDuration()) {
    body.Int("leaseDurationSeconds", static_cast<int>(absl::ToInt64Seconds(lease.duration)));
  }
  if (lease.acquired != absl::InfiniteFuture()) body.Time("acquireTime", lease.acquired);
  if (lease.renewed != absl::InfiniteFuture()) body.Time("renewTime", lease.renewed);
  body.Int("leaseTransitions", lease.transitions);
  body.End();
  return WithUnknownFields(lease.document, std::move(body).Finish());
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

std::string EncodePodCondition(const PodCondition& condition) {
  ObjectWriter body;
  body.String("apiVersion", "v1");
  body.String("kind", "Pod");
  body.Begin("metadata");
  body.String("name", condition.pod.name);
  body.String("namespace", condition.pod.ns);
  body.String("uid", condition.uid);
  body.End();
  body.Begin("status");
  body.BeginListOfOne("conditions");
  body.String("type", condition.type);
  body.String("status", condition.status ? "True" : "False");
  body.String("reason", condition.reason);
  body.String("message", condition.message);
  body.String(
      "lastTransitionTime",
      absl::FormatTime("%E4Y-%m-%dT%H:%M:%SZ", condition.last_transition, absl::UTCTimeZone()));
  body.EndListOfOne();
  body.End();
  return std::move(body).Finish();
}

std::string FieldManagerOf(absl::string_view condition_type) {
  return absl::StrCat("oci-drain/", condition_type.substr(condition_type.rfind('/') + 1));
}

std::string EncodeEventSeries(int count, absl::Time last_observed) {
  ObjectWriter body;
  body.Begin("series");
  body.Int("count", count);
  body.Time("lastObservedTime", last_observed);
  body.End();
  return std::move(body).Finish();
}

std::string EncodeLabelRemoval(const std::string& uid, absl::string_view label) {
  return absl::StrCat("{\"metadata\":{\"uid\":", base::QuoteJson(uid), ",\"labels\":{",
                      base::QuoteJson(label), ":null}}}");
}

}  // namespace kube
