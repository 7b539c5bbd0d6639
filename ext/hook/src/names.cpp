// getaddrinfo, getnameinfo, gethostbyname and its family: as lookups (lookups.hpp), because a resolver can be slow.
//
// A numeric host needs no lookup, nor does a host with AI_NUMERICHOST. The call answers at once, or runs on the pool if
// the name of the service must be read from /etc/services.
//
// The results of gethostbyname(), gethostbyname2() and gethostbyaddr() are in static memory of libc, for all threads.
// Here each fiber has a result of its own (fiber_local), valid until its next call. h_errno is the thread's: it is set
// when the fiber has resumed.
#include <hocket/fiber/fiber_local.hpp>

#include "caller.hpp"
#include "host_answer.hpp"
#include "lookups.hpp"
#include "next.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace hook { namespace {

bool is_address(const char* text) noexcept {
  std::array<unsigned char, sizeof(in6_addr)> bytes;
  return ::inet_pton(AF_INET, text, bytes.data()) == 1 || ::inet_pton(AF_INET6, text, bytes.data()) == 1;
}
// fe80::1%eth0: numeric for getaddrinfo() alone.
bool is_scoped_address(const char* text) noexcept {
  const std::size_t size = std::strcspn(text, "%");
  std::array<char, INET6_ADDRSTRLEN> host{};
  if (text[size] == 0 || size >= host.size()) return false;
  std::memcpy(host.data(), text, size);
  in6_addr bytes{};
  return ::inet_pton(AF_INET6, host.data(), &bytes) == 1;
}
bool is_number(const char* text) noexcept { return text[std::strspn(text, "0123456789")] == 0; }

// Makes a lookup. Null: there is no memory for it.
template <class Lookup, class... Args>
Lookup* make_lookup(Args&&... args) noexcept try {
  return new Lookup(std::forward<Args>(args)...);
} catch (const std::bad_alloc&) {
  return nullptr;
}

using text = std::optional<std::string>;
text text_of(const char* string) { return string ? text(string) : std::nullopt; }
const char* pointer_to(const text& string) noexcept { return string ? string->c_str() : nullptr; }

// --- getaddrinfo

class address_lookup final : public lookup {
 public:
  address_lookup(const char* host, const char* service, const addrinfo* hints)
      : host_(text_of(host)), service_(text_of(service)), has_hints_(hints != nullptr) {
    if (!hints) return;
    hints_.ai_flags = hints->ai_flags;
    hints_.ai_family = hints->ai_family;
    hints_.ai_socktype = hints->ai_socktype;
    hints_.ai_protocol = hints->ai_protocol;
  }
  ~address_lookup() override {
    if (found_) ::freeaddrinfo(found_);
  }
  int take(addrinfo** found) noexcept {
    if (result_ == 0) *found = std::exchange(found_, nullptr);
    if (result_ == EAI_SYSTEM) errno = error_;
    return result_;
  }

 private:
  void run() noexcept override {
    result_ = next.getaddrinfo(pointer_to(host_), pointer_to(service_), has_hints_ ? &hints_ : nullptr, &found_);
    error_ = errno;
  }

  const text host_, service_;
  addrinfo hints_{};
  const bool has_hints_;
  addrinfo* found_ = nullptr;
  int result_ = EAI_SYSTEM;
  int error_ = 0;
};

bool is_numeric_host(const char* host, const addrinfo* hints) noexcept {
  return !host || is_address(host) || is_scoped_address(host) || (hints && (hints->ai_flags & AI_NUMERICHOST) != 0);
}

int getaddrinfo_hooked(const char* host, const char* service, const addrinfo* hints, addrinfo** found) noexcept {
  if (!may_begin()) return EAI_SYSTEM;
  const auto call = [&] { return next.getaddrinfo(host, service, hints, found); };
  if (is_numeric_host(host, hints)) {
    if (!service || is_number(service)) return call();
    int result = EAI_SYSTEM;
    static_cast<void>(on_pool([&] {
      result = call();
      return 0;
    }));
    return result;
  }
  const lookup_ptr job(make_lookup<address_lookup>(host, service, hints));
  if (!job) return EAI_MEMORY;
  return job->run_elsewhere() ? job->take(found) : EAI_SYSTEM;
}

// --- getnameinfo

class name_lookup final : public lookup {
 public:
  name_lookup(const sockaddr* address, socklen_t size, socklen_t host_size, socklen_t service_size, int flags)
      : size_(size), host_(host_size), service_(service_size), flags_(flags) {
    std::memcpy(&address_, address, size);
  }
  int take(char* host, char* service) const noexcept {
    if (result_ == EAI_SYSTEM) errno = error_;
    if (result_ != 0) return result_;
    std::copy(host_.begin(), host_.end(), host);
    std::copy(service_.begin(), service_.end(), service);
    return 0;
  }

