// What a calibration has found, in words, and what follows for the flags.
#ifndef OCI_BACKEND_DRAIN_CMD_CALIBRATION_REPORT_H_
#define OCI_BACKEND_DRAIN_CMD_CALIBRATION_REPORT_H_

#include <string>
#include <vector>

#include "cmd/calibration.h"

namespace cmd {

// "--write_behind_foreign=never": those of oci-drain-controller that what was
// measured decides; of what was not, none.
std::vector<std::string> FlagsFor(const Calibration& calibration);

// A line for each measurement, the flags, and what is left behind.
std::string FormatCalibration(const CalibrationOptions& options, const Calibration& calibration);

// The same as one object on one line. What was not measured is null.
std::string CalibrationJson(const CalibrationOptions& options, const Calibration& calibration);

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_CALIBRATION_REPORT_H_
