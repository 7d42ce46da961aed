// Runs a program of this folder as a user does, for tests.
#ifndef OCI_BACKEND_DRAIN_CMD_RUN_PROGRAM_H_
#define OCI_BACKEND_DRAIN_CMD_RUN_PROGRAM_H_

#include <string>

namespace cmd {

struct Ran {
  int status = -1;     // exit status; -1: it did not exit by itself
  std::string output;  // both streams, in the order in which they were written
};

// `command_line` goes to the shell. Blocks until it has ended.
Ran RunProgram(const std::string& command_line);

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_RUN_PROGRAM_H_
