#include "sim/calls.h"

#include <utility>

#include "core/model/check.h"

namespace tfyarn::sim {

yarn::NmResponse ServeCall(NmActor& nm, const fakes::Caller& caller, const yarn::Token& token,
                           yarn::NmRequest request) {
  nm.response.reset();
  nm.Step(fakes::NmCall{
      .id = ++nm.calls, .caller = caller, .token = token, .request = std::move(request)});
  TF_CHECK(nm.response.has_value());
  return std::move(*nm.response);
}

}  // namespace tfyarn::sim
