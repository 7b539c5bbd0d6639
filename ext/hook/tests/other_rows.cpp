// Rows of the table "thread against fiber": times, names, locks, processes.
#include "mutexes.hpp"
#include "thread_and_fiber.hpp"

#include <arpa/inet.h>
#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

namespace hooked_tests {

namespace {

timespec in_nanoseconds(clockid_t clock, long nanoseconds) {
  timespec time{};
  REQUIRE(::clock_gettime(clock, &time) == 0);
  time.tv_nsec += nanoseconds;
  time.tv_sec += time.tv_nsec / 1'000'000'000;
  time.tv_nsec %= 1'000'000'000;
  return time;
}

constexpr timespec little{0, 1'000'000}, invalid{0, 1'000'000'000};

// An error number as the result of calls that return one.
template <class Sleep>
observation slept(Sleep sleep) {
  timespec remaining{5, 5};
  return measure([&] { return sleep(&remaining); },
                 [&] { return std::to_string(remaining.tv_sec) + " " + std::to_string(remaining.tv_nsec); });
}

struct semaphore {
  explicit semaphore(unsigned value) { REQUIRE(::sem_init(&own, 0, value) == 0); }
  ~semaphore() { ::sem_destroy(&own); }
  sem_t own;
};

// glibc leaves errno as its own files left it, but for EAI_SYSTEM.
observation without_errno(observation observed) {
  if (observed.result != EAI_SYSTEM) observed.error = 0;
  return observed;
}

observation addresses(const char* host, const char* service, int flags) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_flags = flags;
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  return without_errno(measure([&] { return ::getaddrinfo(host, service, &hints, &found); },
                               [&] {
                                 std::string text;
                                 for (const addrinfo* item = found; item; item = item->ai_next) {
                                   const auto* const address = reinterpret_cast<const sockaddr_in*>(item->ai_addr);
                                   text += std::to_string(ntohl(address->sin_addr.s_addr)) + ":" +
                                           std::to_string(ntohs(address->sin_port)) + " ";
                                 }
                                 if (found) ::freeaddrinfo(found);
                                 return text;
                               }));
}

observation name_of_loopback(socklen_t host_size, int flags) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(80);
  std::array<char, 64> host{}, service{};
  return without_errno(measure(
      [&] {
        return ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), sizeof address, host.data(), host_size,
                             service.data(), service.size(), flags);
      },
      [&] { return std::string(host.data()) + " " + service.data(); }));
}

std::string text_of(const hostent* host) {
  if (!host) return "none";
  std::string text =
      std::string(host->h_name) + " " + std::to_string(host->h_addrtype) + " " + std::to_string(host->h_length);
  for (char** item = host->h_aliases; *item; ++item) text += std::string(" ") + *item;
  for (char** item = host->h_addr_list; *item; ++item) {
    std::array<char, 64> address{};
    text += std::string(" ") + ::inet_ntop(host->h_addrtype, *item, address.data(), address.size());
  }
  return text;
}

// h_errno is read after a failure alone.
template <class Lookup>
observation host_of(Lookup lookup) {
  const hostent* host = nullptr;
  observation observed = measure([&] { return (host = lookup()) != nullptr; });
  observed.output = host ? text_of(host) : std::to_string(h_errno);
  observed.error = 0;  // glibc leaves an errno of its own files
  return observed;
}
template <class Lookup>
observation host_into(std::size_t size, Lookup lookup) {
  std::array<char, 4096> bytes{};
  hostent host{}, *found = nullptr;
  int host_error = 0;
  observation observed = measure([&] { return lookup(&host, bytes.data(), size, &found, &host_error); });
  const bool is_own =
      !found || (found == &host && host.h_addr_list[0] >= bytes.data() && host.h_addr_list[0] < bytes.data() + size);
  observed.output = text_of(found) + " " + std::to_string(is_own) + (found ? "" : " " + std::to_string(host_error));
  observed.error = 0;
  return observed;
}
in_addr loopback() { return {htonl(INADDR_LOOPBACK)}; }

struct mutex {
  explicit mutex(int kind) {
    pthread_mutexattr_t attributes;
    ::pthread_mutexattr_init(&attributes);
    ::pthread_mutexattr_settype(&attributes, kind);
    ::pthread_mutex_init(&own, &attributes);
  }
  ~mutex() { ::pthread_mutex_destroy(&own); }
  pthread_mutex_t own;
};

void ignore(int) {}

