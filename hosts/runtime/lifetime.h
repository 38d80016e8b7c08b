// Handlers that outlive their owner do nothing.
//
// Cancelling a timer or descriptor does not take back a handler that is already queued as a
// success, so an object that dies in one handler could be entered by the next. A guarded handler
// asks first whether its owner still lives. One thread only.
#pragma once

#include <memory>
#include <utility>

namespace tfyarn::hosts {

class Lifetime {
 public:
  Lifetime() = default;
  Lifetime(const Lifetime&) = delete;
  Lifetime& operator=(const Lifetime&) = delete;

  /// `handler`, called only while this object lives.
  template <class Handler>
  [[nodiscard]] auto Guard(Handler handler) const {
    return [owner = std::weak_ptr<const bool>(token_),
            handler = std::move(handler)]<class... Arguments>(Arguments&&... arguments) mutable {
      if (!owner.expired()) handler(std::forward<Arguments>(arguments)...);
    };
  }

 private:
  std::shared_ptr<const bool> token_ = std::make_shared<const bool>(true);
};

}  // namespace tfyarn::hosts
