#include "hosts/agent/child_plan.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "hosts/agent/proc_table.h"

namespace tfyarn::agent_host {
namespace {

std::string_view PathOf(const SpawnSpec& spec) {
  const auto path = spec.environment.find("PATH");
  return path == spec.environment.end() ? "/bin:/usr/bin" : std::string_view(path->second);
}

std::vector<std::string> Candidates(const SpawnSpec& spec) {
  const std::string& name = spec.argv.front();
  if (name.find('/') != std::string::npos) return {name};
  std::vector<std::string> candidates;
  std::string_view rest = PathOf(spec);
  for (bool more = true; more;) {
    const std::size_t colon = rest.find(':');
    const std::string_view folder = rest.substr(0, colon);
    candidates.push_back(folder.empty() ? name : std::string(folder) + "/" + name);
    more = colon != std::string_view::npos;
    if (more) rest.remove_prefix(colon + 1);
  }
  return candidates;
}

std::string RaisedOomScore(int raise) {
  int own = 0;
  if (const auto text = ReadSmallFile("/proc/self/oom_score_adj", 16)) {
    std::from_chars(text->data(), text->data() + text->size(), own);
  }
  return std::to_string(std::clamp(own + raise, own, 1000));
}

std::vector<char*> Pointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  // execve promises not to write through them.
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

tl::unexpected<Error> NoResource(const char* what) {
  return Fail(ErrorCode::kUnavailable,
              std::string("cannot make ") + what + ": " + std::strerror(errno));
}

/// The same above 9, so that no dup2 of the child overwrites what another one still needs.
UniqueFd Raised(const UniqueFd& low) {
  return UniqueFd(low ? ::fcntl(low.get(), F_DUPFD_CLOEXEC, 10) : -1);
}

Expected<UniqueFd> OpenLog(const std::string& path, const char* what) {
  UniqueFd file = Raised(
      UniqueFd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0644)));
  if (!file) {
    return Fail(ErrorCode::kUnavailable,
                std::string("cannot open ") + what + " " + path + ": " + std::strerror(errno));
  }
  return file;
}

// ---------------------------------------------------------------- in the child

[[noreturn]] void Die(int report, ChildStep step, int error, int index = 0) {
  const ChildFailure failure{.step = step, .error = error, .index = index};
  while (::write(report, &failure, sizeof failure) < 0 && errno == EINTR) {
  }
  ::_exit(127);
}

/// A full or missing file of /proc or a cgroup; returns errno, 0 for success.
int WriteWord(const char* path, const char* word, std::size_t size) {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return errno;
  const int error = ::write(file, word, size) < 0 ? errno : 0;
  ::close(file);
  return error;
}

void ResetSignals() {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &standard, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// As execvp: a candidate that is not there is passed over, one that may not be run is remembered.
[[noreturn]] void Exec(const ChildPlan& plan, int report) {
  ChildFailure failure{.step = ChildStep::kExec, .error = ENOENT, .index = 0};
  for (std::size_t i = 0; i < plan.candidates.size(); ++i) {
    ::execve(plan.candidates[i].c_str(), plan.argv.data(), plan.envp.data());
    const int index = static_cast<int>(i);
    switch (errno) {
      case EACCES:
        if (failure.error != EACCES) failure = {ChildStep::kExec, EACCES, index};
        break;
      case ENOENT:
      case ENOTDIR:
      case ENODEV:
      case ESTALE:
      case ETIMEDOUT:
        if (failure.error != EACCES) failure = {ChildStep::kExec, errno, index};
        break;
      default:
        Die(report, ChildStep::kExec, errno, index);
    }
  }
  Die(report, failure.step, failure.error, failure.index);
}

/// Only calls that are safe between fork and exec.
[[noreturn]] void RunChild(const ChildPlan& plan) {
  int report = plan.report.get();
  const SpawnSpec& spec = plan.spec;
  if (::setsid() < 0) Die(report, ChildStep::kSession, errno);
  if (::prctl(PR_SET_PDEATHSIG, spec.parent_death_signal) != 0)
    Die(report, ChildStep::kSession, errno);
  if (::getppid() != plan.parent) ::_exit(127);  // The agent died before it could be asked for.
  const int last = spec.channel < 0 ? 3 : 4;
  if (::dup2(plan.input.get(), 0) < 0 || ::dup2(plan.output.get(), 1) < 0 ||
      ::dup2(plan.error.get(), 2) < 0 || (spec.channel >= 0 && ::dup2(spec.channel, 3) < 0) ||
      (spec.channel >= 0 && ::fcntl(3, F_SETFD, 0) < 0) || ::dup3(report, last, O_CLOEXEC) < 0) {
    Die(report, ChildStep::kDescriptors, errno);
  }
  report = last;
  ::closefrom(last + 1);
  if (!spec.cgroup_procs.empty()) {
    if (const int error = WriteWord(spec.cgroup_procs.c_str(), "0", 1); error != 0) {
      Die(report, ChildStep::kCgroup, error);
    }
  }
  // A kernel that does not let us raise it has lost nothing that is promised.
  WriteWord("/proc/self/oom_score_adj", plan.oom_score_adj.data(), plan.oom_score_adj.size());
  for (std::size_t i = 0; i < spec.limits.size(); ++i) {
    if (::setrlimit(spec.limits[i].resource, &spec.limits[i].limit) != 0) {
      Die(report, ChildStep::kLimits, errno, static_cast<int>(i));
    }
  }
  if (::chdir(spec.directory.c_str()) != 0) Die(report, ChildStep::kDirectory, errno);
  ResetSignals();
  Exec(plan, report);
}

/// Forks with every signal blocked: a handler of ours that ran in the child would write into our
/// own event loop.
pid_t ForkBlocked(const ChildPlan& plan) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  if (pid == 0) RunChild(plan);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

// ---------------------------------------------------------------- in the parent

ErrorCode CodeOf(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::kNotFound;
    case ENOMEM:
    case EAGAIN:
    case EMFILE:
    case ENFILE:
    case EIO:
    case ETXTBSY:
      return ErrorCode::kUnavailable;
    default:
      return ErrorCode::kInvalidArgument;
  }
}

