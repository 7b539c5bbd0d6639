// Linux: guards, as markers or by mprotect.
#include <hocket/base/seam/atomic.hpp>
#include <hocket/base/seam/own_fds.hpp>

#include "stack/platform/advice.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

// Where compilers make no frame touch each of its pages (-fstack-clash-protection does nothing for riscv64 in g++ up to
// 14 and clang up to 19), a guard must be larger than the frames that are to be found.
#if defined(__riscv)
constexpr std::size_t least_guard = std::size_t{64} << 10;
#else
constexpr std::size_t least_guard = 1;
#endif

constexpr int madv_guard_install = 102;  // Linux 6.13; the C library's headers are older
constexpr int madv_guard_remove = 103;

// What is known of markers in this process.
enum class markers : std::uint8_t { untried, work, refused };
atomic<markers> known{markers::untried};

// Guards made by mprotect, in the whole process. Each takes two mappings.
atomic<std::size_t> split_mappings{0};

std::size_t most_split_mappings() noexcept {
  static const std::size_t limit = [] {
    std::size_t maps = 65530;  // the kernel's default
    if (std::FILE* file = std::fopen("/proc/sys/vm/max_map_count", "re")) {
      if (std::fscanf(file, "%zu", &maps) != 1) maps = 65530;
      std::fclose(file);
    }
    return maps / 4;
  }();
  return limit;
}

// Takes `count` of the mappings that guards may have; false: there are not so many left.
bool take_mappings(std::size_t count) noexcept {
  // ORDER: relaxed, pairs with nothing: a count.
  if (split_mappings.fetch_add(count, std::memory_order_relaxed) + count <= most_split_mappings()) return true;
  forget_guards(count);
  return false;
}

// Whether the kernel cannot read the page, which is what a guard means; asked of it by a system call, so that no signal
// is involved. Without a descriptor for a pipe a path does: an unreadable one is no path at all.
bool kernel_faults_at(const std::byte* page) noexcept {
  std::array<int, 2> pipe{};
  if (own_fds(::pipe2(pipe.data(), O_CLOEXEC | O_NONBLOCK), pipe) != 0)
    return ::access(reinterpret_cast<const char*>(page), F_OK) != 0 && errno == EFAULT;
  const bool faults = ::write(pipe[1], page, 1) < 0 && errno == EFAULT;
  ::close(pipe[0]);
  ::close(pipe[1]);
  return faults;
}

bool install_marker(memory_range page) noexcept { return ::madvise(page.first, page.size, madv_guard_install) == 0; }

bool use_markers() noexcept {
  // ORDER: relaxed, pairs with nothing: whoever sees `untried` tries for himself, with the same outcome.
  markers state = known.load(std::memory_order_relaxed);
  if (state != markers::untried) return state == markers::work;
  state = guard_trial_finds(&install_marker) ? markers::work : markers::refused;
  markers untried = markers::untried;
  // ORDER: relaxed, pairs with nothing: as above. It does not replace what a test has set.
  if (known.compare_exchange_strong(untried, state, std::memory_order_relaxed)) return state == markers::work;
  return untried == markers::work;
}

std::error_code protect(memory_range range) noexcept {
  if (!take_mappings(1)) return std::make_error_code(std::errc::not_enough_memory);
  if (::mprotect(range.first, range.size, PROT_NONE) == 0) {
    ::madvise(range.first, range.size, MADV_DONTNEED);
    return {};
  }
  std::error_code error = last_error();
  forget_guards(1);
  return error;
}

std::size_t mark(const memory_range* ranges, std::size_t count, std::error_code& error) noexcept {
  std::size_t marked = advise(ranges, count, madv_guard_install, error);
  // A foreign thread changed the page tables meanwhile: the kernel asks for another try.
  for (int tries = 0; error == std::errc::interrupted && tries < 100; ++tries)
    marked += advise(ranges + marked, count - marked, madv_guard_install, error);
  return marked;
}

}  // namespace

std::size_t guard_size() noexcept { return round_up(least_guard, page_size()); }

bool guard_trial_finds(bool (*install)(memory_range page) noexcept) noexcept {
  auto memory = reserve_memory(page_size(), page_size());
  if (!memory) return false;
  const memory_range page{*memory, page_size()};
  const bool finds = !kernel_faults_at(page.first) && install(page) && kernel_faults_at(page.first);
  return_memory(page.first, page.size);
  return finds;
}

guard_report guard_pages(const memory_range* ranges, std::size_t count) noexcept {
  guard_report report{0, 0, {}};
  if (use_markers()) {
    report.guarded = mark(ranges, count, report.error);
    if (!report.error || report.error == std::errc::not_enough_memory) return report;
  }
  for (report.error = {}; report.guarded < count; ++report.guarded, ++report.split)
    if ((report.error = protect(ranges[report.guarded]))) break;
  return report;
}

std::error_code unguard_pages(const memory_range* ranges, std::size_t count, std::size_t split) noexcept {
  for (std::size_t i = 0; split != 0 && i < count; ++i)
    if (::mprotect(ranges[i].first, ranges[i].size, PROT_READ | PROT_WRITE) != 0) return last_error();
  forget_guards(split);
  std::error_code error;
  if (use_markers() && split < count) static_cast<void>(advise(ranges, count, madv_guard_remove, error));
  return error;
}

void forget_guards(std::size_t split) noexcept {
  // ORDER: relaxed, pairs with nothing: a count.
  split_mappings.fetch_sub(split, std::memory_order_relaxed);
}

bool guards_are_markers() noexcept { return use_markers(); }

void refuse_guard_markers() noexcept {
  // ORDER: relaxed, pairs with nothing: others may use a few more of them.
  known.store(markers::refused, std::memory_order_relaxed);
}

}}}  // namespace hocket::detail
