// Files: how they are opened, the pool of their operations, and early ends.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/io/file.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/time/within.hpp>

#include "support/temporary_folder.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <limits>
#include <string>
#include <sys/stat.h>
#include <thread>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

std::string text_of(const std::string& path) { return sync_wait(read_file(path)).value(); }

std::error_code error_of_open(const std::string& path, const file_options& options = {}) {
  return sync_wait(file::open(path, options)).error_or({});
}

// A pool of one thread, which a call occupies until release().
struct occupied_pool {
  occupied_pool() {
    holder = spawn(
        lp,
        [](occupied_pool& self) -> task<> {
          static_cast<void>(co_await blocking(self.pool, [&self] { self.open.wait(false); }));
        },
        std::ref(*this));
    lp.poll();
    while (pool.statistics().begun == 0) std::this_thread::yield();
  }
  ~occupied_pool() {
    release();
    lp.run_until(holder);
  }
  void release() {
    open = true;
    open.notify_all();
  }

  std::atomic<bool> open{false};
  blocking_pool pool{{.threads = 1, .queue = 10}};
  loop lp;
  join_handle<> holder;
};

task<std::error_code> write_over(file& to) {
  auto put = co_await to.write_at("over", 0);
  co_return put.error_or({});
}

constexpr std::size_t much_to_append = 500'000;  // more than a pipe holds

// The buffer is a local: it would be gone if the coroutine ended first.
task<std::size_t> append_much(file& to) {
  const std::string much(much_to_append, 'a');
  auto put = co_await to.append(much);
  co_return put.value_or(0);
}

}  // namespace

TEST_CASE("a file is opened as its options say, or is an error") {
  temporary_folder folder;
  CHECK(error_of_open(folder / "none") == std::errc::no_such_file_or_directory);
  CHECK(error_of_open(folder / "new", {.create = true}) == std::error_code());
  CHECK(error_of_open(folder / "new", {.create = true, .exclusive = true}) == std::errc::file_exists);
  for (const file_options wrong : {file_options{.read = false}, {.exclusive = true}, {.truncate = true}})
    CHECK(error_of_open(folder / "new", wrong) == std::errc::invalid_argument);
  CHECK(error_of_open(std::string(folder / "new") + '\0' + "old") == std::errc::invalid_argument);

  file only_read = sync_wait(file::open(folder / "new")).value();
  CHECK(sync_wait(only_read.write_at("x", 0)).error_or({}) == std::errc::bad_file_descriptor);
  CHECK((::fcntl(only_read.native_handle(), F_GETFD) & FD_CLOEXEC) != 0);
  sync_wait(write_file(folder / "new", "words")).value();
  CHECK(error_of_open(folder / "new", {.write = true, .truncate = true}) == std::error_code());
  CHECK(text_of(folder / "new").empty());
  static_cast<void>(error_of_open(folder / "mine", {.create = true, .permissions = 0600}));
  struct stat facts{};
  REQUIRE(::stat((folder / "mine").c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777) == 0600);
}

TEST_CASE("what is appended stands behind the end, and a file that was not opened for that refuses") {
  temporary_folder folder;
  file first = sync_wait(file::open(folder / "log", {.append = true, .create = true})).value();
  file second = sync_wait(file::open(folder / "log", {.append = true})).value();
  CHECK(sync_wait(first.append("one ")) == 4);
  CHECK(sync_wait(second.append("two ")) == 4);
  CHECK(sync_wait(first.append("three")) == 5);
  CHECK(text_of(folder / "log") == "one two three");
  file plain = sync_wait(file::open(folder / "log", {.write = true})).value();
  CHECK(sync_wait(plain.append("x")).error_or({}) == std::errc::invalid_argument);
}

TEST_CASE("operations on a closed file, and on none, are errors, also those that were made before") {
  temporary_folder folder;
  sync_wait(write_file(folder / "text", "words")).value();
  file none, closed = sync_wait(file::open(folder / "text")).value();
  std::array<char, 8> buffer;
  file gone = sync_wait(file::open(folder / "text")).value();
  auto late = closed.read_at(buffer, 0), later = gone.read_at(buffer, 0);
  closed.close();
  closed.close();
  CHECK(closed.native_handle() == -1);
  gone = file();
  file next = sync_wait(file::open(folder / "text")).value();  // in the place of `gone`
  CHECK(sync_wait(std::move(late)).error_or({}) == std::errc::bad_file_descriptor);
  CHECK(sync_wait(std::move(later)).error_or({}) == std::errc::bad_file_descriptor);
  for (file* one : {&none, &closed}) {
    CHECK(sync_wait(one->read_at(buffer, 0)).error_or({}) == std::errc::bad_file_descriptor);
    CHECK(sync_wait(one->read_all()).error_or({}) == std::errc::bad_file_descriptor);
    CHECK(sync_wait(one->size()).error_or({}) == std::errc::bad_file_descriptor);
    CHECK(sync_wait(one->sync()).error_or({}) == std::errc::bad_file_descriptor);
    CHECK(sync_wait(one->resize(1)).error_or({}) == std::errc::bad_file_descriptor);
  }
  CHECK(file::adopt(-1).error_or({}) == std::errc::bad_file_descriptor);
  CHECK(sync_wait(file::adopt(::open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC)).value().read_all()).has_value());
}

