#include "controller/packed_pass.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace controller {
namespace {

// Texts of one kind follow each other: those of Pods of one set begin alike, and what
// two fields say of the same Pod is the same.
enum Column { kAddress, kNamespace, kName, kUid, kSet, kOther, kColumns };
using LastTexts = std::array<std::string, kColumns>;

// Of a duration, before its nanoseconds.
enum Length : uint64_t { kEndless, kEndlessBefore, kSeconds };

uint64_t ZigZag(int64_t number) {
  return static_cast<uint64_t>(number) << 1 ^ static_cast<uint64_t>(number >> 63);
}
int64_t UnZigZag(uint64_t number) {
  return static_cast<int64_t>(number >> 1) ^ -static_cast<int64_t>(number & 1);
}

// Writes the fields that it is shown.
class Packer {
 public:
  void Number(uint64_t number) {
    for (; number >= 0x80; number >>= 7) out_.push_back(static_cast<char>(number | 0x80));
    out_.push_back(static_cast<char>(number));
  }
  // How far it begins like the last one of its column, and what follows.
  void Text(Column column, const std::string& text) {
    std::string& last = last_[column];
    const size_t most = std::min(last.size(), text.size());
    size_t same = 0;
    while (same < most && last[same] == text[same]) ++same;
    Number(same);
    Number(text.size() - same);
    out_.append(text, same, std::string::npos);
    last = text;
  }
  template <typename Tag>
  void Text(Column column, const base::StrongString<Tag>& text) {
    Text(column, text.value());
  }
  // A boolean, an int or an enumeration.
  template <typename T>
  void Value(const T& value) {
    Number(ZigZag(static_cast<int64_t>(value)));
  }
  void Value(const absl::Duration& duration) {
    if (duration == absl::InfiniteDuration()) return Number(kEndless);
    if (duration == -absl::InfiniteDuration()) return Number(kEndlessBefore);
    absl::Duration rest;
    Number(kSeconds + ZigZag(absl::IDivDuration(duration, absl::Seconds(1), &rest)));
    Number(ZigZag(absl::ToInt64Nanoseconds(rest)));
  }
  void Value(const absl::Time& time) { Value(time - absl::UnixEpoch()); }
  template <typename T, typename Code>
  void Each(const std::vector<T>& items, const Code& code) {
    Number(items.size());
    for (const T& item : items) code(*this, item);
  }

  std::string Take() {
    out_.shrink_to_fit();
    return std::move(out_);
  }

 private:
  std::string out_;
  LastTexts last_;
};

// Reads the fields that it is shown, in the same order.
class Unpacker {
 public:
  explicit Unpacker(absl::string_view in) : in_(in) {}