/// The program named by the first line of a script; empty when it is none.
std::string InterpreterOf(const std::string& path) {
  const std::string line = ReadSmallFile(path, 256).value_or("");
  if (!line.starts_with("#!")) return "";
  const std::size_t first = line.find_first_not_of(" \t", 2);
  if (first == std::string::npos) return "";
  return line.substr(first, line.find_first_of(" \t\r\n", first) - first);
}

std::string ExplainExec(const ChildPlan& plan, const ChildFailure& failure) {
  const SpawnSpec& spec = plan.spec;
  const std::string& name = spec.argv.front();
  std::string path = plan.candidates[static_cast<std::size_t>(failure.index)];
  const std::string words = std::strerror(failure.error);
  const bool searched = name.find('/') == std::string::npos;
  if (failure.error == ENOENT || failure.error == ENOTDIR) {
    if (!path.starts_with('/')) path = spec.directory + "/" + path;
    for (std::string candidate : plan.candidates) {
      if (!candidate.starts_with('/')) candidate = spec.directory + "/" + candidate;
      const std::string interpreter = InterpreterOf(candidate);
      if (!interpreter.empty()) {
        return "cannot run " + candidate + ": its interpreter \"" + interpreter +
               "\" (first line) does not exist";
      }
    }
    if (searched) {
      return "cannot run \"" + name + "\": not found in PATH=" + std::string(PathOf(spec));
    }
  }
  if (failure.error == ENOEXEC) {
    return "cannot run " + path + ": it is neither a program nor a script with a #! line; name " +
           "its interpreter in the command, for example [sh, " + name + "]";
  }
  return "cannot run " + path + ": " + words;
}

}  // namespace

Error Explain(const ChildPlan& plan, const ChildFailure& failure) {
  const SpawnSpec& spec = plan.spec;
  const std::string words = std::strerror(failure.error);
  Error error{.code = ErrorCode::kUnavailable, .message = ""};
  switch (failure.step) {
    case ChildStep::kSession:
      error.message = "cannot give the process a session of its own: " + words;
      break;
    case ChildStep::kDescriptors:
      error.message = "cannot give the process its stdin, stdout and stderr: " + words;
      break;
    case ChildStep::kLimits:
      error.message = "cannot set resource limit number " +
                      std::to_string(static_cast<int>(
                          spec.limits[static_cast<std::size_t>(failure.index)].resource)) +
                      ": " + words;
      break;
    case ChildStep::kCgroup:
      error.message = "cannot enter the cgroup of " + spec.cgroup_procs + ": " + words;
      break;
    case ChildStep::kDirectory:
      error.message = "cannot enter the work directory " + spec.directory + ": " + words;
      break;
    case ChildStep::kExec:
      error.code = CodeOf(failure.error);
      error.message = ExplainExec(plan, failure);
      break;
  }
  return error;
}

Expected<std::unique_ptr<ChildPlan>> MakePlan(SpawnSpec spec) {
  if (spec.argv.empty() || spec.argv.front().empty()) {
    return Fail(ErrorCode::kInvalidArgument, "cannot run an empty command");
  }
  auto plan = std::make_unique<ChildPlan>();
  plan->spec = std::move(spec);
  plan->candidates = Candidates(plan->spec);
  for (const auto& [name, value] : plan->spec.environment) {
    plan->environment.push_back(name + "=" + value);
  }
  plan->argv = Pointers(plan->spec.argv);
  plan->envp = Pointers(plan->environment);
  plan->oom_score_adj = RaisedOomScore(plan->spec.oom_score_raise);
  plan->parent = ::getpid();
  auto output = OpenLog(plan->spec.stdout_path, "the file for stdout");
  if (!output) return tl::unexpected(output.error());
  auto error = OpenLog(plan->spec.stderr_path, "the file for stderr");
  if (!error) return tl::unexpected(error.error());
  plan->output = std::move(*output);
  plan->error = std::move(*error);
  plan->input = Raised(UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)));
  if (!plan->input) return NoResource("an open /dev/null");
  return plan;
}

Expected<Child> Fork(ChildPlan& plan) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return NoResource("a pipe");
  Child child{.word = UniqueFd(ends[0])};
  plan.report = Raised(UniqueFd(ends[1]));
  if (!plan.report) return NoResource("a pipe");
  child.pid = ForkBlocked(plan);
  const int error = errno;
  plan.report.reset();  // Else the pipe would not end when the child's end does.
  errno = error;
  if (child.pid < 0) return NoResource("a process");
  return child;
}

}  // namespace tfyarn::agent_host
