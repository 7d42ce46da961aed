// Answers of the load balancer's API, before they are HTTP.
#ifndef OCI_BACKEND_DRAIN_SIM_API_REPLY_H_
#define OCI_BACKEND_DRAIN_SIM_API_REPLY_H_

#include <string>

namespace sim {

// How the API says no. status 0 is "no objection".
struct ApiError {
  int status = 0;
  std::string code;  // "InvalidParameter"
  std::string message;

  bool ok() const { return status == 0; }
};

// What a call answers. An error has its JSON in `body`, as the real API does.
struct ApiReply {
  int status = 200;
  std::string body;
  std::string etag;             // of reads
  std::string work_request_id;  // of accepted writes
  std::string next_page;        // of ListWorkRequests, empty at the end
};

// The reply that says `error`.
ApiReply Refusal(const ApiError& error);

// 404 for what does not exist or may not be seen; the API does not tell which.
ApiError NotThere();

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_API_REPLY_H_
