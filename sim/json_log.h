// What the fake load balancer saw, as lines of JSON for tests in other languages.
#ifndef OCI_BACKEND_DRAIN_SIM_JSON_LOG_H_
#define OCI_BACKEND_DRAIN_SIM_JSON_LOG_H_

#include <string>

#include "sim/request_faults.h"
#include "sim/write_record.h"

namespace sim {

// {"time","client","method","target","headers":{lower-case name: value},"body","status"}
std::string RequestLogLine(const RequestRecord& record);

// {"accepted","finished","client","type","loadBalancer","backendSet","workRequestId",
//  "requestId","result":"SUCCEEDED","error","added":[...],"removed","drained",
//  "undrained","setOffline","setOnline","changed"}
std::string WriteLogLine(const WriteRecord& record);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_JSON_LOG_H_
