// oci-drain-controller: drains OCI backends of terminating Pods.
#include "cmd/controller_program.h"

int main(int argc, char** argv) { return cmd::RunController(argc, argv); }