TEST_CASE("positions that no file has are invalid arguments") {
  temporary_folder folder;
  file one = sync_wait(file::open(folder / "text", {.write = true, .create = true})).value();
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  std::array<char, 8> buffer;
  CHECK(sync_wait(one.read_at(buffer, most)).error_or({}) == std::errc::invalid_argument);
  CHECK(sync_wait(one.write_at("x", most)).error_or({}) == std::errc::invalid_argument);
  CHECK(sync_wait(one.resize(most)).error_or({}) == std::errc::invalid_argument);
  CHECK(sync_wait(one.size()) == 0);
}

TEST_CASE("an operation that waits for a thread of the pool is cancelled or timed out, and has done nothing") {
  temporary_folder folder;
  sync_wait(write_file(folder / "text", "kept")).value();
  occupied_pool busy;
  file one = file::adopt(::open((folder / "text").c_str(), O_RDWR | O_CLOEXEC), &busy.pool).value();
  auto write = spawn(busy.lp, write_over, std::ref(one));
  busy.lp.poll();
  CHECK(busy.pool.statistics().queued == 1);
  write.cancel();
  busy.lp.run_until(write);
  CHECK(sync_wait(write) == std::errc::operation_canceled);
  CHECK(sync_wait(within(1ms, one.write_at("over", 0))).error_or({}) == std::errc::timed_out);
  busy.release();
  CHECK(sync_wait(one.read_all()) == "kept");
}

// A pipe is no file, but its write waits: the first bytes show that the operation has begun.
TEST_CASE("an operation that has begun is waited for, whatever ends its coroutine, and a cancel leaves its result") {
  for (const bool kill : {false, true}) {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    REQUIRE(::fcntl(ends[1], F_SETFL, O_APPEND) == 0);
    blocking_pool pool({.threads = 1});
    file to = file::adopt(ends[1], &pool).value();
    loop lp;
    auto writes = spawn(lp, append_much, std::ref(to));
    lp.poll();
    std::vector<char> buffer(much_to_append);
    std::size_t got = 0;
    const auto read_some = [&] {
      got += static_cast<std::size_t>(::read(ends[0], buffer.data() + got, buffer.size() - got));
    };
    read_some();
    if (kill) writes.kill();
    else writes.cancel();
    lp.poll();
    CHECK_FALSE(writes.done());
    while (got != buffer.size()) read_some();
    lp.run_until(writes);
    CHECK(std::count(buffer.begin(), buffer.end(), 'a') == static_cast<std::ptrdiff_t>(much_to_append));
    if (!kill) CHECK(sync_wait(writes) == much_to_append);
    ::close(ends[0]);
  }
}

TEST_CASE("the operations of many coroutines on one file of a runtime do not disturb each other") {
  constexpr std::uint64_t writers = 50;
  temporary_folder folder;
  file one = sync_wait(file::open(folder / "text", {.write = true, .create = true})).value();
  runtime rt({.workers = 2});
  std::vector<join_handle<>> all;
  for (std::uint64_t i = 0; i < writers; ++i) {
    const std::string words(100, static_cast<char>('0' + i));
    if (i % 2 == 0)
      all.push_back(spawn(
          rt,
          [](file& to, std::string what, std::uint64_t at) -> task<> {
            auto put = co_await to.write_at(what, at);
            CHECK(put == what.size());
          },
          std::ref(one), words, i * 100));
    else all.push_back(spawn(rt, [&one, words, i] { CHECK(await(one.write_at(words, i * 100)) == words.size()); }));
  }
  for (auto& each : all) sync_wait(each);
  const std::string text = text_of(folder / "text");
  REQUIRE(text.size() == writers * 100);
  for (std::size_t i = 0; i < text.size(); ++i) REQUIRE(text[i] == static_cast<char>('0' + i / 100));
}
