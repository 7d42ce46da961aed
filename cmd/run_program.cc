#include "cmd/run_program.h"

#include <sys/wait.h>

#include <cstdio>

namespace cmd {

Ran RunProgram(const std::string& command_line) {
  Ran ran;
  FILE* pipe = popen((command_line + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return ran;
  char buffer[4096];
  size_t read = 0;
  while ((read = fread(buffer, 1, sizeof(buffer), pipe)) > 0) ran.output.append(buffer, read);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) ran.status = WEXITSTATUS(status);
  return ran;
}

}  // namespace cmd
