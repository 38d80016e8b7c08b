#include "wire/hadoop/ipc_client.h"

#include <openssl/rand.h>

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>

#include "core/model/check.h"

namespace tfyarn::hadoop {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

/// Source: ipc/ClientId.java.
std::string NewClientId() {
  std::string id(16, '\0');
  TF_CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(id.data()), static_cast<int>(id.size())) ==
           1);
  return id;
}

enum class Verdict { kGive, kSameServer, kNextServer };

/// Source: RMProxy.java, createRetryPolicy(), and RetryPolicies.java, failoverOnNetworkException().
Verdict Judge(const IpcError& error, Repeatable repeatable) {
  if (error.exception == kStandbyException) return Verdict::kNextServer;
  if (error.exception == kRetriableException) return Verdict::kSameServer;
  switch (error.kind) {
    case IpcErrorKind::kConnect:
      return Verdict::kNextServer;
    case IpcErrorKind::kBroken:
    case IpcErrorKind::kTimeout:
      return error.sent && repeatable == Repeatable::kUnsentOnly ? Verdict::kGive
                                                                 : Verdict::kNextServer;
    case IpcErrorKind::kRemote:
    case IpcErrorKind::kFatal:
    case IpcErrorKind::kSecurity:
    case IpcErrorKind::kProtocol:
      break;
  }
  return Verdict::kGive;
}

}  // namespace

/// The inside, which handlers on their way keep alive when the client is destroyed.
class IpcClient::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(asio::io_context& io, std::vector<HostPort> addresses, IpcProtocol protocol,
       IpcCredential credential, const IpcClientOptions& options)
      : io_(io),
        addresses_(std::move(addresses)),
        protocol_(std::move(protocol)),
        credential_(std::move(credential)),
        options_(options),
        client_id_(NewClientId()) {
    TF_CHECK(!addresses_.empty());
  }

  void Call(std::string method, std::string body, Repeatable repeatable, Answer answer);
  void SetCredential(IpcCredential credential) { credential_ = std::move(credential); }
  void Stop();

 private:
  struct Task {
    Task(asio::io_context& io, std::int32_t id) : call_id(id), timer(io) {}

    const std::int32_t call_id;
    std::string method;
    std::string body;
    Repeatable repeatable = Repeatable::kAlways;
    Answer answer;
    Clock::time_point began;
    std::size_t address = 0;  ///< Of the present try.
    int tries = 0;
    asio::steady_timer timer;
  };
  using TaskRef = std::shared_ptr<Task>;

  void Try(const TaskRef& task);
  void Take(const TaskRef& task, tl::expected<std::string, IpcError> result);
  [[nodiscard]] Duration WaitAfter(const Task& task, Verdict verdict) const;
  IpcConnection& Connection();

  asio::io_context& io_;
  const std::vector<HostPort> addresses_;
  const IpcProtocol protocol_;
  IpcCredential credential_;
  const IpcClientOptions options_;
  const std::string client_id_;
  std::size_t address_ = 0;                    ///< Of the server that is taken for the active one.
  std::shared_ptr<IpcConnection> connection_;  ///< To that server, once there was a call.
  std::vector<std::weak_ptr<IpcConnection>> opened_;
  std::int32_t next_call_id_ = 0;
  std::set<TaskRef> waiting_;  ///< For their next try.
  bool stopped_ = false;
};

void IpcClient::Core::Call(std::string method, std::string body, Repeatable repeatable,
                           Answer answer) {
  const auto task = std::make_shared<Task>(io_, next_call_id_);
  next_call_id_ = next_call_id_ == std::numeric_limits<std::int32_t>::max() ? 0 : next_call_id_ + 1;
  task->method = std::move(method);
  task->body = std::move(body);
  task->repeatable = repeatable;
  task->answer = std::move(answer);
  task->began = Clock::now();
  Try(task);
}

IpcConnection& IpcClient::Core::Connection() {
  if (connection_ == nullptr || !connection_->usable()) {
    connection_ = std::make_shared<IpcConnection>(io_, addresses_[address_], protocol_, credential_,
                                                  client_id_, options_.connection);
    std::erase_if(opened_, [](const auto& old) { return old.expired(); });
    opened_.push_back(connection_);
  }
  return *connection_;
}

void IpcClient::Core::Try(const TaskRef& task) {
  task->address = address_;
  Connection().Call(task->call_id, task->tries++, task->method, task->body,
                    [self = shared_from_this(), task](tl::expected<std::string, IpcError> result) {
                      if (!self->stopped_) self->Take(task, std::move(result));
                    });
}

void IpcClient::Core::Take(const TaskRef& task, tl::expected<std::string, IpcError> result) {
  const Verdict verdict = result ? Verdict::kGive : Judge(result.error(), task->repeatable);
  const Duration wait = WaitAfter(*task, verdict);
  if (verdict == Verdict::kGive || Clock::now() + wait > task->began + options_.give_up)
    return task->answer(std::move(result));
  // Of the calls that fail together only the first moves on to the next server.
  if (verdict == Verdict::kNextServer && task->address == address_ && addresses_.size() > 1) {
    address_ = (address_ + 1) % addresses_.size();
    if (connection_ != nullptr && connection_->calls_under_way() == 0) connection_->Close();
    connection_.reset();  // Calls that it still carries have their answers from it.
  }
  waiting_.insert(task);
  task->timer.expires_after(wait);
  task->timer.async_wait(
      [self = shared_from_this(), task](const boost::system::error_code& failed) {
        if (self->stopped_ || failed) return;
        self->waiting_.erase(task);
        self->Try(task);
      });
}

Duration IpcClient::Core::WaitAfter(const Task& task, Verdict verdict) const {
  int doublings = task.tries - 1;
  if (verdict == Verdict::kNextServer && addresses_.size() > 1) {
    if (task.tries == 1) return Duration::zero();
    --doublings;
  }
  Duration wait = options_.retry_least;
  for (; doublings > 0 && wait < options_.retry_most; --doublings) wait *= 2;
  return std::min(wait, options_.retry_most);
}

void IpcClient::Core::Stop() {
  stopped_ = true;
  for (const auto& opened : opened_) {
    if (const auto connection = opened.lock()) connection->Close();
  }
  for (const TaskRef& task : waiting_) task->timer.cancel();
  waiting_.clear();
}

IpcClient::IpcClient(asio::io_context& io, std::vector<HostPort> addresses, IpcProtocol protocol,
                     IpcCredential credential, const IpcClientOptions& options)
    : core_(std::make_shared<Core>(io, std::move(addresses), std::move(protocol),
                                   std::move(credential), options)) {}

IpcClient::~IpcClient() {
  core_->Stop();
}

void IpcClient::Call(std::string method, std::string body, Repeatable repeatable, Answer answer) {
  core_->Call(std::move(method), std::move(body), repeatable, std::move(answer));
}

void IpcClient::SetCredential(IpcCredential credential) {
  core_->SetCredential(std::move(credential));
}

}  // namespace tfyarn::hadoop
