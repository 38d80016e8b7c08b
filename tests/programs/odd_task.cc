// A task that behaves as told by its first word: ends in every way a process can end, leaves
// children behind, refuses to stop, shows what it was given. For tests of its agent.
//
// Words, most of which print "ready" once they are in the state they promise:
//   exit CODE | raise NUMBER | abort | sleep | ignore-term | on-term CODE | stop-self
//   children N           N children that sleep, in its own session, and sleeps
//   sessions N CODE      N children that each take a session of their own; then ends with CODE
//   daemon CODE          a child that forks twice and takes a session; then ends with CODE
//   storm N CODE         N children, one after the other, that end at once; then ends with CODE
//   orphans N            N children that leave a child each and end; sleeps
//   respawn CODE         a chain of children in new sessions, each of which starts the next and
//   ends environment | descriptors | signals | directory | limits flood BYTES          lines on
//   stdout listen PORT reuse-port|reuse-address|plain [child]    listens on [::]:PORT and sleeps
//   threads              its first thread ends, another sleeps
//   thread-child         a child of its second thread, and sleeps
//   grow MEGABYTES       uses that much memory and sleeps
//   vfork                waits for a child that does not go on, in a call that hears no signal
//   usr1                 writes a line to stderr on SIGUSR1 and sleeps
#include <dirent.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

extern char** environ;

namespace {

using Words = std::vector<std::string>;

int Number(const Words& words, std::size_t i) {
  return std::atoi(words.at(i).c_str());
}

/// Not for ever: no process may be left when a test breaks down.
[[noreturn]] void Sleep() {
  ::alarm(300);
  while (true) ::pause();
}

void Say(const char* text) {
  std::puts(text);
  std::fflush(stdout);
}

/// Runs `work` in a child, which then ends.
pid_t InChild(const std::function<void()>& work) {
  const pid_t pid = ::fork();
  if (pid < 0) std::exit(99);
  if (pid == 0) {
    work();
    ::_exit(0);
  }
  return pid;
}

/// As InChild; returns when the child has said, by closing its end of a pipe, that it is set up.
void InSettledChild(const std::function<void(int)>& work) {
  int ends[2];
  if (::pipe(ends) != 0) std::exit(98);
  InChild([&] {
    ::close(ends[0]);
    work(ends[1]);
  });
  ::close(ends[1]);
  char byte = 0;
  if (::read(ends[0], &byte, 1) != 0) std::exit(97);
  ::close(ends[0]);
}

int Raise(int number) {
  ::signal(number, SIG_DFL);
  ::raise(number);
  return 96;
}

int IgnoreTerm() {
  ::signal(SIGTERM, SIG_IGN);
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGHUP, SIG_IGN);
  Say("ready");
  Sleep();
}

int code_on_term = 0;

int OnTerm(int code) {
  code_on_term = code;
  ::signal(SIGTERM, [](int) { ::_exit(code_on_term); });
  Say("ready");
  Sleep();
}

int Children(int count) {
  for (int i = 0; i < count; ++i) InChild([] { Sleep(); });
  Say("ready");
  Sleep();
}

int Sessions(int count, int code) {
  for (int i = 0; i < count; ++i) {
    InSettledChild([](int settled) {
      ::setsid();
      ::signal(SIGTERM, SIG_IGN);
      ::close(settled);
      Sleep();
    });
  }
  Say("ready");
  return code;
}

int Daemon(int code) {
  InSettledChild([](int settled) {
    ::setsid();
    InChild([settled] {
      ::signal(SIGTERM, SIG_IGN);
      ::signal(SIGHUP, SIG_IGN);
      ::setpgid(0, 0);
      ::close(settled);
      Sleep();
    });
    ::_exit(0);
  });
  Say("ready");
  return code;
}

int Storm(int count, int code) {
  for (int i = 0; i < count; ++i) {
    InChild([] {});
    if (i % 50 == 49) {
      while (::waitpid(-1, nullptr, 0) > 0) {
      }
    }
  }
  return code;  // Up to 49 are not waited for.
}

int Orphans(int count) {
  for (int i = 0; i < count; ++i) {
    const pid_t pid = InChild([] { InChild([] {}); });
    ::waitpid(pid, nullptr, 0);
  }
  Say("ready");
  Sleep();
}

/// The last of them stays: on a machine whose agent comes to its turn too late, a chain without end
/// takes every number that processes can have.
[[noreturn]] void Chain() {
  constexpr int kLinks = 1000;
  for (int i = 0; i < kLinks; ++i) {
    ::setsid();
    ::usleep(200);
    if (::fork() != 0) ::_exit(0);
  }
  while (true) ::pause();
}

int Respawn(int count, int code) {
  for (int i = 0; i < count; ++i) InChild([] { Chain(); });
  Say("ready");
  return code;
}

int Descriptors() {
  DIR* directory = ::opendir("/proc/self/fd");
  std::vector<std::string> lines;
  while (const dirent* entry = ::readdir(directory)) {
    const std::string name = entry->d_name;
    if (name[0] == '.' || std::stoi(name) == ::dirfd(directory)) continue;
    char target[4096];
    const ssize_t size = ::readlink(("/proc/self/fd/" + name).c_str(), target, sizeof target);
    lines.push_back(name + " " +
                    std::string(target, static_cast<std::size_t>(std::max<ssize_t>(size, 0))));
  }
  ::closedir(directory);
  std::sort(lines.begin(), lines.end());
  for (const std::string& line : lines) std::puts(line.c_str());
  char byte = 0;
  std::printf("stdin %zd\n", ::read(0, &byte, 1));
  return 0;
}

