// Name lookups: they own their arguments, their fiber leaves at its end, files and numbers do not wait for them, and
// each fiber has its own result. A resolver that does not answer is a function of the test in place of libc's.
#include <hocket/runtime/detail/lookup_threads.hpp>

#include "connections.hpp"

#include <arpa/inet.h>
#include <atomic>
#include <cstring>
#include <mutex>
#include <netdb.h>
#include <next.hpp>
#include <semaphore>
#include <thread>
#include <vector>

using namespace hooked_tests;

namespace {

// While it lives, getaddrinfo() waits for answer(), and then finds nothing. A number is answered at once.
class silent_resolver {
 public:
  silent_resolver() : before_(hook::next.getaddrinfo) {
    current = this;
    hook::next.getaddrinfo = [](const char* host, const char* service, const addrinfo* hints, addrinfo**) {
      return current->resolve(host, service, hints);
    };
  }
  silent_resolver(const silent_resolver&) = delete;
  silent_resolver& operator=(const silent_resolver&) = delete;
  ~silent_resolver() {
    while (ended_ != begun_) std::this_thread::yield();
    hook::next.getaddrinfo = before_;
  }
  int begun() const { return begun_; }
  void answer(int count) { answers_.release(count); }
  void await_begun(int count) const {
    while (begun_ < count) std::this_thread::yield();
  }
  void await_ended(int count) const {
    while (ended_ < count) std::this_thread::yield();
  }
  std::vector<std::string> questions() {
    const std::lock_guard guard(mutex_);
    return questions_;
  }

 private:
  int resolve(const char* host, const char* service, const addrinfo* hints) {
    const bool is_numeric = std::string_view(host) == "127.0.0.1" || std::strchr(host, '%') != nullptr;
    if (is_numeric || (hints && hints->ai_flags == AI_NUMERICHOST)) return EAI_NONAME;
    ++begun_;
    answers_.acquire();
    {
      const std::lock_guard guard(mutex_);
      questions_.push_back(std::string(host) + " " + (service ? service : "none") + " " +
                           std::to_string(hints ? hints->ai_socktype : -1));
    }
    ++ended_;
    return EAI_NONAME;
  }

  static inline silent_resolver* current = nullptr;
  decltype(hook::next.getaddrinfo) const before_;
  std::atomic<int> begun_{0}, ended_{0};
  std::counting_semaphore<> answers_{0};
  std::mutex mutex_;
  std::vector<std::string> questions_;
};

int resolve_name(const char* host) {
  addrinfo* found = nullptr;
  return ::getaddrinfo(host, "80", nullptr, &found);
}

// Whether the resolver was asked, and not a silent lookup waited for.
bool is_answered_at_once(const char* host, int flags) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_flags = flags;
  return hook::within(5s, [&] { return ::getaddrinfo(host, "80", &hints, &found); }) == result<int>(EAI_NONAME);
}

std::string address_of(const hostent* host) {
  std::array<char, 64> text{};
  return host ? ::inet_ntop(host->h_addrtype, host->h_addr_list[0], text.data(), text.size()) : "none";
}

}  // namespace

TEST_CASE("a lookup that runs is left when its fiber is ended, and has copies of its arguments") {
  silent_resolver resolver;
  int count = 0;
  for (const ending end : {ending::cancel, ending::kill}) {
    CAPTURE(std::string(name_of(end)));
    ++count;
    const auto ready = [&] { resolver.await_begun(count); };
    const auto body = [&] {
      std::string host = "somewhere.example", service = "a service";
      addrinfo hints{}, *found = nullptr;
      hints.ai_socktype = SOCK_DGRAM;
      CHECK(::getaddrinfo(host.c_str(), service.c_str(), &hints, &found) == EAI_SYSTEM);
      CHECK(errno == ECANCELED);
      host.assign(host.size(), '#');
      service.assign(service.size(), '#');
      hints.ai_socktype = 0;
    };
    run_and_end(end, body, ready);
  }
  resolver.answer(count);
  resolver.await_ended(count);
  const std::vector<std::string> expected(static_cast<std::size_t>(count), "somewhere.example a service 2");
  CHECK(resolver.questions() == expected);
}

TEST_CASE("a deadline and a limit end a lookup, whether it has begun or not") {
  silent_resolver resolver;
  for (const ending end : {ending::deadline, ending::limit})
    run_and_end(end, [] {
      CHECK(resolve_name("somewhere.example") == EAI_SYSTEM);
      CHECK(errno == ETIMEDOUT);
    });
  resolver.answer(2);
}

