// getaddrinfo, getnameinfo, gethostbyname and its family: on the pool, because a resolver can be slow.
//
// getaddrinfo() answers a numeric host at once. A lookup that has begun cannot be stopped: as for each call on the
// pool, even a killed fiber waits for its end.
#include "caller.hpp"
#include "next.hpp"

#include <arpa/inet.h>
#include <array>
#include <cstring>

namespace hocket { inline namespace HOCKET_ABI { namespace hook { namespace {

bool is_address(const char* text) noexcept {
  std::array<unsigned char, sizeof(in6_addr)> room;
  return ::inet_pton(AF_INET, text, room.data()) == 1 || ::inet_pton(AF_INET6, text, room.data()) == 1;
}
bool is_number(const char* text) noexcept { return text[std::strspn(text, "0123456789")] == 0; }

// Whether there is nothing to look up.
bool is_numeric(const char* host, const char* service) noexcept {
  return (!host || is_address(host)) && (!service || is_number(service));
}

// The lookup's result; EAI_SYSTEM if it did not run.
template <class Call>
int looked_up(Call call) noexcept {
  int got = EAI_SYSTEM;
  static_cast<void>(on_pool([&] {
    got = call();
    return 0;
  }));
  return got;
}

int getaddrinfo_hooked(const char* host, const char* service, const addrinfo* hints, addrinfo** found) noexcept {
  if (!may_begin()) return EAI_SYSTEM;
  if (is_numeric(host, service)) return next.getaddrinfo(host, service, hints, found);
  return looked_up([&] { return next.getaddrinfo(host, service, hints, found); });
}

int getnameinfo_hooked(const sockaddr* of, socklen_t size, char* host, socklen_t host_room, char* service,
                       socklen_t service_room, int flags) noexcept {
  if (!may_begin()) return EAI_SYSTEM;
  const auto call = [&] { return next.getnameinfo(of, size, host, host_room, service, service_room, flags); };
  if ((flags & NI_NUMERICHOST) != 0) return call();
  return looked_up(call);
}

// The old calls. They return an errno; `wrong` is the error of the name (h_errno).
template <class Call>
int gethostby(Call call, int* wrong) noexcept {
  if (!may_begin()) {
    *wrong = NETDB_INTERNAL;
    return errno;
  }
  int got = -1;
  const int ran = on_pool([&] {
    got = call();
    return 0;
  });
  if (ran == 0) return got;
  *wrong = NETDB_INTERNAL;
  return errno;
}

// Its result is in static memory: the caller's risk. h_errno is per thread: copied from the pool's thread.
hostent* gethostbyname_hooked(const char* name) noexcept {
  struct found {
    hostent* host;
    int wrong;
  } got{nullptr, NETDB_INTERNAL};
  if (may_begin()) {
    static_cast<void>(on_pool([&] {
      got.host = next.gethostbyname(name);
      got.wrong = h_errno;
      return 0;
    }));
  }
  if (!got.host) h_errno = got.wrong;
  return got.host;
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
int getnameinfo(const sockaddr* of, socklen_t size, char* host, socklen_t host_room, char* service,
                socklen_t service_room, int flags) {
  if (!hook::is_hooked()) [[likely]]
    return hook::find_next(hook::next.getnameinfo, "getnameinfo")(of, size, host, host_room, service, service_room,
                                                                  flags);
  return hook::getnameinfo_hooked(of, size, host, host_room, service, service_room, flags);
}
hostent* gethostbyname(const char* name) {
  if (!hook::is_hooked()) [[likely]]
    return hook::find_next(hook::next.gethostbyname, "gethostbyname")(name);
  return hook::gethostbyname_hooked(name);
}
int gethostbyname_r(const char* name, hostent* host, char* room, size_t size, hostent** found, int* wrong) {
  const auto real = hook::find_next(hook::next.gethostbyname_r, "gethostbyname_r");
  if (!hook::is_hooked()) [[likely]]
    return real(name, host, room, size, found, wrong);
  return hook::gethostby([&] { return real(name, host, room, size, found, wrong); }, wrong);
}
int gethostbyname2_r(const char* name, int family, hostent* host, char* room, size_t size, hostent** found,
                     int* wrong) {
  const auto real = hook::find_next(hook::next.gethostbyname2_r, "gethostbyname2_r");
  if (!hook::is_hooked()) [[likely]]
    return real(name, family, host, room, size, found, wrong);
  return hook::gethostby([&] { return real(name, family, host, room, size, found, wrong); }, wrong);
}
int gethostbyaddr_r(const void* address, socklen_t length, int family, hostent* host, char* room, size_t size,
                    hostent** found, int* wrong) {
  const auto real = hook::find_next(hook::next.gethostbyaddr_r, "gethostbyaddr_r");
  if (!hook::is_hooked()) [[likely]]
    return real(address, length, family, host, room, size, found, wrong);
  return hook::gethostby([&] { return real(address, length, family, host, room, size, found, wrong); }, wrong);
}

}  // extern "C"
