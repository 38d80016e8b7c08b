#include "hosts/agent/spawner.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <memory>
#include <utility>

#include "core/model/check.h"
#include "core/model/text.h"
#include "hosts/agent/child_plan.h"
#include "hosts/agent/proc_table.h"

namespace tfyarn::agent_host {
namespace {

/// -1 on kernels before 5.3. Not by <sys/pidfd.h>: that of glibc 2.36 is unknown to C++ linkage.
int OpenPidfd(pid_t pid) {
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

/// A child whose word is waited for. Lives in the handlers that wait; when the event loop goes
/// first, the child goes too.
class Pending : public std::enable_shared_from_this<Pending> {
 public:
  Pending(Subreaper& subreaper, std::unique_ptr<ChildPlan> plan, Child child, OnSpawned on_spawned)
      : subreaper_(subreaper),
        plan_(std::move(plan)),
        pid_(child.pid),
        word_(subreaper.io()),
        deadline_(subreaper.io()),
        on_spawned_(std::move(on_spawned)) {
    subreaper_.Reserve(pid_);
    boost::system::error_code error;
    word_.assign(child.word.release(), error);
    TF_CHECK(!error);  // A pipe can always be waited for.
  }
  ~Pending() {
    if (on_spawned_) ::kill(pid_, SIGKILL);
  }
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;

  void Wait() {
    deadline_.expires_after(plan_->spec.exec_deadline);
    deadline_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (!error && self->on_spawned_) self->GiveUp();
    });
    WaitForWord();
  }

 private:
  void WaitForWord() {
    word_.async_wait(boost::asio::posix::descriptor_base::wait_read,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       if (error) return;
                       self->on_spawned_ ? self->Hear() : self->Bury();
                     });
  }

  void Hear() {
    ChildFailure failure;
    ssize_t got = 0;
    do {
      got = ::read(word_.native_handle(), &failure, sizeof failure);
    } while (got < 0 && errno == EINTR);
    // An event of a descriptor that had this number before can look like one of this.
    if (got < 0 && errno == EAGAIN) return WaitForWord();
    if (got == sizeof failure) {
      Bury();
      return Answer(tl::unexpected(Explain(*plan_, failure)));
    }
    Spawned spawned{.pid = pid_, .pidfd = UniqueFd(OpenPidfd(pid_))};
    if (const auto info = ReadProcess(pid_)) spawned.start_time = info->start_time;
    Answer(std::move(spawned));
  }

  void GiveUp() {
    ::kill(pid_, SIGKILL);
    // The kernel may hold it in a call that no signal ends: only this object waits for its end,
    // which closes the pipe.
    subreaper_.Disown(pid_);
    Answer(Fail(ErrorCode::kUnavailable, "the system did not start " + plan_->spec.argv.front() +
                                             " within " + ToString(plan_->spec.exec_deadline)));
  }

  void Bury() {
    ::waitpid(pid_, nullptr, 0);  // It has nothing left to do but end.
    subreaper_.Remove(pid_);
  }

  void Answer(Expected<Spawned> result) {
    deadline_.cancel();
    const OnSpawned on_spawned = std::exchange(on_spawned_, nullptr);
    on_spawned(std::move(result));
  }

  Subreaper& subreaper_;
  std::unique_ptr<ChildPlan> plan_;
  pid_t pid_;
  boost::asio::posix::stream_descriptor word_;
  boost::asio::steady_timer deadline_;
  OnSpawned on_spawned_;  ///< Empty once it was called.
};

}  // namespace

void Spawn(Subreaper& subreaper, SpawnSpec spec, OnSpawned on_spawned) {
  const auto refuse = [&](Error error) {
    boost::asio::post(subreaper.io(),
                      [on_spawned = std::move(on_spawned), error = std::move(error)]() mutable {
                        on_spawned(tl::unexpected(std::move(error)));
                      });
  };
  auto plan = MakePlan(std::move(spec));
  if (!plan) return refuse(std::move(plan.error()));
  auto child = Fork(**plan);
  if (!child) return refuse(std::move(child.error()));
  std::make_shared<Pending>(subreaper, std::move(*plan), std::move(*child), std::move(on_spawned))
      ->Wait();
}

}  // namespace tfyarn::agent_host