 private:
  void run() noexcept override {
    const auto* const address = reinterpret_cast<const sockaddr*>(&address_);
    result_ = next.getnameinfo(address, size_, buffer_of(host_), static_cast<socklen_t>(host_.size()),
                               buffer_of(service_), static_cast<socklen_t>(service_.size()), flags_);
    error_ = errno;
  }
  static char* buffer_of(std::vector<char>& bytes) noexcept { return bytes.empty() ? nullptr : bytes.data(); }

  sockaddr_storage address_{};
  const socklen_t size_;
  std::vector<char> host_, service_;
  const int flags_;
  int result_ = EAI_SYSTEM;
  int error_ = 0;
};

int getnameinfo_hooked(const sockaddr* address, socklen_t size, char* host, socklen_t host_size, char* service,
                       socklen_t service_size, int flags) noexcept {
  if (!may_begin()) return EAI_SYSTEM;
  if ((flags & NI_NUMERICHOST) != 0 || size > sizeof(sockaddr_storage))
    return next.getnameinfo(address, size, host, host_size, service, service_size, flags);
  const lookup_ptr job(
      make_lookup<name_lookup>(address, size, host ? host_size : 0, service ? service_size : 0, flags));
  if (!job) return EAI_MEMORY;
  return job->run_elsewhere() ? job->take(host, service) : EAI_SYSTEM;
}

// --- gethostbyname and its family

auto name_function() noexcept { return find_next(next.gethostbyname_r, "gethostbyname_r"); }
auto family_function() noexcept { return find_next(next.gethostbyname2_r, "gethostbyname2_r"); }
auto address_function() noexcept { return find_next(next.gethostbyaddr_r, "gethostbyaddr_r"); }

// The three old questions: by name, by name and family, by address.
struct host_question {
  text name{};
  std::array<char, sizeof(in6_addr)> address{};
  socklen_t length = 0;
  int family = AF_UNSPEC;  // AF_UNSPEC: gethostbyname()

  // Their answer in `buffer`. Returns an errno.
  int ask(host_answer& answer) const noexcept {
    char* const bytes = answer.buffer.data();
    const std::size_t size = answer.buffer.size();
    const auto call = [&](auto function, auto... arguments) {
      return function(arguments..., &answer.host, bytes, size, &answer.found, &answer.host_error);
    };
    if (!name) return call(address_function(), static_cast<const void*>(address.data()), length, family);
    if (family != AF_UNSPEC) return call(family_function(), name->c_str(), family);
    return call(name_function(), name->c_str());
  }
  bool needs_no_lookup() const noexcept { return name && is_address(name->c_str()); }
};

class host_lookup final : public lookup {
 public:
  host_lookup(host_question question, std::size_t size) : question_(std::move(question)), answer_(size) {}
  host_answer& answer() noexcept { return answer_; }

 private:
  void run() noexcept override { answer_.result = question_.ask(answer_); }

  const host_question question_;
  host_answer answer_;
};

// Calls use(answer) with the answer in a buffer of this size, and returns its result; false: see errno.
template <class Use>
bool with_answer(host_question question, std::size_t size, Use use) noexcept try {
  if (!may_begin()) return false;
  if (question.needs_no_lookup()) {
    host_answer answer(size);
    answer.result = question.ask(answer);
    use(answer);
    return true;
  }
  const lookup_ptr job(new host_lookup(std::move(question), size));
  if (!job->run_elsewhere()) return false;
  use(job->answer());
  return true;
} catch (const std::bad_alloc&) {
  errno = ENOMEM;
  return false;
}

host_question question_about(const char* name, int family = AF_UNSPEC) {
  host_question question;
  question.name = name;
  question.family = family;
  return question;
}
host_question question_about(const void* address, socklen_t length, int family) noexcept {
  host_question question;
  question.length = std::min<socklen_t>(length, sizeof(in6_addr));
  question.family = family;
  std::memcpy(question.address.data(), address, question.length);
  return question;
}

// Buffers of the caller.
struct host_buffers {
  hostent* host;
  char* buffer;
  size_t size;
  hostent** found;
  int* host_error;

  int fail(int error) const noexcept {
    *host_error = NETDB_INTERNAL;
    *found = nullptr;
    return error;
  }
};

