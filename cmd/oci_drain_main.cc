// oci-drain: the operator's tool beside oci-drain-controller.

#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cmd/command_line.h"
#include "cmd/live_commands.h"
#include "cmd/logging.h"
#include "cmd/plan_command.h"
#include "gflags/gflags.h"

DEFINE_string(snapshot, "",
              "plan: a JSON file with everything the plan rests on; nothing is asked");
DEFINE_string(output, "text",
              "plan: text for people, json for one object a line, snapshot for what it rests on");
DEFINE_string(load_balancer, "", "this OCID only; else every one that an IngressClass names");
DEFINE_string(sync_within, "1m", "give up if the cluster's objects are not read by then");
DEFINE_string(release_within, "10m", "release: give up if it is not done by then");

namespace {

constexpr char kProgram[] = "oci-drain";
constexpr int kBrokenInvariant = 1;

constexpr char kHelp[] = R"(oci-drain: what oci-drain-controller does, and why.

  oci-drain plan [--load_balancer=OCID]     what the controller would do now; writes nothing
  oci-drain plan --snapshot=FILE            the same from a file, without cluster or OCI
  oci-drain plan ... --output=json          the same for programs
  oci-drain plan ... --output=snapshot      what the plan rests on, to keep in a file
  oci-drain release [--load_balancer=OCID]  un-drain what was drained by the controller
                                            and lives, for uninstalling; stop it first

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

Exit status: 0 done, 1 the plan breaks an invariant (a bug of ours: please report it
with its snapshot), 2 called wrongly or unable to do it.

Flags:
)";

absl::Status Usage(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(what, "; see oci-drain --help"));
}

absl::StatusOr<cmd::LiveOptions> LiveOptionsFromFlags() {
  cmd::LiveOptions options;
  options.load_balancer = FLAGS_load_balancer;
  const auto output = cmd::ParsePlanOutput(FLAGS_output);
  if (!output.ok()) return output.status();
  options.output = *output;
  const auto patience = cmd::DurationFlag("sync_within", FLAGS_sync_within);
  if (!patience.ok()) return patience.status();
  options.patience = *patience;
  return options;
}

absl::Status Plan(const cmd::LiveOptions& options) {
  if (FLAGS_snapshot.empty()) return cmd::RunLivePlan(options, std::cout);
  const auto plan = cmd::PlanFromSnapshot(FLAGS_snapshot, options.output);
  if (plan.ok()) std::cout << *plan;
  return plan.status();
}

absl::Status Release(const cmd::LiveOptions& options) {
  const auto at_most = cmd::DurationFlag("release_within", FLAGS_release_within);
  if (!at_most.ok()) return at_most.status();
  return cmd::RunRelease(options, *at_most, std::cout, std::cerr);
}

struct Command {
  const char* name;
  absl::Status (*run)(const cmd::LiveOptions& options);
};
constexpr Command kCommands[] = {{"plan", Plan}, {"release", Release}};

absl::StatusOr<Command> FindCommand(const std::vector<std::string>& arguments) {
  const std::string names = absl::StrJoin(
      kCommands, ", ", [](std::string* out, const Command& command) { *out += command.name; });
  if (arguments.empty()) return Usage(absl::StrCat("which command? There are: ", names));
  for (const Command& command : kCommands) {
    if (arguments[0] != command.name) continue;
    if (arguments.size() == 1) return command;
    return Usage(absl::StrCat(command.name, ": ", arguments[1], ": takes flags only"));
  }
  return Usage(absl::StrCat(arguments[0], ": no such command; there are: ", names));
}

}  // namespace

int main(int argc, char** argv) {
  const auto line = cmd::ParseCommandLine(argc, argv);
  if (!line.ok()) return cmd::Complain(kProgram, line.status());
  if (line->help) {
    std::cout << kHelp << cmd::DescribeFlags({"cmd/"});
    return 0;
  }
  const auto command = FindCommand(line->arguments);
  if (!command.ok()) return cmd::Complain(kProgram, command.status());
  const auto options = LiveOptionsFromFlags();
  if (!options.ok()) return cmd::Complain(kProgram, options.status());
  // The answer is what counts here; --minloglevel=0 shows the controller's log.
  gflags::SetCommandLineOptionWithMode("minloglevel", "1", gflags::SET_FLAG_IF_DEFAULT);
  absl::Status status = cmd::StartLogging(kProgram);
  if (status.ok()) status = command->run(*options);
  if (status.ok()) return 0;
  const int usage_error = cmd::Complain(kProgram, status);
  return absl::IsInternal(status) ? kBrokenInvariant : usage_error;
}
