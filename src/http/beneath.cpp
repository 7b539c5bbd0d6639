#include <hocket/base/seam/own_fds.hpp>

#include "http/beneath.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace http::detail {

namespace {

constexpr int read_flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
constexpr int folder_flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

template <class Call>
int fd_or_error(Call call) noexcept {
  int fd = 0;
  do fd = hocket::detail::own_fd(static_cast<int>(call()));
  while (fd < 0 && errno == EINTR);
  return fd < 0 ? -errno : fd;
}

int open_at(int folder, const char* name, int flags) noexcept {
  return fd_or_error([&] { return ::openat(folder, name, flags); });
}

// An fd, or an error number below 0.
int open_by_kernel(int root, const char* path, open_mode mode) noexcept {
  open_how request{};
  request.flags = read_flags;
  request.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  if (mode == open_mode::cached) request.resolve |= RESOLVE_CACHED;
  return fd_or_error([&] { return ::syscall(SYS_openat2, root, path, &request, sizeof request); });
}

// The fallback.
class beneath_walk {
 public:
  beneath_walk(int root, const char* path) : root_(root), rest_(path) {}

  // An fd, or an error number below 0.
  int open() {
    if (!rest_.empty() && rest_.front() == '/') return -EXDEV;
    for (std::string name; next_component(name);) {
      const bool is_last = rest_.find_first_not_of('/') == rest_.npos;
      const int fd = is_last ? open_last(name) : enter(name);
      if (fd != next_step) return fd;
    }
    return open_at(present(), ".", read_flags);
  }

 private:
  static constexpr int next_step = INT_MIN;  // neither an fd nor an error
  static constexpr std::size_t max_depth = 128;
  static constexpr int max_links = 40;

  int present() const noexcept { return folders_.empty() ? root_ : folders_.back().native_handle(); }

  bool next_component(std::string& name) {
    const std::size_t begin = rest_.find_first_not_of('/');
    if (begin == rest_.npos) return false;
    const std::size_t end = rest_.find('/', begin);
    name = rest_.substr(begin, end == rest_.npos ? rest_.npos : end - begin);
    rest_.erase(0, end);
    return true;
  }

  int enter(const std::string& name) {
    if (name == ".") return next_step;
    if (name == "..") return leave();
    if (folders_.size() == max_depth) return -ENAMETOOLONG;
    const int fd = open_at(present(), name.c_str(), folder_flags);
    if (fd < 0) return fd == -ENOTDIR || fd == -ELOOP ? follow(name, -ENOTDIR) : fd;
    folders_.emplace_back(fd);
    return next_step;
  }

  int open_last(const std::string& name) {
    if (name == "." || name == "..") return enter(name);
    const int folder_only = rest_.empty() ? 0 : O_DIRECTORY;  // "name/"
    const int fd = open_at(present(), name.c_str(), read_flags | O_NOFOLLOW | folder_only);
    return fd == -ELOOP || fd == -ENOTDIR ? follow(name, fd) : fd;
  }

  int leave() {
    if (folders_.empty()) return -EXDEV;
    folders_.pop_back();
    return next_step;
  }

  // `name` is a symlink, or else `error` is the result.
  int follow(const std::string& name, int error) {
    std::array<char, PATH_MAX> text;
    const ssize_t size = ::readlinkat(present(), name.c_str(), text.data(), text.size());
    if (size < 0) return errno == EINVAL ? error : -errno;
    if (++links_ > max_links) return -ELOOP;
    const std::string_view target(text.data(), static_cast<std::size_t>(size));
    if (target.empty()) return -ENOENT;
    if (target.front() == '/') return -EXDEV;
    if (target.size() + rest_.size() >= PATH_MAX) return -ENAMETOOLONG;
    rest_.insert(0, target);
    return next_step;
  }

  const int root_;
  std::string rest_;                // begins with a slash, or is empty, behind the first component
  std::vector<unique_fd> folders_;  // from the root's child to the present folder
  int links_ = 0;
};

bool is_refused(int error) noexcept { return error == -ENOSYS || error == -EPERM; }

opened_file::kind kind_of(unsigned mode) noexcept {
  if (S_ISREG(mode)) return opened_file::kind::regular;
  return S_ISDIR(mode) ? opened_file::kind::folder : opened_file::kind::other;
}

}  // namespace

int read_state(opened_file& opened) noexcept {
  struct statx state{};
  constexpr unsigned requested = STATX_TYPE | STATX_SIZE | STATX_MTIME | STATX_CTIME;
  if (::statx(opened.fd.native_handle(), "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, requested, &state) != 0) return errno;
  opened.type = kind_of(state.stx_mode);
  opened.size = state.stx_size;
  opened.mtime = state.stx_mtime.tv_sec;
  opened.ctime = state.stx_ctime.tv_sec;
  // Beyond the year 2262 the number wraps, and still differs for each time.
  const auto seconds = static_cast<std::uint64_t>(opened.mtime);
  opened.modified_ns = static_cast<std::int64_t>(seconds * 1'000'000'000 + state.stx_mtime.tv_nsec);
  return 0;
}

int open_beneath(int root, const char* path, open_mode mode, opened_file& opened) {
  int fd = open_by_kernel(root, path, mode);
  // EAGAIN: another process has renamed a folder meanwhile, and the name has a `..` behind it.
  constexpr int max_tries = 8;
  for (int tries = 1; fd == -EAGAIN && mode == open_mode::may_block && tries < max_tries; ++tries)
    fd = open_by_kernel(root, path, mode);
  // A kernel without RESOLVE_CACHED refuses it with EINVAL.
  if (mode == open_mode::cached && (is_refused(fd) || fd == -EINVAL)) return EAGAIN;
  if (is_refused(fd)) fd = beneath_walk(root, path).open();
  if (fd < 0) return -fd;
  opened.fd = unique_fd(fd);
  return read_state(opened);
}

}}}  // namespace hocket::http::detail