// Returns an errno. The arguments are passed to question_about().
template <class... Args>
int answer_into(const host_buffers& to, Args... args) noexcept try {
  int result = 0;
  const bool has_answer = with_answer(question_about(args...), to.size, [&](const host_answer& answer) {
    result = answer.result;
    *to.host_error = answer.host_error;
    *to.found = answer.found ? to.host : nullptr;
    if (answer.found) answer.copy_to(*to.host, to.buffer);
  });
  return has_answer ? result : to.fail(errno);
} catch (const std::bad_alloc&) {
  return to.fail(ENOMEM);
}

// The answer of the fiber's last call.
constinit fiber_local<std::optional<host_answer>> last_answer;

// The answer in a buffer of `size` bytes. False: try a larger one.
bool answer_within(const host_question& question, std::size_t size, hostent*& found) {
  bool is_too_small = false;
  const bool has_answer = with_answer(question, size, [&](host_answer& answer) {
    is_too_small = answer.result == ERANGE && answer.host_error == NETDB_INTERNAL;
    if (!answer.found) h_errno = answer.host_error;
    if (!is_too_small) found = last_answer->emplace(std::move(answer)).found_here();
  });
  if (!has_answer) h_errno = NETDB_INTERNAL;
  return !is_too_small;
}

template <class... Args>
hostent* answer_of_fiber(Args... args) noexcept try {
  constexpr std::size_t first = 1024, most = 1 << 20;
  const host_question question = question_about(args...);
  hostent* found = nullptr;
  for (std::size_t size = first; size <= most; size *= 2)
    if (answer_within(question, size, found)) break;
  return found;
} catch (const std::bad_alloc&) {
  h_errno = NETDB_INTERNAL;
  errno = ENOMEM;
  return nullptr;
}

}  // namespace
}}}  // namespace hocket::hook

namespace hook = hocket::hook;

extern "C" {

int getaddrinfo(const char* host, const char* service, const addrinfo* hints, addrinfo** found) {
  if (!hook::is_hooked()) [[likely]]
    return hook::find_next(hook::next.getaddrinfo, "getaddrinfo")(host, service, hints, found);
  return hook::getaddrinfo_hooked(host, service, hints, found);
}
int getnameinfo(const sockaddr* address, socklen_t size, char* host, socklen_t host_size, char* service,
                socklen_t service_size, int flags) {
  if (!hook::is_hooked()) [[likely]]
    return hook::find_next(hook::next.getnameinfo, "getnameinfo")(address, size, host, host_size, service, service_size,
                                                                  flags);
  return hook::getnameinfo_hooked(address, size, host, host_size, service, service_size, flags);
}
hostent* gethostbyname(const char* name) {
  if (!hook::is_hooked()) [[likely]]
    return hook::find_next(hook::next.gethostbyname, "gethostbyname")(name);
  return hook::answer_of_fiber(name);
}
hostent* gethostbyname2(const char* name, int family) {
  if (!hook::is_hooked()) [[likely]]
    return hook::find_next(hook::next.gethostbyname2, "gethostbyname2")(name, family);
  return hook::answer_of_fiber(name, family);
}
hostent* gethostbyaddr(const void* address, socklen_t length, int family) {
  if (!hook::is_hooked()) [[likely]]
    return hook::find_next(hook::next.gethostbyaddr, "gethostbyaddr")(address, length, family);
  return hook::answer_of_fiber(address, length, family);
}
int gethostbyname_r(const char* name, hostent* host, char* buffer, size_t size, hostent** found, int* host_error) {
  if (!hook::is_hooked()) [[likely]]
    return hook::find_next(hook::next.gethostbyname_r, "gethostbyname_r")(name, host, buffer, size, found, host_error);
  return hook::answer_into({host, buffer, size, found, host_error}, name);
}
int gethostbyname2_r(const char* name, int family, hostent* host, char* buffer, size_t size, hostent** found,
                     int* host_error) {
  if (!hook::is_hooked()) [[likely]]
    return hook::find_next(hook::next.gethostbyname2_r, "gethostbyname2_r")(name, family, host, buffer, size, found,
                                                                            host_error);
  return hook::answer_into({host, buffer, size, found, host_error}, name, family);
}
int gethostbyaddr_r(const void* address, socklen_t length, int family, hostent* host, char* buffer, size_t size,
                    hostent** found, int* host_error) {
  if (!hook::is_hooked()) [[likely]]
    return hook::find_next(hook::next.gethostbyaddr_r, "gethostbyaddr_r")(address, length, family, host, buffer, size,
                                                                          found, host_error);
  return hook::answer_into({host, buffer, size, found, host_error}, address, length, family);
}

}  // extern "C"