int Signals() {
  sigset_t mask;
  ::sigprocmask(SIG_SETMASK, nullptr, &mask);
  for (int i = 1; i < NSIG; ++i) {
    struct sigaction action {};
    if (::sigismember(&mask, i) == 1) std::printf("blocked %d\n", i);
    if (::sigaction(i, nullptr, &action) == 0 && action.sa_handler == SIG_IGN)
      std::printf("ignored %d\n", i);
  }
  std::printf("session %d group %d\n", ::getsid(0) == ::getpid(), ::getpgrp() == ::getpid());
  return 0;
}

int Limits() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  std::printf("nofile %llu\n", static_cast<unsigned long long>(limit.rlim_cur));
  std::FILE* file = std::fopen("/proc/self/oom_score_adj", "r");
  int score = -1;
  if (file == nullptr || std::fscanf(file, "%d", &score) != 1) return 1;
  std::printf("oom_score_adj %d\n", score);
  return 0;
}

int Flood(long long bytes) {
  const std::string line(1023, 'x');
  for (long long i = 0; i < bytes; i += 1024) std::puts(line.c_str());
  return 0;
}

void Listen(int port, const std::string& how) {
  const int fd = ::socket(AF_INET6, SOCK_STREAM, 0);
  const int on = 1;
  if (how == "reuse-port") ::setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  if (how == "reuse-address") ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(static_cast<in_port_t>(port));
  if (::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(fd, 8) != 0) {
    std::perror("listen");
    ::_exit(3);
  }
}

int ListenAs(const Words& words) {
  const int port = Number(words, 1);
  if (words.size() > 3) {
    InSettledChild([&](int settled) {
      ::setsid();
      Listen(port, words.at(2));
      ::close(settled);
      Sleep();
    });
  } else {
    Listen(port, words.at(2));
  }
  Say("ready");
  Sleep();
}

int Threads() {
  pthread_t thread;
  ::pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        Say("ready");
        Sleep();
      },
      nullptr);
  ::pthread_exit(nullptr);
}

int ThreadChild() {
  pthread_t thread{};
  const auto start = [](void*) -> void* {
    InChild([] { Sleep(); });
    Say("ready");
    Sleep();
  };
  if (::pthread_create(&thread, nullptr, start, nullptr) != 0) return 95;
  Sleep();
}

int Grow(int megabytes) {
  std::vector<char> memory(static_cast<std::size_t>(megabytes) << 20);
  for (std::size_t i = 0; i < memory.size(); i += 4096) memory[i] = 1;
  Say("ready");
  Sleep();
}

int Usr1() {
  ::signal(SIGUSR1, [](int) {
    constexpr char kText[] = "Current thread: train.py line 7\n";
    (void)!::write(2, kText, sizeof kText - 1);
  });
  Say("ready");
  Sleep();
}

int Run(const Words& words) {
  const std::map<std::string, std::function<int()>> ways{
      {"exit", [&] { return Number(words, 1); }},
      {"raise", [&] { return Raise(Number(words, 1)); }},
      {"abort", [&] { return Raise(SIGABRT); }},
      {"sleep",
       [&]() -> int {
         Say("ready");
         Sleep();
       }},
      {"ignore-term", [&] { return IgnoreTerm(); }},
      {"on-term", [&] { return OnTerm(Number(words, 1)); }},
      {"stop-self",
       [&]() -> int {
         Say("ready");
         ::raise(SIGSTOP);
         Sleep();
       }},
      {"vfork",
       [&]() -> int {
         Say("ready");
         // The child has its parent's memory, so it may do nothing but this.
         if (::vfork() == 0) {
           ::alarm(300);
           ::pause();
           ::_exit(0);
         }
         return 0;
       }},
      {"children", [&] { return Children(Number(words, 1)); }},
      {"sessions", [&] { return Sessions(Number(words, 1), Number(words, 2)); }},
      {"daemon", [&] { return Daemon(Number(words, 1)); }},
      {"storm", [&] { return Storm(Number(words, 1), Number(words, 2)); }},
      {"orphans", [&] { return Orphans(Number(words, 1)); }},
      {"respawn", [&] { return Respawn(Number(words, 1), Number(words, 2)); }},
      {"environment",
       [&] {
         for (char** e = environ; *e != nullptr; ++e) std::puts(*e);
         return 0;
       }},
      {"descriptors", [&] { return Descriptors(); }},
      {"signals", [&] { return Signals(); }},
      {"limits", [&] { return Limits(); }},
      {"directory",
       [&] {
         char path[4096];
         std::puts(::getcwd(path, sizeof path));
         return 0;
       }},
      {"flood", [&] { return Flood(std::atoll(words.at(1).c_str())); }},
      {"listen", [&] { return ListenAs(words); }},
      {"threads", [&] { return Threads(); }},
      {"thread-child", [&] { return ThreadChild(); }},
      {"grow", [&] { return Grow(Number(words, 1)); }},
      {"usr1", [&] { return Usr1(); }},
  };
  const auto way = words.empty() ? ways.end() : ways.find(words.front());
  return way == ways.end() ? 64 : way->second();
}

}  // namespace

int main(int argc, char** argv) {
  return Run(Words(argv + 1, argv + argc));
}
