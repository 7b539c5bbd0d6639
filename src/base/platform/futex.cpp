// Linux futexes: the one way in which hocket blocks a thread. And the hint for the moments in which it spins.
#include <hocket/base/atomic.hpp>

#include <climits>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hocket::inline HOCKET_ABI {
namespace {

static_assert(sizeof(atomic<std::uint32_t>) == 4, "a futex word is the atomic's own four bytes");

void futex(const atomic<std::uint32_t>& word, int operation, std::uint32_t value) noexcept {
  ::syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

}  // namespace

void cpu_relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

void futex_wait(const atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  futex(word, FUTEX_WAIT_PRIVATE, expected);
}
void futex_wake_one(const atomic<std::uint32_t>& word) noexcept { futex(word, FUTEX_WAKE_PRIVATE, 1); }
void futex_wake_all(const atomic<std::uint32_t>& word) noexcept { futex(word, FUTEX_WAKE_PRIVATE, INT_MAX); }

}  // namespace hocket::inline HOCKET_ABI
