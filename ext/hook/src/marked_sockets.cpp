#include "marked_sockets.hpp"

#include "next.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

constinit primitive::atomic<std::uint32_t> marks{0};

namespace {

using entry = primitive::atomic<std::uint64_t>;

// 16 million numbers. The system's own limit is fs.nr_open, a million by default.
constexpr std::size_t page_entries = 4096, page_count = 4096;
using page = std::array<entry, page_entries>;
constinit std::array<primitive::atomic<page*>, page_count> table{};

class errno_guard {
 public:
  errno_guard() noexcept : error_(errno) {}
  errno_guard(const errno_guard&) = delete;
  errno_guard& operator=(const errno_guard&) = delete;
  ~errno_guard() { errno = error_; }

 private:
  const int error_;
};

// Null: no number near this one was ever marked.
entry* find_entry(int fd) noexcept {
  const auto index = static_cast<std::size_t>(fd);
  if (fd < 0 || index >= page_entries * page_count) return nullptr;
  // ORDER: acquire, pairs with the exchange in new_page(): the page is zeroed by then.
  page* const found = table[index / page_entries].load(std::memory_order_acquire);
  return found ? &(*found)[index % page_entries] : nullptr;
}

// Zeroed memory is a page without marks. Null: there is no memory.
page* new_page(primitive::atomic<page*>& place) noexcept {
  void* const memory = ::mmap(nullptr, sizeof(page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  page* expected = nullptr;
  auto* const fresh = static_cast<page*>(memory);
  // ORDER: acq_rel, pairs with itself and with the load in find_entry(): readers see a whole page.
  if (place.compare_exchange_strong(expected, fresh, std::memory_order_acq_rel)) return fresh;
  ::munmap(memory, sizeof(page));
  return expected;
}

entry* make_entry(int fd) noexcept {
  if (entry* const found = find_entry(fd)) return found;
  const auto index = static_cast<std::size_t>(fd);
  if (fd < 0 || index >= page_entries * page_count) return nullptr;
  page* const fresh = new_page(table[index / page_entries]);
  return fresh ? &(*fresh)[index % page_entries] : nullptr;
}

void set_entry(entry& place, std::uint64_t cookie) noexcept {
  // ORDER: relaxed, pairs with the loads in is_marked_now() and has_marks(): handing the connection over orders them.
  if (place.exchange(cookie, std::memory_order_relaxed) == 0) marks.fetch_add(1, std::memory_order_relaxed);
}

void clear_entry(entry& place, std::uint64_t cookie) noexcept {
  // ORDER: relaxed, as in set_entry().
  if (place.compare_exchange_strong(cookie, 0, std::memory_order_relaxed))
    marks.fetch_sub(1, std::memory_order_relaxed);
}

// 0: no socket, or a system without cookies.
std::uint64_t cookie_of(int fd) noexcept {
  std::uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  return ::syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 ? cookie : 0;
}

int socket_option(int fd, int name) noexcept {
  int value = 0;
  socklen_t size = sizeof value;
  return ::syscall(SYS_getsockopt, fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

bool is_stream(int fd) noexcept {
  return socket_option(fd, SO_TYPE) == SOCK_STREAM && socket_option(fd, SO_ACCEPTCONN) == 0;
}

// Whether an address has no name: an end of socketpair(2), or a client of a unix listener.
bool is_nameless(const sockaddr_storage& address, socklen_t size) noexcept {
  return address.ss_family == AF_UNIX && size <= sizeof(sa_family_t);
}

// Without a peer: no event is reported for a socket that connects. A connection that was reset reports POLLRDHUP, and
// its received bytes can still be read. A socket that was never connected reports POLLHUP alone.
bool is_connecting_or_reset(int fd) noexcept {
  pollfd pfd{fd, POLLOUT | POLLRDHUP, 0};
  return raw::poll(&pfd, 1, 0) == 0 || (pfd.revents & POLLRDHUP) != 0;
}

bool is_connected_stream(int fd) noexcept {
  if (!is_stream(fd)) return false;
  sockaddr_storage peer{}, own{};
  socklen_t peer_size = sizeof peer, own_size = sizeof own;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0) return is_connecting_or_reset(fd);
  if (!is_nameless(peer, peer_size)) return true;
  return ::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &own_size) != 0 || !is_nameless(own, own_size);
}

// By their numbers. 0: no socket.
constinit std::array<entry, standard_streams> stream_cookies{};

[[gnu::constructor(101)]] void record_standard_streams() noexcept {
  for (int fd = 0; fd < standard_streams; ++fd) record_standard_stream(fd);
}

bool is_standard_stream(std::uint64_t cookie) noexcept {
  // ORDER: relaxed, pairs with the store in record_standard_stream(): handing the number over orders both.
  const auto has_cookie = [=](const entry& stream) { return stream.load(std::memory_order_relaxed) == cookie; };
  return cookie != 0 && std::ranges::any_of(stream_cookies, has_cookie);
}

// Whether it is marked then. The order of the calls: see "Numbers that are used again".
bool mark(int fd, close_count begin) noexcept {
  const std::uint64_t cookie = cookie_of(fd);
  if (is_standard_stream(cookie) || was_closed_after(fd, begin)) return false;
  entry* const place = cookie != 0 ? make_entry(fd) : nullptr;
  if (place) set_entry(*place, cookie);
  ::shutdown(fd, place ? SHUT_RD : SHUT_RDWR);
  retry(fd);
  return true;
}

void set_error(int fd, bool is_marked, close_count begin) noexcept {
  if (is_marked) errno = errno == ECANCELED ? ECONNABORTED : errno;
  else if (was_closed_after(fd, begin)) errno = EBADF;
}

bool mark_stream(int fd, close_count begin) noexcept {
  const errno_guard guard;
  return is_stream(fd) && mark(fd, begin);
}

}  // namespace

void record_standard_stream(int fd) noexcept {
  const errno_guard guard;
  // ORDER: relaxed, pairs with the load in is_standard_stream(), see there.
  stream_cookies[static_cast<std::size_t>(fd)].store(cookie_of(fd), std::memory_order_relaxed);
}

bool is_marked_now(int fd) noexcept {
  entry* const place = find_entry(fd);
  // ORDER: relaxed, pairs with the exchange in set_entry(), see there.
  const std::uint64_t cookie = place ? place->load(std::memory_order_relaxed) : 0;
  if (cookie == 0) return false;
  const errno_guard guard;
  if (cookie_of(fd) == cookie) return true;
  clear_entry(*place, cookie);
  return false;
}

bool refuse_if_marked(int fd) noexcept {
  if (!is_marked_now(fd)) return false;
  errno = ECONNABORTED;
  return true;
}

// A socket that connected when it was marked is neither connected nor connecting since.
bool mark_if_connected(int fd, close_count begin) noexcept {
  const errno_guard guard;
  return is_marked(fd) || (is_connected_stream(fd) && mark(fd, begin));
}

void abandon(int fd, close_count begin) noexcept { set_error(fd, mark_if_connected(fd, begin), begin); }
void abandon_connect(int fd, close_count begin) noexcept { set_error(fd, mark_stream(fd, begin), begin); }

std::uint64_t mark_of(int fd) noexcept {
  const entry* const place = has_marks() ? find_entry(fd) : nullptr;
  // ORDER: relaxed, as in is_marked_now().
  return place ? place->load(std::memory_order_relaxed) : 0;
}

void remove_mark(int fd, std::uint64_t mark) noexcept {
  entry* const place = mark != 0 ? find_entry(fd) : nullptr;
  if (place) clear_entry(*place, mark);
}

// Walks over pages that exist. What a mark outlives here is found by its cookie.
void remove_marks(unsigned first, unsigned last) noexcept {
  if (!has_marks()) return;
  constexpr std::size_t most = page_entries * page_count - 1;
  const std::size_t end = std::min<std::size_t>(last, most);
  for (std::size_t fd = first; fd <= end; ++fd) {
    if (find_entry(static_cast<int>(fd))) remove_mark(static_cast<int>(fd), mark_of(static_cast<int>(fd)));
    else fd |= page_entries - 1;  // the next page
  }
}

// Without memory: a mark that outlives its number must not end another socket.
void copy_mark(int fd, int copy) noexcept {
  const std::uint64_t mark = mark_of(fd);
  if (mark == 0) return;
  const errno_guard guard;
  if (entry* const place = make_entry(copy)) set_entry(*place, mark);
  else if (cookie_of(copy) == mark) ::shutdown(copy, SHUT_RDWR);
}

}}}  // namespace hocket::hook