const row rows[] = {
    // --- times
    {"sleep", "0 seconds", [] { return measure([] { return ::sleep(0); }); }},
    {"usleep", "1 ms", [] { return measure([] { return ::usleep(1000); }); }},
    {"nanosleep", "1 ms", [] { return slept([](timespec* rest) { return ::nanosleep(&little, rest); }); }},
    {"nanosleep", "an invalid time", [] { return slept([](timespec* rest) { return ::nanosleep(&invalid, rest); }); }},
    {"clock_nanosleep", "1 ms",
     [] { return slept([](timespec* rest) { return ::clock_nanosleep(CLOCK_MONOTONIC, 0, &little, rest); }); }},
    {"clock_nanosleep", "until a time",
     [] {
       return slept([](timespec* rest) {
         const timespec t = in_nanoseconds(CLOCK_REALTIME, 1'000'000);
         return ::clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, rest);
       });
     }},
    {"clock_nanosleep", "an invalid time",
     [] { return slept([](timespec* rest) { return ::clock_nanosleep(CLOCK_MONOTONIC, 0, &invalid, rest); }); }},
    {"clock_nanosleep", "no such clock",
     [] { return slept([](timespec* rest) { return ::clock_nanosleep(77, 0, &little, rest); }); }},
    {"clock_nanosleep", "the clock of the thread",
     [] { return slept([](timespec* rest) { return ::clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &little, rest); }); }},
    {"thrd_sleep", "1 ms", [] { return slept([](timespec* rest) { return ::thrd_sleep(&little, rest); }); }},
    {"thrd_sleep", "an invalid time",
     [] { return slept([](timespec* rest) { return ::thrd_sleep(&invalid, rest); }); }},
    // --- semaphores
    {"sem_timedwait", "a permit",
     [] {
       semaphore s(1);
       const timespec past{};
       return measure([&] { return ::sem_timedwait(&s.own, &past); });
     }},
    {"sem_timedwait", "a time",
     [] {
       semaphore s(0);
       const timespec t = in_nanoseconds(CLOCK_REALTIME, 1'000'000);
       return measure([&] { return ::sem_timedwait(&s.own, &t); });
     }},
    {"sem_timedwait", "a time that has passed",
     [] {
       semaphore s(0);
       const timespec past{};
       return measure([&] { return ::sem_timedwait(&s.own, &past); });
     }},
    {"sem_timedwait", "an invalid time",
     [] {
       semaphore s(0);
       return measure([&] { return ::sem_timedwait(&s.own, &invalid); });
     }},
    {"sem_clockwait", "a time",
     [] {
       semaphore s(0);
       const timespec t = in_nanoseconds(CLOCK_MONOTONIC, 1'000'000);
       return measure([&] { return ::sem_clockwait(&s.own, CLOCK_MONOTONIC, &t); });
     }},
    {"sem_clockwait", "no such clock",
     [] {
       semaphore s(0);
       const timespec t{};
       return measure([&] { return ::sem_clockwait(&s.own, 77, &t); });
     }},
    // --- names
    {"getaddrinfo", "a number", [] { return addresses("127.0.0.1", "80", 0); }},
    {"getaddrinfo", "a number and the name of a service", [] { return addresses("127.0.0.1", "http", 0); }},
    {"getaddrinfo", "a name", [] { return addresses("localhost", "80", 0); }},
    {"getaddrinfo", "a name with AI_NUMERICHOST", [] { return addresses("localhost", "80", AI_NUMERICHOST); }},
    {"getaddrinfo", "no host", [] { return addresses(nullptr, "80", AI_PASSIVE); }},
    {"getaddrinfo", "nothing", [] { return addresses(nullptr, nullptr, 0); }},
    {"getaddrinfo", "no such service", [] { return addresses("localhost", "no such service", 0); }},
    {"getnameinfo", "numbers", [] { return name_of_loopback(64, NI_NUMERICHOST | NI_NUMERICSERV); }},
    {"getnameinfo", "a name", [] { return name_of_loopback(64, NI_NUMERICSERV); }},
    {"getnameinfo", "too little room", [] { return name_of_loopback(2, NI_NUMERICSERV); }},
    {"getnameinfo", "no room", [] { return name_of_loopback(0, NI_NUMERICSERV); }},
    {"gethostbyname", "a number", [] { return host_of([] { return ::gethostbyname("127.0.0.7"); }); }},
    {"gethostbyname", "a name", [] { return host_of([] { return ::gethostbyname("localhost"); }); }},
    {"gethostbyname2", "a name", [] { return host_of([] { return ::gethostbyname2("localhost", AF_INET); }); }},
    {"gethostbyaddr", "an address",
     [] {
       return host_of([] {
         const in_addr a = loopback();
         return ::gethostbyaddr(&a, sizeof a, AF_INET);
       });
     }},
    {"gethostbyname_r", "a name",
     [] { return host_into(4096, [](auto... rest) { return ::gethostbyname_r("localhost", rest...); }); }},
    {"gethostbyname_r", "too little room",
     [] { return host_into(8, [](auto... rest) { return ::gethostbyname_r("localhost", rest...); }); }},
    {"gethostbyname2_r", "a name",
     [] { return host_into(4096, [](auto... rest) { return ::gethostbyname2_r("localhost", AF_INET, rest...); }); }},
    {"gethostbyaddr_r", "an address",
     [] {
       return host_into(4096, [](auto... rest) {
         const in_addr a = loopback();
         return ::gethostbyaddr_r(&a, sizeof a, AF_INET, rest...);
       });
     }},
    // --- locks
    {"pthread_mutex_lock", "twice, error-checking",
     [] {
       mutex m(PTHREAD_MUTEX_ERRORCHECK);
       ::pthread_mutex_lock(&m.own);
       observation o = measure([&] { return ::pthread_mutex_lock(&m.own); });
       ::pthread_mutex_unlock(&m.own);
       return o;
     }},
    {"pthread_mutex_trylock", "free and held",
     [] {
       mutex m(PTHREAD_MUTEX_NORMAL);
       observation o = measure([&] { return ::pthread_mutex_trylock(&m.own); });
       o.output = std::to_string(::pthread_mutex_trylock(&m.own));
       ::pthread_mutex_unlock(&m.own);
       return o;
     }},
    {"pthread_mutex_timedlock", "a time",
     [] {
       mutex m(PTHREAD_MUTEX_NORMAL);
       ::pthread_mutex_lock(&m.own);
       const timespec t = in_nanoseconds(CLOCK_REALTIME, 1'000'000);
       observation o = measure([&] { return ::pthread_mutex_timedlock(&m.own, &t); });
       ::pthread_mutex_unlock(&m.own);
       return o;
     }},
    {"pthread_mutex_clocklock", "a time",
     [] {
       mutex m(PTHREAD_MUTEX_NORMAL);
       ::pthread_mutex_lock(&m.own);
       const timespec t = in_nanoseconds(CLOCK_MONOTONIC, 1'000'000);
       observation o = measure([&] { return ::pthread_mutex_clocklock(&m.own, CLOCK_MONOTONIC, &t); });
       ::pthread_mutex_unlock(&m.own);
       return o;
     }},
    {"pthread_mutex_unlock", "not held, error-checking",
     [] {
       mutex m(PTHREAD_MUTEX_ERRORCHECK);
       if (under_tsan) return observation{};  // it reports the unlock as a fault
       return measure([&] { return ::pthread_mutex_unlock(&m.own); });
     }},
    // --- processes
    {"sigaction", "an invalid number", [] { return measure([] { return ::sigaction(999, nullptr, nullptr); }); }},
    {"sigaction", "SIGKILL",
     [] {
       struct sigaction a{};
       a.sa_handler = ignore;
       return measure([&] { return ::sigaction(SIGKILL, &a, nullptr); });
     }},
    {"signal", "the flags of the handler",
     [] {
       const auto before = std::signal(SIGUSR2, ignore);
       struct sigaction a{};
       observation o = measure([&] { return ::sigaction(SIGUSR2, nullptr, &a); });
       std::signal(SIGUSR2, before);
       o.output = std::to_string(a.sa_flags & SA_RESTART);
       return o;
     }},
    {"signal", "an invalid number", [] { return measure([] { return std::signal(999, ignore) == SIG_ERR; }); }},
    {"signal", "SIG_ERR", [] { return measure([] { return std::signal(SIGUSR2, SIG_ERR) == SIG_ERR; }); }},
    {"dlopen", "no such library",
     [] { return measure([] { return ::dlopen("no such library", RTLD_NOW) == nullptr; }); }},
    {"dlopen", "the program",
     [] {
       return measure([] {
         void* const self = ::dlopen(nullptr, RTLD_NOW);
         const bool opened = self != nullptr;
         ::dlclose(self);
         return opened;
       });
     }},
    {"dlclose", "the program",
     [] {
       void* const self = ::dlopen(nullptr, RTLD_NOW);
       return measure([&] { return ::dlclose(self); });
     }},
};

}  // namespace

std::span<const row> other_rows() { return rows; }

}  // namespace hooked_tests
