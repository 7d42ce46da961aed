#include "sim/demo_options.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace sim {
namespace {

absl::Status Expected(absl::string_view name, absl::string_view value, absl::string_view allowed) {
  return absl::InvalidArgumentError(absl::StrCat(name, "=", value, ": expected ", allowed));
}

absl::Status SetRival(const std::string& value, DemoOptions& options) {
  if (value == "unmodified") {
    options.rival = RivalVariant::kUnmodified;
  } else if (value == "drops-cache") {
    options.rival = RivalVariant::kDropsCacheOnConflict;
  } else if (value == "drains") {
    options.rival = RivalVariant::kDrainsByItself;
  } else {
    return Expected("--rival", value, "unmodified, drops-cache or drains");
  }
  return absl::OkStatus();
}

absl::Status SetEtag(const std::string& value, DemoOptions& options) {
  if (value == "acceptance") {
    options.etag = EtagMoves::kAtAcceptance;
  } else if (value == "completion") {
    options.etag = EtagMoves::kAtCompletion;
  } else if (value == "both") {
    options.etag = EtagMoves::kBoth;
  } else {
    return Expected("--etag", value, "acceptance, completion or both");
  }
  return absl::OkStatus();
}

absl::Status SetServiceTime(const std::string& value, DemoOptions& options) {
  const auto range = ParseDurationRange(value);
  if (!range.ok()) return Expected("--service_time", value, "10s, or a range such as 6s-14s");
  options.service_time = *range;
  return absl::OkStatus();
}

absl::Status SetFlag(const std::string& name, const std::string& value, DemoOptions& options) {
  if (name == "--seed") {
    if (absl::SimpleAtoi(value, &options.seed)) return absl::OkStatus();
    return Expected(name, value, "a whole number");
  }
  if (name == "--patience") {
    if (absl::ParseDuration(value, &options.patience) && options.patience > absl::ZeroDuration() &&
        options.patience <= absl::Hours(1)) {
      return absl::OkStatus();
    }
    return Expected(name, value, "a duration such as 100s, at most 1h");
  }
  if (name == "--rival") return SetRival(value, options);
  if (name == "--etag") return SetEtag(value, options);
  if (name == "--service_time") return SetServiceTime(value, options);
  std::string* text = name == "--controller"  ? &options.controller
                      : name == "--manifests" ? &options.manifests
                      : name == "--logs"      ? &options.logs
                                              : nullptr;
  if (text == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": no such flag; see --help"));
  }
  if (value.empty()) return Expected(name, value, "a path");
  *text = value;
  return absl::OkStatus();
}

}  // namespace

const absl::string_view kDemoHelp =
    R"(demo: a rolling update behind a load balancer, without and with the controller.

Five worlds run side by side, each with a Kubernetes API server, the controllers
and nodes of a cluster, an OCI load balancer and the writer of the native ingress
controller (NIC), all simulated and over HTTP on 127.0.0.1, at the pace of the
clock. oci-drain-controller is the real program. The Deployment of testdata/demo
(10 replicas, maxSurge 3, maxUnavailable 0, 45 s of grace) gets a new image; the
timeline of the run with the controller is shown as it happens, and at the end
what became of the backends in each world and which promises were kept.

  ./demo                     under two minutes
  ./demo --seed=7            other work-request times, NIC at another moment of its
                             10 s tick and of the 60 s for which it keeps a copy
  ./demo --json | tail -n 1  the figures as one JSON object, the timeline on stderr

usage: ./demo [FLAG...]

  --json                     print one JSON object as the last line
  --seed=N                   of all that is drawn by lot (1)
  --rival=VARIANT            NIC as it is: unmodified; drops-cache: it reads again
                             after a refusal; drains: it drains by itself
                             (unmodified)
  --service_time=MIN-MAX     how long a work request takes (6s-14s)
  --etag=WHEN                when a write moves the load balancer's ETag:
                             acceptance, completion or both (both)
  --controller=FILE          the controller program (the one built with the demo)
  --manifests=FOLDER         in place of testdata/demo
  --patience=DURATION        the longest rollout that is waited for (100s)
  --logs=FOLDER              keep every run's logs in this folder; without it they
                             are kept, and named, only if something went wrong
  --help                     this text

NO_COLOR=1 leaves the colours out. Exit status: 0 every promise kept, 1 one was
not (the last lines say which), 2 called wrongly or not able to begin, 130
interrupted.
)";

absl::StatusOr<DemoOptions> ParseDemoOptions(const std::vector<std::string>& arguments) {
  DemoOptions options;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--help" || argument == "-h") {
      options.help = true;
      continue;
    }
    if (argument == "--json") {
      options.json = true;
      continue;
    }
    std::pair<std::string, std::string> flag = absl::StrSplit(argument, absl::MaxSplits('=', 1));
    if (argument.size() < 3 || argument.substr(0, 2) != "--") {
      return absl::InvalidArgumentError(absl::StrCat("'", argument, "' is not a flag; see --help"));
    }
    if (argument.find('=') == std::string::npos && i + 1 < arguments.size()) {
      flag.second = arguments[++i];
    }
    const absl::Status status = SetFlag(flag.first, flag.second, options);
    if (!status.ok()) return status;
  }
  return options;
}

}  // namespace sim
