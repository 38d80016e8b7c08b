#include "hosts/local/cluster_socket.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/completion_condition.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "core/model/codec.h"

namespace tfyarn::hosts {
namespace {

using boost::system::error_code;

yarn::RpcError NoAnswer() {
  return {.code = yarn::RpcErrorCode::kUnavailable, .message = "this machine's cluster is gone"};
}

}  // namespace

FramedSocket::FramedSocket(boost::asio::io_context& loop, UniqueFd socket) : socket_(loop) {
  error_code failed;
  socket_.assign(boost::asio::local::stream_protocol(), socket.release(), failed);
}

void FramedSocket::Start(std::function<void(std::string)> received, std::function<void()> closed) {
  received_ = std::move(received);
  closed_ = std::move(closed);
  ReadHeader();
}

void FramedSocket::ReadHeader() {
  boost::asio::async_read(socket_, boost::asio::buffer(header_),
                          [self = shared_from_this()](const error_code& error, std::size_t) {
                            if (error) return self->Broken();
                            std::uint32_t size = 0;
                            for (std::size_t i = 4; i-- > 0;)
                              size = (size << 8) | static_cast<unsigned char>(self->header_[i]);
                            if (size > kMaxFrame) return self->Broken();
                            self->ReadBody(size);
                          });
}

void FramedSocket::ReadBody(std::uint32_t size) {
  // Grows as the bytes come: a length alone takes no memory.
  body_.clear();
  boost::asio::async_read(socket_, boost::asio::dynamic_buffer(body_),
                          boost::asio::transfer_exactly(size),
                          [self = shared_from_this()](const error_code& error, std::size_t) {
                            if (error) return self->Broken();
                            // A copy, as it may call Close().
                            if (const auto received = self->received_)
                              received(std::move(self->body_));
                            if (self->socket_.is_open()) self->ReadHeader();
                          });
}

void FramedSocket::Send(std::string body) {
  if (!socket_.is_open()) return;
  std::string frame;
  const auto size = static_cast<std::uint32_t>(body.size());
  for (int i = 0; i < 4; ++i) frame += static_cast<char>((size >> (8 * i)) & 0xff);
  out_.push_back(frame + body);
  if (out_.size() == 1) WriteNext();
}

void FramedSocket::WriteNext() {
  boost::asio::async_write(socket_, boost::asio::buffer(out_.front()),
                           [self = shared_from_this()](const error_code& error, std::size_t) {
                             if (error) return self->Broken();
                             self->out_.pop_front();
                             if (!self->out_.empty()) self->WriteNext();
                           });
}

void FramedSocket::Broken() {
  const auto closed = std::exchange(closed_, nullptr);
  Close();
  if (closed) closed();
}

void FramedSocket::Close() {
  received_ = nullptr;
  closed_ = nullptr;
  error_code ignored;
  socket_.close(ignored);
}

// ---------------------------------------------------------------- the AM's end

ClusterSocket::ClusterSocket(boost::asio::io_context& loop, UniqueFd socket,
                             std::function<void()> lost)
    : loop_(loop),
      lost_(std::move(lost)),
      socket_(std::make_shared<FramedSocket>(loop, std::move(socket))) {
  socket_->Start([this](const std::string& body) { Received(body); }, [this] { Closed(); });
}

ClusterSocket::~ClusterSocket() {
  socket_->Close();
}

void ClusterSocket::CallRm(yarn::RmRequest request, RmAnswer answer) {
  Call({.call = std::move(request)}, std::move(answer));
}

void ClusterSocket::CallNm(const NodeId&, const yarn::Token&, yarn::NmRequest request,
                           Secrets secrets, NmAnswer answer) {
  Call({.call = NodeCall{.request = std::move(request), .secrets = std::move(secrets)}},
       std::move(answer));
}

void ClusterSocket::Call(ClusterCall call, Waiting::mapped_type answer) {
  call.id = next_++;
  waiting_.emplace(call.id, std::move(answer));
  if (closed_) {
    return boost::asio::post(loop_, lifetime_.Guard([this] { FailWaiting(); }));
  }
  std::string body;
  Encoder(body).Put(call);
  socket_->Send(std::move(body));
}

void ClusterSocket::Received(const std::string& body) {
  ClusterAnswer answer;
  Decoder decoder(body);
  decoder.Get(answer);
  const auto waiting = waiting_.find(answer.id);
  if (!decoder.at_end() || waiting == waiting_.end()) return;
  const auto callback = std::move(waiting->second);
  waiting_.erase(waiting);
  if (const auto* rm = std::get_if<RmAnswer>(&callback)) {
    auto* response = std::get_if<yarn::RmResponse>(&answer.answer);
    (*rm)(response == nullptr ? NoAnswer() : std::move(*response));
  } else {
    auto* response = std::get_if<yarn::NmResponse>(&answer.answer);
    std::get<NmAnswer>(callback)(response == nullptr ? NoAnswer() : std::move(*response));
  }
}

void ClusterSocket::Closed() {
  closed_ = true;
  // A callback that hears of the lost connection may destroy this object.
  auto tell = lifetime_.Guard([this] {
    if (lost_) std::exchange(lost_, nullptr)();
  });
  FailWaiting();
  tell();
}

void ClusterSocket::FailWaiting() {
  for (const auto& [id, callback] : std::exchange(waiting_, {}))
    std::visit([](const auto& answer) { answer(NoAnswer()); }, callback);
}

}  // namespace tfyarn::hosts
