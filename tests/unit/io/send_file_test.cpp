#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/io/buffered_reader.hpp>
#include <hocket/io/send_file.hpp>
#include <hocket/runtime/loop.hpp>

#include "support/sockets.hpp"

#include <cstdio>
#include <doctest/doctest.h>
#include <memory>
#include <string>

using namespace hocket;
using namespace hocket_test;

namespace {

struct file_closer {
  void operator()(std::FILE* of) const { std::fclose(of); }
};
using file_of_test = std::unique_ptr<std::FILE, file_closer>;

file_of_test file_with(const std::string& bytes) {
  file_of_test made(std::tmpfile());
  REQUIRE(made != nullptr);
  REQUIRE(std::fwrite(bytes.data(), 1, bytes.size(), made.get()) == bytes.size());
  REQUIRE(std::fflush(made.get()) == 0);
  return made;
}

std::string numbered(std::size_t size) {
  std::string all;
  for (std::size_t i = 0; all.size() < size; ++i) all += std::to_string(i) + ' ';
  all.resize(size);
  return all;
}

task<result<std::size_t>> send_and_close(stream& to, std::FILE* file, std::uint64_t offset, std::size_t count) {
  result<std::size_t> sent = co_await send_file(to, ::fileno(file), offset, count);
  to.close();
  co_return sent;
}

task<std::string> read_whole(stream& from) {
  std::string all;
  for (;;) {
    auto bytes = co_await from.read_borrowed();
    if (!bytes || bytes->empty()) co_return all;
    all += bytes->text();
  }
}

}  // namespace

TEST_CASE("a file arrives whole, and from an offset, through a buffer that is too small for it") {
  const std::string bytes = numbered(3'000'000);
  const file_of_test file = file_with(bytes);
  auto [near, far] = connected(8192);
  loop lp;
  auto sent = spawn(lp, send_and_close, std::ref(near), file.get(), 1000, bytes.size() - 3000);
  auto got = spawn(lp, read_whole, std::ref(far));
  lp.run();
  CHECK(sync_wait(sent) == bytes.size() - 3000);
  CHECK(sync_wait(got) == bytes.substr(1000, bytes.size() - 3000));
}

TEST_CASE("a file that ends early is sent to its end") {
  const file_of_test file = file_with("short");
  auto [near, far] = connected();
  CHECK(sync_wait(send_and_close(near, file.get(), 2, 100)) == std::size_t{3});
  CHECK(sync_wait(read_whole(far)) == "ort");
}

TEST_CASE("a fiber sends a file to a peer that has gone: an error, and no signal") {
  const file_of_test file = file_with(numbered(100'000));
  auto [near, far] = connected();
  far.close();
  loop lp;
  auto sent = spawn(lp, [&to = near, &file] { return await(send_and_close(to, file.get(), 0, 100'000)); });
  lp.run();
  CHECK(sync_wait(sent).error_or({}) == std::errc::broken_pipe);
  CHECK(sync_wait(send_and_close(near, file.get(), 0, 1)).error_or({}) == std::errc::bad_file_descriptor);
}

TEST_CASE("a send of a file is cancelled while the peer does not read") {
  const file_of_test file = file_with(numbered(3'000'000));
  auto [near, far] = connected(8192);
  loop lp;
  auto sent = spawn(lp, send_and_close, std::ref(near), file.get(), 0, 3'000'000);
  auto cancel = spawn(lp, [&sent] {
    static_cast<void>(await(yield()));
    sent.cancel();
  });
  lp.run();
  CHECK(sync_wait(sent).error_or({}) == std::errc::operation_canceled);
}