  uint64_t Number() {
    uint64_t number = 0;
    for (int shift = 0; at_ < in_.size() && shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(in_[at_++]);
      number |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return number;
  }
  void Text(Column column, std::string& text) {
    std::string& last = last_[column];
    last.resize(std::min<size_t>(Number(), last.size()));
    const auto more = static_cast<size_t>(Number());
    const absl::string_view rest = in_.substr(at_, more);
    last.append(rest.data(), rest.size());
    at_ += rest.size();
    text = last;
  }
  template <typename Tag>
  void Text(Column column, base::StrongString<Tag>& text) {
    std::string plain;
    Text(column, plain);
    text = base::StrongString<Tag>(std::move(plain));
  }
  template <typename T>
  void Value(T& value) {
    value = static_cast<T>(UnZigZag(Number()));
  }
  void Value(absl::Duration& duration) {
    const uint64_t length = Number();
    duration = length == kEndless ? absl::InfiniteDuration() : -absl::InfiniteDuration();
    if (length < kSeconds) return;
    duration = absl::Seconds(UnZigZag(length - kSeconds));
    duration += absl::Nanoseconds(UnZigZag(Number()));
  }
  void Value(absl::Time& time) {
    absl::Duration since;
    Value(since);
    time = absl::UnixEpoch() + since;
  }
  template <typename T, typename Code>
  void Each(std::vector<T>& items, const Code& code) {
    // Each takes a byte at least.
    items.resize(std::min<size_t>(Number(), in_.size() - at_));
    for (T& item : items) code(*this, item);
  }

 private:
  absl::string_view in_;
  size_t at_ = 0;
  LastTexts last_;
};

// Below, `Shown` is what a Packer reads or an Unpacker writes: the one list of fields
// serves both.

struct CodeLookup {
  template <typename Coder, typename Shown>
  void operator()(Coder& coder, Shown& lookup) const {
    coder.Value(lookup.state);
    if (lookup.state == drain::LookupState::kNotAsked) return;
    coder.Text(kUid, lookup.uid);
    coder.Each(lookup.pod_ips, [](auto& within, auto& ip) { within.Text(kAddress, ip); });
    coder.Text(kOther, lookup.phase);
    coder.Value(lookup.disruption_target);
    coder.Value(lookup.gated);
    coder.Value(lookup.gate_true);
    coder.Value(lookup.deletion_timestamp);
    coder.Value(lookup.deletion_grace);
  }
};

struct CodeEndpoint {
  template <typename Coder, typename Shown>
  void operator()(Coder& coder, Shown& endpoint) const {
    coder.Text(kAddress, endpoint.backend);
    coder.Text(kAddress, endpoint.ip);
    coder.Value(endpoint.port);
    coder.Text(kNamespace, endpoint.pod.ns);
    coder.Text(kName, endpoint.pod.name);
    coder.Text(kUid, endpoint.uid);
    coder.Value(endpoint.serving);
    coder.Value(endpoint.terminating);
    coder.Text(kUid, endpoint.cached_uid);
    coder.Value(endpoint.deletion_timestamp);
    coder.Value(endpoint.deletion_grace);
    coder.Value(endpoint.workload);
    CodeLookup()(coder, endpoint.lookup);
  }
};

struct CodeDecision {
  template <typename Coder, typename Shown>
  void operator()(Coder& coder, Shown& decision) const {
    coder.Text(kSet, decision.key.set);
    coder.Text(kAddress, decision.key.backend);
    coder.Text(kNamespace, decision.pod.ns);
    coder.Text(kName, decision.pod.name);
    coder.Text(kUid, decision.pod_uid);
    coder.Value(decision.rule);
    coder.Value(decision.in_set);
    coder.Value(decision.drained);
    coder.Value(decision.want_drained);
    coder.Value(decision.want_offline);
    coder.Value(decision.hold);
    coder.Value(decision.until);
    coder.Value(decision.deadline);
  }
};

template <typename Coder, typename Shown>
void CodePass(Coder& coder, Shown& pass) {
  for (auto& set : pass.input.sets) coder.Each(set.endpoints, CodeEndpoint());
  coder.Each(pass.plan.decisions, CodeDecision());
}

}  // namespace

PackedPass::PackedPass(Preview pass) {
  Packer packer;
  CodePass(packer, std::as_const(pass));
  packed_ = packer.Take();
  rest_.input.now = pass.input.now;
  rest_.input.load_balancer = std::move(pass.input.load_balancer);
  // What AllDecisions goes by.
  rest_.input.paused = pass.input.paused;
  rest_.input.options = pass.input.options;
  rest_.plan.questions = std::move(pass.plan.questions);
  rest_.input.read = std::move(pass.input.read);
  for (drain::SetInput& set : pass.input.sets) {
    std::vector<drain::Endpoint>().swap(set.endpoints);
    set.membership.reset();
  }
  rest_.input.sets = std::move(pass.input.sets);
  rest_.plan.ledger = std::move(pass.plan.ledger);
  rest_.plan.acknowledgements = std::move(pass.plan.acknowledgements);
  rest_.plan.gates = std::move(pass.plan.gates);
}

Preview PackedPass::Unpack() const {
  Preview pass = rest_;
  Unpacker unpacker(packed_);
  CodePass(unpacker, pass);
  return pass;
}

}  // namespace controller
