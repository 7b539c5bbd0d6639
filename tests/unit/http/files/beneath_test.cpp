// Files beneath a folder: names that lead out of it, symlinks, special files. Each test runs with openat2(2) and with
// the fallback, in a thread whose filter of system calls refuses openat2(2).
#include <hocket/io/unique_fd.hpp>

#include "http/beneath.hpp"
#include "support/temporary_folder.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

using namespace hocket::http::detail;
namespace fs = std::filesystem;

namespace {

constexpr int allow_all = 0;

// Lets openat2(2) fail with `error` on the calling thread. False: the system has no such filter.
bool refuse_openat2(int error) {
  std::array<sock_filter, 4> program{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offsetof(seccomp_data, nr))),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(SYS_openat2), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (static_cast<unsigned>(error) & SECCOMP_RET_DATA)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// Runs the test with the system call, and with each error of a filter.
template <class Test>
void with_and_without_openat2(Test test) {
  for (int error : {allow_all, ENOSYS, EPERM}) {
    CAPTURE(error);
    std::thread([&] {
      if (error == allow_all || refuse_openat2(error)) test();
      else MESSAGE("no filter of system calls: left out");
    }).join();
  }
}

// outside/secret, site/{a.txt, .hidden, dir/b.txt, fifo, links ...}
class site {
 public:
  site() {
    fs::create_directories(folder_ / "site/dir/deep");
    fs::create_directory(folder_ / "outside");
    write("outside/secret", "secret");
    write("site/a.txt", "hello");
    write("site/dir/b.txt", "b");
    write("site/dir/deep/c.txt", "ccc");
    REQUIRE(::mkfifo((folder_ / "site/fifo").c_str(), 0600) == 0);
    root_ = hocket::unique_fd(::open((folder_ / "site").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    REQUIRE(root_);
  }
  void link(const char* target, const char* name) { fs::create_symlink(target, folder_ / name); }
  std::string path(const char* name) const { return folder_ / name; }
  int open(const char* name, opened_file& opened, open_mode mode = open_mode::may_block) const {
    return open_beneath(root_.native_handle(), name, mode, opened);
  }
  int error_of(const char* name) const {
    opened_file opened;
    return open(name, opened);
  }

 private:
  void write(const char* name, const char* text) { std::ofstream(folder_ / name) << text; }

  hocket_test::temporary_folder folder_;
  hocket::unique_fd root_;
};

std::string content_of(const opened_file& opened) {
  std::array<char, 64> text;
  const ssize_t size = ::read(opened.fd.native_handle(), text.data(), text.size());
  return {text.data(), static_cast<std::size_t>(size < 0 ? 0 : size)};
}

}  // namespace

TEST_CASE("a file beneath the folder is opened, by plain names and by symlinks that stay beneath") {
  site files;
  files.link("a.txt", "site/link");
  files.link("dir", "site/folder");
  files.link("../a.txt", "site/dir/up");
  files.link("deep/../../link", "site/dir/detour");
  files.link("./dir/./deep//c.txt", "site/dots");
  files.link("link", "site/chain");
  struct row {
    const char *name, *content;
  };
  with_and_without_openat2([&] {
    for (const row& expected :
         {row{"a.txt", "hello"}, row{"dir/b.txt", "b"}, row{"./dir//deep/./c.txt", "ccc"}, row{"dir/../a.txt", "hello"},
          row{"dir/deep/../../a.txt", "hello"}, row{"link", "hello"}, row{"folder/b.txt", "b"}, row{"dir/up", "hello"},
          row{"folder/up", "hello"}, row{"dir/detour", "hello"}, row{"dots", "ccc"}, row{"chain", "hello"}}) {
      CAPTURE(expected.name);
      opened_file opened;
      REQUIRE(files.open(expected.name, opened) == 0);
      CHECK(opened.type == opened_file::kind::regular);
      CHECK(opened.size == std::string(expected.content).size());
      CHECK(opened.mtime > 1'000'000'000);
      CHECK(content_of(opened) == expected.content);
    }
  });
}

TEST_CASE("a name that leads out of the folder is refused") {
  site files;
  files.link("/", "site/root");
  files.link(files.path("outside/secret").c_str(), "site/absolute");
  files.link(files.path("site/a.txt").c_str(), "site/absolute_inside");
  files.link("../outside/secret", "site/relative");
  files.link("..", "site/parent");
  files.link("../..", "site/dir/grandparent");
  files.link("dir/../../outside", "site/detour");
  files.link("relative", "site/chain");
  files.link("/proc/self/root", "site/magic");
  with_and_without_openat2([&] {
    for (const char* name : {"..",
                             "../outside/secret",
                             "../site/a.txt",
                             "dir/../../outside/secret",
                             "dir/../..",
                             "/etc/passwd",
                             "/",
                             "root",
                             "root/etc/passwd",
                             "absolute",
                             "absolute_inside",
                             "relative",
                             "parent",
                             "parent/outside/secret",
                             "dir/grandparent",
                             "dir/grandparent/outside/secret",
                             "detour/secret",
                             "chain",
                             "magic/etc/passwd",
                             "./../outside/secret"}) {
      CAPTURE(name);
      CHECK(files.error_of(name) == EXDEV);
    }
  });
}

TEST_CASE("a missing name, a file as a folder and a circle of symlinks are errors") {
  site files;
  files.link("circle", "site/circle");
  files.link("second", "site/first");
  files.link("first", "site/second");
  files.link("nowhere", "site/dangling");
  const std::string long_name(300, 'x');
  struct row {
    const char* name;
    int error;
  };
  with_and_without_openat2([&] {
    for (const row& expected : {row{"missing", ENOENT}, row{"missing/a.txt", ENOENT}, row{"dir/missing", ENOENT},
                                row{"a.txt/b", ENOTDIR}, row{"a.txt/", ENOTDIR}, row{"dir/b.txt/c", ENOTDIR},
                                row{"circle", ELOOP}, row{"first", ELOOP}, row{"circle/x", ELOOP},
                                row{"dangling", ENOENT}, row{"A.TXT", ENOENT}, row{long_name.c_str(), ENAMETOOLONG}}) {
      CAPTURE(expected.name);
      CHECK(files.error_of(expected.name) == expected.error);
    }
  });
}

TEST_CASE("folders and special files are opened without blocking, and are not regular") {
  site files;
  files.link("fifo", "site/fifo_link");
  with_and_without_openat2([&] {
    for (const char* name : {".", "dir", "dir/", "dir/deep", "dir/..", "./."}) {
      CAPTURE(name);
      opened_file opened;
      REQUIRE(files.open(name, opened) == 0);
      CHECK(opened.type == opened_file::kind::folder);
    }
    for (const char* name : {"fifo", "fifo_link", "dir/../fifo"}) {
      CAPTURE(name);
      opened_file opened;
      REQUIRE(files.open(name, opened) == 0);
      CHECK(opened.type == opened_file::kind::other);
    }
  });
  const hocket::unique_fd devices(::open("/dev", O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (const char* name : {"null", "zero", "full", "random", "urandom"}) {
    CAPTURE(name);
    opened_file opened;
    REQUIRE(open_beneath(devices.native_handle(), name, open_mode::may_block, opened) == 0);
    CHECK(opened.type == opened_file::kind::other);
  }
}

TEST_CASE("a cached name is opened at once, and without openat2 the caller is sent to the pool") {
  site files;
  with_and_without_openat2([&] {
    opened_file opened;
    REQUIRE(files.open("a.txt", opened) == 0);
    const int error = files.open("a.txt", opened, open_mode::cached);
    CHECK((error == 0 || error == EAGAIN));
    CHECK(files.open("../outside/secret", opened, open_mode::cached) != 0);
  });
}

TEST_CASE("the fallback bounds the depth of a name") {
  site files;
  std::string name = "dir";
  for (int i = 0; i < 200; ++i) {
    name += "/x";
    fs::create_directory(fs::path(files.path("site")) / name);
  }
  std::thread([&] {
    if (refuse_openat2(ENOSYS)) CHECK(files.error_of(name.c_str()) == ENAMETOOLONG);
  }).join();
}

TEST_CASE("no name shows the outside while folders are exchanged with symlinks and moved out") {
  with_and_without_openat2([] {
    site files;
    files.link("../outside", "site/leads_out");
    fs::create_directories(files.path("outside/deep"));
    std::atomic<bool> has_ended{false};
    std::thread exchanging([&] {
      const auto exchange = [](const std::string& a, const std::string& b) {
        static_cast<void>(::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE));
      };
      while (!has_ended) {
        exchange(files.path("site/dir"), files.path("site/leads_out"));
        exchange(files.path("site/dir/deep"), files.path("outside/deep"));
      }
    });
    int shown = 0;
    for (int i = 0; i != 3000; ++i) {
      for (const char* name : {"dir/secret", "leads_out/secret", "dir/deep/../secret", "dir/deep/../../secret",
                               "leads_out/deep/../secret", "dir/deep/../../../outside/secret"}) {
        opened_file opened;
        if (files.open(name, opened) == 0 && opened.type == opened_file::kind::regular) ++shown;
      }
    }
    has_ended = true;
    exchanging.join();
    CHECK(shown == 0);
  });
}
