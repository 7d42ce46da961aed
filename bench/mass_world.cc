#include "bench/mass_world.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/file.h"
#include "rapidjson/reader.h"
#include "rapidjson/stream.h"
#include "sim/oci_user.h"

namespace bench {
namespace {

constexpr size_t kLogTail = 2000;
constexpr char kMassName[] = "mass";  // of load balancers and ledgers, before the number
// More namespaces than this: one watch for all of their Pods.
constexpr int kMaxPodWatches = 32;

}  // namespace

absl::StatusOr<std::unique_ptr<MassWorld>> MassWorld::Start(const MassOptions& options) {
  std::unique_ptr<MassWorld> world(new MassWorld(options));
  std::error_code error;
  std::string pattern = std::filesystem::temp_directory_path(error) / "oci-drain-bench-XXXXXX";
  if (error || mkdtemp(pattern.data()) == nullptr) {
    return absl::UnavailableError("cannot make a temporary folder; set TMPDIR");
  }
  world->folder_ = pattern;
  const absl::Status status = world->StartFakes();
  if (!status.ok()) return status;
  return world;
}

MassWorld::~MassWorld() {
  controller_.reset();
  load_balancer_.reset();
  cluster_.reset();
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

absl::Status MassWorld::StartFakes() {
  auto cluster =
      MassCluster::Start(options_.shape, [this](const std::string& name, absl::Time received) {
        absl::MutexLock lock(&mutex_);
        if (LoadBalancerLog* log = LogOf(name)) log->ledgers.push_back(received);
      });
  if (!cluster.ok()) return cluster.status();
  cluster_ = *std::move(cluster);
  std::ofstream(File("kubeconfig"))
      << "apiVersion: v1\nkind: Config\ncurrent-context: fake\n"
         "contexts: [{name: fake, context: {cluster: fake, user: fake}}]\n"
         "clusters: [{name: fake, cluster: {server: \""
      << cluster_->url() << "\"}}]\nusers: [{name: fake, user: {token: none}}]\n";
  std::filesystem::permissions(File("kubeconfig"), std::filesystem::perms::owner_read);
  sim::FakeLoadBalancerOptions options;
  options.min_service_time = options.max_service_time = options_.service_time;
  auto server = sim::FakeLoadBalancerServer::Start(options, base::RealClock());
  if (!server.ok()) return server.status();
  load_balancer_ = *std::move(server);
  const sim::OciUser user;
  absl::Status status = load_balancer_->With([&](sim::FakeLoadBalancer& core,
                                                 sim::FakeLoadBalancerHttp& http) {
    http.SetOnAnswered([this](const sim::RequestRecord& record) { AddOci(record); });
    absl::Status added = user.AddTo(http.keys(), "controller");
    for (int i = 0; i < options_.shape.load_balancers; ++i) {
      added.Update(core.AddLoadBalancer(cluster_->LoadBalancerJson(i), base::RealClock().Now()));
    }
    return added;
  });
  status.Update(user.WriteConfig(folder_));
  return status;
}

LoadBalancerLog* MassWorld::LogOf(absl::string_view text) {
  const size_t at = text.find(kMassName);
  size_t number = 0;
  if (at == absl::string_view::npos) return nullptr;
  if (!absl::SimpleAtoi(text.substr(at + std::size(kMassName) - 1, 3), &number)) return nullptr;
  return number < logs_.size() ? &logs_[number] : nullptr;
}

void MassWorld::AddOci(const sim::RequestRecord& record) {
  const std::string& target = record.request.target;
  absl::MutexLock lock(&mutex_);
  LoadBalancerLog* log = LogOf(target);
  if (log == nullptr) return;
  const bool accepted = record.status >= 200 && record.status < 300;
  if (!accepted) {
    ++log->refused;
  } else if (record.request.method == "PUT") {
    (absl::StrContains(target, "/backends/") ? log->drains : log->sets).push_back(record.time);
  } else if (!absl::StrContains(target, "/workRequests") && !absl::StrContains(target, "ealth")) {
    ++log->reads;
    log->last_read = record.time;
  }
}

absl::StatusOr<MassWorld::Synced> MassWorld::StartController(absl::Duration patience) {
  std::vector<std::string> arguments = {options_.controller,
                                        "--kubeconfig=" + File("kubeconfig"),
                                        "--barrier_port=0",
                                        "--health_port=0",
                                        "--oci_config_file=" + File("config"),
                                        "--barrier_address=127.0.0.1",
                                        "--oci_endpoint=" + load_balancer_->url()};
  arguments.insert(arguments.end(), options_.controller_flags.begin(),
                   options_.controller_flags.end());
  const absl::Time start = base::RealClock().Now();
  auto child = sim::ChildProcess::Start(arguments, File("log"));
  if (!child.ok()) return child.status();
  controller_ = *std::move(child);
  const int namespaces = std::min(options_.shape.namespaces, options_.shape.load_balancers);
  const bool watched =
      cluster_->AwaitWatched(namespaces > kMaxPodWatches ? 1 : namespaces, patience);
  const auto all_read = [](const std::vector<LoadBalancerLog>& logs) {
    return std::all_of(logs.begin(), logs.end(), [](const auto& log) { return log.reads > 0; });
  };
  if (!watched || !Await(all_read, patience)) {
    return absl::UnavailableError(absl::StrCat("not synced within ", absl::FormatDuration(patience),
                                               "; it said:\n", LogTail()));
  }
  absl::Time last_read = absl::InfinitePast();
  for (const LoadBalancerLog& log : logs()) last_read = std::max(last_read, log.last_read);
  const absl::Time lists = cluster_->last_watch_began();
  return Synced{lists - start, std::max(lists, last_read) - start};
}

std::vector<LoadBalancerLog> MassWorld::logs() const {
  absl::MutexLock lock(&mutex_);
  return logs_;
}

bool MassWorld::Await(const Predicate& done, absl::Duration patience) const {
  absl::MutexLock lock(&mutex_);
  const auto is_done = [&] {
    mutex_.AssertHeld();
    return done(logs_);
  };
  return mutex_.AwaitWithTimeout(absl::Condition(&is_done), patience);
}

std::string MassWorld::LogTail() const {
  const std::string log = base::ReadFile(File("log")).value_or("");
  return log.size() <= kLogTail ? log : log.substr(log.size() - kLogTail);
}

namespace {

// One connection, blocking. Memory is taken once.
class BareClient {
 public:
  explicit BareClient(int port) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int yes = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    connected_ =
        connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~BareClient() { close(socket_); }
  BareClient(const BareClient&) = delete;
  BareClient& operator=(const BareClient&) = delete;

  // The body, ended by a zero byte; nullptr if there is none. Valid until the next call.
  char* Get(const std::string& target, size_t* size) {
    const std::string request =
        absl::StrCat("GET ", target, " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    if (!connected_ || send(socket_, request.data(), request.size(), MSG_NOSIGNAL) < 0) {
      return nullptr;
    }
    size_t have = 0;
    size_t head = std::string::npos;
    size_t want = 0;
    while (head == std::string::npos || have < head + want) {
      if (buffer_.size() < have + kReadBytes + 1) buffer_.resize(2 * (have + kReadBytes + 1));
      const ssize_t count = recv(socket_, buffer_.data() + have, kReadBytes, 0);
      if (count <= 0) return nullptr;
      have += static_cast<size_t>(count);
      if (head != std::string::npos) continue;
      const absl::string_view seen(buffer_.data(), have);
      const size_t end = seen.find("\r\n\r\n");
      const size_t length = seen.find("Content-Length: ");
      if (end == absl::string_view::npos || length == absl::string_view::npos) continue;
      head = end + 4;
      const absl::string_view digits = seen.substr(length + 16);
      if (!absl::SimpleAtoi(digits.substr(0, digits.find('\r')), &want)) return nullptr;
    }
    buffer_[head + want] = '\0';
    *size = want;
    return buffer_.data() + head;
  }

 private:
  static constexpr size_t kReadBytes = 256 << 10;
  const int socket_;
  bool connected_ = false;
  std::vector<char> buffer_;
};

struct CountStrings : rapidjson::BaseReaderHandler<rapidjson::UTF8<>, CountStrings> {
  int64_t strings = 0;
  bool Default() { return true; }
  bool String(const char*, rapidjson::SizeType, bool) { return ++strings > 0; }
};

double ThreadCpuSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

absl::StatusOr<BareLoop> RunBareLoop(int port, const std::vector<std::string>& targets) {
  BareLoop result;
  BareClient client(port);
  const absl::Time start = base::RealClock().Now();
  const double cpu_start = ThreadCpuSeconds();
  for (const std::string& target : targets) {
    size_t size = 0;
    char* const body = client.Get(target, &size);
    if (body == nullptr) return absl::UnavailableError(absl::StrCat("no page from ", target));
    rapidjson::InsituStringStream stream(body);
    rapidjson::Reader reader;
    CountStrings handler;
    if (reader.Parse<rapidjson::kParseInsituFlag>(stream, handler).IsError()) {
      return absl::InternalError(absl::StrCat("not JSON: ", target));
    }
    result.bytes += static_cast<int64_t>(size);
    result.strings += handler.strings;
  }
  result.seconds = absl::ToDoubleSeconds(base::RealClock().Now() - start);
  result.cpu_seconds = ThreadCpuSeconds() - cpu_start;
  return result;
}

}  // namespace bench
