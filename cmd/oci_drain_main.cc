// oci-drain: the operator's tool beside oci-drain-controller.

#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cmd/calibrate_command.h"
#include "cmd/capacity_command.h"
#include "cmd/command_line.h"
#include "cmd/doctor_command.h"
#include "cmd/explain_command.h"
#include "cmd/live_commands.h"
#include "cmd/logging.h"
#include "cmd/plan_command.h"
#include "cmd/probe_command.h"
#include "cmd/settings_flags.h"
#include "cmd/status_command.h"
#include "cmd/version.h"
#include "gflags/gflags.h"

DEFINE_string(snapshot, "",
              "plan, explain: a JSON file with everything the plan rests on; nothing is asked");
DEFINE_string(address, "",
              "status, explain: HOST:PORT of the controller's health port (status: 127.0.0.1:8081; "
              "explain without it asks the cluster and OCI itself)");
DEFINE_string(ask_within, "10s", "status, explain: give up if the controller has not answered");
DEFINE_string(output, "text",
              "text for people, json for one object a line; plan: snapshot for what it rests on");
DEFINE_int32(in_use, -1,
             "capacity -f: backends that the load balancer has now, those of the manifests' Pods "
             "among them; -1: it has only those");
DEFINE_string(startup, "30s",
              "capacity -f, budget: how long a Pod takes from its creation to Ready");
DEFINE_string(load_balancer, "", "this OCID only; else every one that an IngressClass names");
DEFINE_string(sync_within, "1m", "give up if the cluster's objects are not read by then");
DEFINE_string(release_within, "10m", "release: give up if it is not done by then");

namespace {

constexpr char kProgram[] = "oci-drain";
constexpr int kBrokenInvariant = 1;
constexpr int kNotWell = 4;

constexpr char kHelp[] = R"(oci-drain: what oci-drain-controller does, and why.

  oci-drain plan [--load_balancer=OCID]     what the controller would do now; writes nothing
  oci-drain plan --snapshot=FILE            the same from a file, without cluster or OCI
  oci-drain plan ... --output=json          the same for programs
  oci-drain plan ... --output=snapshot      what the plan rests on, to keep in a file
  oci-drain capacity [--load_balancer=OCID] the slots of each backend set, in use and free
  oci-drain capacity -f FILE... [--in-use=N]  whether a rollout of these manifests fits
  oci-drain budget [--load_balancer=OCID]   the grace period and preStop hook that each
                                            Service needs, by measured work requests
  oci-drain status [--address=HOST:PORT]    what a running controller does: drains, slots,
                                            work requests, decisions, loops, the leader
  oci-drain explain pod NAMESPACE/NAME      which backend sets know the Pod, which rule
                                            holds on what facts, what was written when; by
                                            the cluster and OCI, or by a controller with
                                            --address=HOST:PORT, or with --snapshot=FILE
  oci-drain doctor [--load_balancer=OCID]   whether drains can work here: version, rights,
                                            identity, clocks, load balancers, Services;
                                            what is wrong, and how to mend it
  oci-drain calibrate --lb=OCID --backend_set=NAME --consent
                                            measures on a scratch load balancer what is not
                                            documented, and says which flags follow; it
                                            writes to that set and puts it back
  oci-drain release [--load_balancer=OCID]  un-drain what was drained by the controller
                                            and lives, for uninstalling; stop it first
  oci-drain probe URL --duration=D          keep-alive requests during a rollout: which
                                            failed, when, how, and after what
  oci-drain --version                       the version

The plan says for each backend which rule holds, what is written now, what waits and
until when, and what people are told:

  set bs_web
    10.0.0.1:8080 shop/web-a [routable]: its Pod is terminating (SIGKILL in 44s) -> drain
    10.0.0.2:8080 shop/web-b [routable]: its Pod is live
  write bs_web: UpdateBackend, drain, if-match etag

A snapshot is a photograph of one load balancer and of the Services that map to it.
A line "ask: Pod shop/web-a" is a fact that the plan needs first; put the answer into
the snapshot. testdata/drain/*.in.json in the source has an example for every rule,
and controller/snapshot.h describes the format. Change one fact in a copy and see how
the plan changes.

capacity -f forecasts a rollout of every Deployment and StatefulSet in the files (or in
the *.yaml of a folder), with an autoscaler's most replicas if one is among them:
terminating Pods keep their slot through their grace period, so that a rollout needs up
to twice its replicas. It says what would make it fit.

status and explain --address ask the health port (8081) of a controller, the leader's for
what is being drained: kubectl port-forward POD 8081, then oci-drain status. Only a
controller knows what it has written when; without one, explain tells the rest. Colours
are for terminals, and not with NO_COLOR.

probe makes a control run, which must be clean, and then the run in which you roll out.
It ends by --duration or --requests, one of which must be there. With
--watch=NAMESPACE/SERVICE or --marks=FILE each failure is lined up with what had happened
to the Pods; docs/probe.md tells more. Its exit status: 0 no request failed, 1 one did,
3 one did in the control run, 4 only the probe itself failed (no local port, no file
descriptor), 130 interrupted.

Exit status: 0 done, 1 the plan breaks an invariant (a bug of ours: please report it
with its snapshot), 2 called wrongly or unable to do it, 3 a rollout would not fit,
4 status: the controller is not ready, stuck or late with a drain; explain: no backend
set knows the Pod; doctor: there is a problem (a warning is none); calibrate: it ended
early, or something is left behind. 130 calibrate, interrupted and put back.

Flags:
)";

absl::Status Usage(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(what, "; see oci-drain --help"));
}

absl::StatusOr<cmd::LiveOptions> LiveOptionsFromFlags() {
  cmd::LiveOptions options;
  options.load_balancer = FLAGS_load_balancer;
  const auto patience = cmd::DurationFlag("sync_within", FLAGS_sync_within);
  if (!patience.ok()) return patience.status();
  options.patience = *patience;
  return options;
}

// What a command is called with, beside flags.
struct Call {
  cmd::LiveOptions options;
  std::vector<std::string> files;
  std::vector<std::string> arguments;  // behind the command's name
};

bool IsTerminal() { return isatty(STDOUT_FILENO) == 1; }

bool WantsNoColor() {
  const char* no_color = std::getenv("NO_COLOR");
  return no_color != nullptr && *no_color != '\0';
}

// Each answers the exit status.
absl::StatusOr<int> Plan(const Call& call) {
  const auto output = cmd::ParsePlanOutput(FLAGS_output);
  if (!output.ok()) return output.status();
  cmd::LiveOptions options = call.options;
  options.output = *output;
  if (FLAGS_snapshot.empty()) {
    const absl::Status status = cmd::RunLivePlan(options, std::cout);
    if (!status.ok()) return status;
    return 0;
  }
  const auto plan = cmd::PlanFromSnapshot(FLAGS_snapshot, *output);
  if (!plan.ok()) return plan.status();
  std::cout << *plan;
  return 0;
}

absl::StatusOr<int> Budget(const Call& call) {
  const auto startup = cmd::DurationFlag("startup", FLAGS_startup);
  if (!startup.ok()) return startup.status();
  const absl::Status status = cmd::RunLiveBudget(call.options, *startup, std::cout);
  if (!status.ok()) return status;
  return 0;
}

absl::StatusOr<int> Doctor(const Call& call) {
  const auto style = cmd::ParseDiagnosisStyle(FLAGS_output, IsTerminal(), WantsNoColor());
  if (!style.ok()) return style.status();
  std::ostream* const progress = isatty(STDERR_FILENO) == 1 ? &std::cerr : nullptr;
  const auto well = cmd::RunDoctor(call.options, *style, std::cout, progress);
  if (!well.ok()) return well.status();
  return *well ? 0 : kNotWell;
}

absl::StatusOr<int> Calibrate(const Call&) { return cmd::RunCalibrate(FLAGS_output); }

absl::StatusOr<int> Release(const Call& call) {
  const auto at_most = cmd::DurationFlag("release_within", FLAGS_release_within);
  if (!at_most.ok()) return at_most.status();
  const absl::Status status = cmd::RunRelease(call.options, *at_most, std::cout, std::cerr);
  if (!status.ok()) return status;
  return 0;
}

absl::StatusOr<int> LiveCapacity(const Call& call, cmd::CapacityStyle style) {
  if (FLAGS_in_use != -1) return Usage("--in_use: is for capacity -f FILE");
  const auto fits = cmd::RunLiveCapacity(call.options, style, std::cout);
  if (!fits.ok()) return fits.status();
  return *fits ? 0 : cmd::kDoesNotFit;
}

absl::StatusOr<int> Capacity(const Call& call) {
  const auto style = cmd::ParseCapacityStyle(FLAGS_output, IsTerminal(), WantsNoColor());
  if (!style.ok()) return style.status();
  if (call.files.empty()) return LiveCapacity(call, *style);
  if (FLAGS_in_use < -1) return Usage(absl::StrCat("--in_use=", FLAGS_in_use, ": below 0"));
  const auto settings = cmd::SettingsFromFlags();
  if (!settings.ok()) return settings.status();
  const auto startup = cmd::DurationFlag("startup", FLAGS_startup);
  if (!startup.ok()) return startup.status();
  auto manifests = cmd::ReadManifestFiles(call.files);
  if (!manifests.ok()) return manifests.status();
  cmd::CapacityQuestion question;
  question.manifests = *std::move(manifests);
  if (FLAGS_in_use >= 0) question.in_use = FLAGS_in_use;
  question.limits.backends_per_set = settings->plan.max_backends_per_set;
  question.limits.backends_per_load_balancer = settings->plan.max_backends_per_load_balancer;
  question.times.startup = *startup;
  const auto report = cmd::MakeCapacityReport(question);
  if (!report.ok()) return cmd::Prefixed(absl::StrJoin(call.files, " "), report.status());
  std::cout << cmd::FormatCapacity(*report, *style);
  return report->fits ? 0 : cmd::kDoesNotFit;
}

absl::StatusOr<int> Status(const Call&) {
  const auto style = cmd::ParseStatusStyle(FLAGS_output, IsTerminal(), WantsNoColor());
  if (!style.ok()) return style.status();
  const auto patience = cmd::DurationFlag("ask_within", FLAGS_ask_within);
  if (!patience.ok()) return patience.status();
  const std::string address = FLAGS_address.empty() ? "127.0.0.1:8081" : FLAGS_address;
  const auto json = cmd::AskController(address, "/statusz.json", *patience);
  if (!json.ok()) return json.status();
  const auto text = cmd::FormatStatus(*json, *style);
  if (!text.ok()) return cmd::Prefixed(address, text.status());
  std::cout << *text;
  const auto good = cmd::IsStatusGood(*json);
  if (!good.ok()) return good.status();
  return *good ? 0 : kNotWell;
}

absl::StatusOr<std::string> Explanation(const Call& call, const kube::ObjectKey& pod, bool json) {
  if (!FLAGS_snapshot.empty()) return cmd::ExplainFromSnapshot(FLAGS_snapshot, pod, json);
  if (FLAGS_address.empty()) return cmd::ExplainLivePod(call.options, pod, json);
  const auto patience = cmd::DurationFlag("ask_within", FLAGS_ask_within);
  if (!patience.ok()) return patience.status();
  const std::string target = absl::StrCat("/explainz/", pod.ToString(), json ? "?output=json" : "");
  return cmd::AskController(FLAGS_address, target, *patience);
}

absl::StatusOr<int> Explain(const Call& call) {
  if (call.arguments.size() != 2 || call.arguments[0] != "pod") {
    return Usage("explain: expected pod NAMESPACE/NAME");
  }
  if (!FLAGS_snapshot.empty() && !FLAGS_address.empty()) {
    return Usage("explain: --snapshot and --address: only one of them");
  }
  // The values of --output are the same.
  const auto style = cmd::ParseStatusStyle(FLAGS_output, false, true);
  if (!style.ok()) return style.status();
  const auto pod = controller::ParsePodName(call.arguments[1]);
  if (!pod.ok()) return cmd::Prefixed("explain pod", pod.status());
  const auto text = Explanation(call, *pod, *style == cmd::StatusStyle::kJson);
  if (absl::IsNotFound(text.status())) {
    cmd::Complain(kProgram, text.status());
    return kNotWell;
  }
  if (!text.ok()) return text.status();
  std::cout << *text;
  return 0;
}

absl::StatusOr<int> Probe(const Call& call) {
  return cmd::RunProbe(call.arguments[0], FLAGS_output);
}

// What may stand behind a command's name.
enum class Takes { kFlags, kFiles, kUrl, kArguments };

struct Command {
  const char* name;
  Takes takes;
  absl::StatusOr<int> (*run)(const Call& call);
};
constexpr Command kCommands[] = {
    {"plan", Takes::kFlags, Plan},           {"capacity", Takes::kFiles, Capacity},
    {"budget", Takes::kFlags, Budget},       {"status", Takes::kFlags, Status},
    {"explain", Takes::kArguments, Explain}, {"release", Takes::kFlags, Release},
    {"probe", Takes::kUrl, Probe},           {"doctor", Takes::kFlags, Doctor},
    {"calibrate", Takes::kFlags, Calibrate}};

// The files of a command that takes some: each after its own -f, or several after one.
absl::StatusOr<Command> FindCommand(cmd::CommandLine& line) {
  const std::string names = absl::StrJoin(
      kCommands, ", ", [](std::string* out, const Command& command) { *out += command.name; });
  const std::vector<std::string>& arguments = line.arguments;
  if (arguments.empty()) return Usage(absl::StrCat("which command? There are: ", names));
  for (const Command& command : kCommands) {
    if (arguments[0] != command.name) continue;
    const bool plain = line.files.empty();
    if (command.takes == Takes::kUrl) {
      if (plain && arguments.size() == 2) return command;
      return Usage(absl::StrCat(command.name, ": takes one URL, and flags"));
    }
    if (command.takes == Takes::kArguments && plain) return command;
    if (command.takes == Takes::kFiles && !plain) {
      line.files.insert(line.files.end(), arguments.begin() + 1, arguments.end());
      return command;
    }
    if (arguments.size() > 1) {
      return Usage(absl::StrCat(command.name, ": ", arguments[1], ": takes flags only"));
    }
    if (plain) return command;
    return Usage(absl::StrCat(command.name, ": takes no -f"));
  }
  return Usage(absl::StrCat(arguments[0], ": no such command; there are: ", names));
}

}  // namespace

int main(int argc, char** argv) {
  auto line = cmd::ParseCommandLine(argc, argv);
  if (!line.ok()) return cmd::Complain(kProgram, line.status());
  if (line->help) {
    std::cout << kHelp << cmd::DescribeFlags({"cmd/"});
    return 0;
  }
  if (line->version) {
    std::cout << kProgram << " " << cmd::Version() << "\n";
    return 0;
  }
  const auto command = FindCommand(*line);
  if (!command.ok()) return cmd::Complain(kProgram, command.status());
  const auto options = LiveOptionsFromFlags();
  if (!options.ok()) return cmd::Complain(kProgram, options.status());
  // The answer is what counts here; --minloglevel=0 shows the controller's log.
  gflags::SetCommandLineOptionWithMode("minloglevel", "1", gflags::SET_FLAG_IF_DEFAULT);
  const absl::Status logging = cmd::StartLogging(kProgram);
  if (!logging.ok()) return cmd::Complain(kProgram, logging);
  const std::vector<std::string> behind(line->arguments.begin() + 1, line->arguments.end());
  const absl::StatusOr<int> status = command->run({*options, line->files, behind});
  if (status.ok()) return *status;
  const int usage_error = cmd::Complain(kProgram, status.status());
  return absl::IsInternal(status.status()) ? kBrokenInvariant : usage_error;
}