TEST_CASE("beside many silent lookups files are opened and numbers answered; what was left in the queue never runs") {
  silent_resolver resolver;
  constexpr int lookups = 70, most_at_once = 32;
  std::vector<join_handle<>> waiting;
  bool opened = false, numeric = false, with_service = false, scoped = false, flagged = false;
  std::size_t threads = 0;
  loop lp;
  for (int i = 0; i < lookups; ++i)
    waiting.push_back(spawn(lp, hook::hooked([] { CHECK(resolve_name("somewhere.example") == EAI_SYSTEM); })));
  spawn(lp, hook::hooked([&] {
          resolver.await_begun(most_at_once);
          threads = hocket::detail::lookup_threads().running();
          const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
          opened = file >= 0;
          ::close(file);
          addrinfo* found = nullptr;
          const auto before = hook::collect_statistics().pooled;
          const hostent* const host = ::gethostbyname("127.0.0.9");
          numeric = address_of(host) == "127.0.0.9" && hook::collect_statistics().pooled == before;
          with_service = ::getaddrinfo("127.0.0.1", "http", nullptr, &found) == EAI_NONAME;
          scoped = is_answered_at_once("fe80::1%lo", 0);
          flagged = is_answered_at_once("somewhere.example", AI_NUMERICHOST);
          for (auto& fiber : waiting) fiber.cancel();
        }));
  lp.run();
  CHECK(opened);
  CHECK(numeric);
  CHECK(with_service);
  CHECK(scoped);
  CHECK(flagged);
  CHECK(threads == hocket::detail::max_lookups);
  const int begun = resolver.begun();
  CHECK(begun >= most_at_once);
  CHECK(begun <= most_at_once + 2);
  resolver.answer(lookups);
  while (hocket::detail::lookup_threads().running() != 0) std::this_thread::yield();
  CHECK(resolver.begun() == begun);
}

TEST_CASE("each fiber has the results of its own gethostbyname and its family, until its next call") {
  loop lp;
  for (int i = 1; i <= 3; ++i)
    spawn(lp, hook::hooked([i] {
            const std::string own = "127.0.0." + std::to_string(i);
            in_addr address{};
            REQUIRE(::inet_pton(AF_INET, own.c_str(), &address) == 1);
            for (int round = 0; round < 100; ++round) {
              const hostent* const by_name = ::gethostbyname(own.c_str());
              await(yield());
              CHECK(address_of(by_name) == own);
              const hostent* const by_family = ::gethostbyname2(own.c_str(), AF_INET);
              await(yield());
              CHECK(address_of(by_family) == own);
              const hostent* const by_address = ::gethostbyaddr(&address, sizeof address, AF_INET);
              await(yield());
              if (by_address) CHECK(address_of(by_address) == own);
            }
          }));
  lp.run();
}

TEST_CASE("a fiber that is ended in gethostbyname gets NETDB_INTERNAL, and its buffers are not written later") {
  static std::counting_semaphore<> answers{0};
  static std::atomic<bool> begun{false}, ended{false};
  const auto before = hook::next.gethostbyname_r;
  hook::next.gethostbyname_r = [](const char*, hostent*, char* bytes, size_t size, hostent** found, int* host_error) {
    begun = true;
    answers.acquire();
    std::memset(bytes, 'x', size);
    *found = nullptr;
    *host_error = HOST_NOT_FOUND;
    ended = true;
    return 0;
  };
  for (const ending end : {ending::cancel, ending::kill})
    for (const bool is_reentrant : {true, false}) {
      CAPTURE(std::string(name_of(end)));
      begun = ended = false;
      std::array<char, 512> bytes{};
      const auto ready = [&] {
        while (!begun) std::this_thread::yield();
      };
      const auto body = [&] {
        hostent host{}, *found = &host;
        int host_error = 0;
        if (!is_reentrant) {
          CHECK(::gethostbyname("somewhere.example") == nullptr);
          CHECK(h_errno == NETDB_INTERNAL);
          return;
        }
        CHECK(::gethostbyname_r("somewhere.example", &host, bytes.data(), bytes.size(), &found, &host_error) ==
              ECANCELED);
        CHECK(host_error == NETDB_INTERNAL);
        CHECK(found == nullptr);
      };
      run_and_end(end, body, ready);
      answers.release();
      while (!ended) std::this_thread::yield();
      CHECK(bytes == std::array<char, 512>{});
    }
  hook::next.gethostbyname_r = before;
}

TEST_CASE("gethostbyaddr and gethostbyaddr_r ask for the address, its length and its family") {
  static std::string requested;
  const auto before = hook::next.gethostbyaddr_r;
  hook::next.gethostbyaddr_r = [](const void* address, socklen_t length, int family, hostent*, char*, size_t,
                                  hostent** found, int* host_error) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    requested = std::to_string(length) + " " + ::inet_ntop(family, address, text.data(), text.size());
    *found = nullptr;
    *host_error = HOST_NOT_FOUND;
    return 0;
  };
  struct row {
    int family;
    const char* address;
    std::string expected;
  };
  for (const row& each : {row{AF_INET, "127.0.0.7", "4 127.0.0.7"}, row{AF_INET6, "::7", "16 ::7"}})
    for (const bool is_reentrant : {true, false})
      in_fiber([&] {
        std::array<char, sizeof(in6_addr)> bytes{};
        std::array<char, 512> room{};
        REQUIRE(::inet_pton(each.family, each.address, bytes.data()) == 1);
        const socklen_t length = each.family == AF_INET ? 4 : 16;
        hostent host{}, *found = &host;
        int host_error = 0;
        requested.clear();
        if (is_reentrant)
          ::gethostbyaddr_r(bytes.data(), length, each.family, &host, room.data(), room.size(), &found, &host_error);
        else found = ::gethostbyaddr(bytes.data(), length, each.family);
        CHECK(found == nullptr);
        CHECK((is_reentrant ? host_error : h_errno) == HOST_NOT_FOUND);
        CHECK(requested == each.expected);
      });
  hook::next.gethostbyaddr_r = before;
}
