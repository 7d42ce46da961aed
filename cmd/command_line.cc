#include "cmd/command_line.h"

#include <algorithm>
#include <iostream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "gflags/gflags.h"

namespace cmd {
namespace {

using gflags::CommandLineFlagInfo;

bool Find(absl::string_view name, CommandLineFlagInfo* info) {
  return gflags::GetCommandLineFlagInfo(std::string(name).c_str(), info);
}

absl::Status Set(const std::string& name, const std::string& value) {
  CommandLineFlagInfo info;
  if (!gflags::SetCommandLineOption(name.c_str(), value.c_str()).empty()) return absl::OkStatus();
  Find(name, &info);
  return absl::InvalidArgumentError(
      absl::StrCat("--", name, "=", value, ": not a ", info.type, " (", info.description, ")"));
}

// Handles the flag at argv[*index] and steps over a value that follows it.
absl::Status TakeFlag(int argc, char** argv, int* index) {
  absl::string_view text = argv[*index];
  if (!absl::ConsumePrefix(&text, "--")) absl::ConsumePrefix(&text, "-");
  const size_t equals = text.find('=');
  const std::string name = absl::StrReplaceAll(text.substr(0, equals), {{"-", "_"}});
  CommandLineFlagInfo info;
  if (Find(name, &info)) {
    if (equals != absl::string_view::npos) return Set(name, std::string(text.substr(equals + 1)));
    if (info.type == "bool") return Set(name, "true");
    if (*index + 1 >= argc) {
      return absl::InvalidArgumentError(absl::StrCat("--", name, ": a value must follow"));
    }
    return Set(name, argv[++*index]);
  }
  absl::string_view negated = name;
  if (equals == absl::string_view::npos && absl::ConsumePrefix(&negated, "no") &&
      Find(negated, &info) && info.type == "bool") {
    return Set(std::string(negated), "false");
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--", text.substr(0, equals), ": no such flag; --help lists them"));
}

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(int argc, char** argv) {
  CommandLine line;
  for (int i = 1; i < argc; ++i) {
    const absl::string_view text = argv[i];
    if (text == "--") {
      line.arguments.insert(line.arguments.end(), argv + i + 1, argv + argc);
      break;
    }
    if (text == "--help" || text == "-h" || text == "-help") {
      line.help = true;
    } else if (text == "--version") {
      line.version = true;
    } else if (text == "-f") {
      if (++i == argc) return absl::InvalidArgumentError("-f: a file must follow");
      line.files.emplace_back(argv[i]);
    } else if (text.size() > 1 && text[0] == '-') {
      const absl::Status status = TakeFlag(argc, argv, &i);
      if (!status.ok()) return status;
    } else {
      line.arguments.emplace_back(text);
    }
  }
  return line;
}

std::string DescribeFlags(const std::vector<std::string>& files) {
  std::vector<CommandLineFlagInfo> flags;
  gflags::GetAllFlags(&flags);
  std::sort(flags.begin(), flags.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  std::string text;
  for (const CommandLineFlagInfo& flag : flags) {
    const bool ours = std::any_of(files.begin(), files.end(), [&](const std::string& file) {
      return absl::StrContains(flag.filename, file);
    });
    if (!ours) continue;
    absl::StrAppend(&text, "  --", flag.name, flag.type == "bool" ? "" : "=VALUE", "\n      ",
                    flag.description);
    if (!flag.default_value.empty()) absl::StrAppend(&text, " (default ", flag.default_value, ")");
    absl::StrAppend(&text, "\n");
  }
  return text;
}

absl::StatusOr<absl::Duration> DurationFlag(absl::string_view name, const std::string& text) {
  absl::Duration duration;
  if (!absl::ParseDuration(text, &duration) || duration < absl::ZeroDuration() ||
      duration > absl::Hours(24)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", name, "=", text, ": expected a duration such as 200ms, 10s or 1m30s"));
  }
  return duration;
}

absl::Status Prefixed(absl::string_view what, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(what, ": ", status.message()));
}

int Complain(absl::string_view program, const absl::Status& status) {
  std::cerr << program << ": " << status.message() << "\n";
  return kUsageError;
}

}  // namespace cmd
