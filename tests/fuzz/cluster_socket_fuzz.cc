// Any bytes between an AM and this machine's cluster. The first byte says how the rest is used: as
// a call or an answer, which are encoded again unchanged; or as all that an AM hears while two
// calls of it wait, each of which is answered once.
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/check.h"
#include "core/model/codec.h"
#include "hosts/local/cluster_socket.h"
#include "tests/fuzz/one_of.h"

namespace {

using namespace tfyarn;

template <class T>
void CheckBody(std::string_view bytes) {
  T value{};
  Decoder decoder(bytes);
  decoder.Get(value);
  if (!decoder.at_end()) return;
  std::string first;
  Encoder(first).Put(value);
  T again{};
  Decoder second(first);
  second.Get(again);
  TF_CHECK(second.at_end());
  std::string copy;
  Encoder(copy).Put(again);
  TF_CHECK(copy == first);
}

void CheckStream(std::string_view bytes) {
  int pair[2] = {-1, -1};
  TF_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
  hosts::UniqueFd peer(pair[1]);
  boost::asio::io_context loop;
  int answers = 0;
  int lost = 0;
  hosts::ClusterSocket cluster(loop, hosts::UniqueFd(pair[0]), [&] { ++lost; });
  cluster.CallRm(yarn::GetNewApplicationRequest{}, [&](const yarn::RmResponse&) { ++answers; });
  cluster.CallNm({}, {}, yarn::StopContainersRequest{}, {},
                 [&](const yarn::NmResponse&) { ++answers; });
  // More than the pair holds would have to be written in turns.
  bytes = bytes.substr(0, 60'000);
  TF_CHECK(::send(peer.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == std::ssize(bytes));
  loop.poll();
  peer.reset();
  loop.restart();
  loop.run();
  TF_CHECK(answers == 2 && lost == 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tfyarn::fuzz::OneOf(
      data, size, {CheckBody<hosts::ClusterCall>, CheckBody<hosts::ClusterAnswer>, CheckStream});
}
