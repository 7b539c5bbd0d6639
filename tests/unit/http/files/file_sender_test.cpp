// Sending a range of a file: cached bytes at once, others by the blocking pool, and files that change meanwhile.
#include <hocket/core/sync_wait.hpp>
#include <hocket/http/detail/file_sender.hpp>
#include <hocket/io/unique_fd.hpp>

#include "support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fstream>
#include <ostream>
#include <string>
#include <unistd.h>

using namespace hocket;
using http::detail::file_reader;
using http::detail::send_file_part;

namespace {

std::string numbers(std::size_t size) {
  std::string text;
  for (int i = 0; text.size() < size; ++i) text += std::to_string(i) + "\n";
  text.resize(size);
  return text;
}

class open_file {
 public:
  explicit open_file(const std::string& content) {
    std::ofstream(folder_ / "file", std::ios::binary) << content;
    fd_ = unique_fd(::open((folder_ / "file").c_str(), O_RDWR | O_CLOEXEC));
    REQUIRE(fd_);
  }
  int fd() const { return fd_.native_handle(); }

 private:
  hocket_test::temporary_folder folder_;
  unique_fd fd_;
};

// A sink that keeps all bytes, and fails behind `limit` bytes.
struct text_sink {
  task<result<std::size_t>> write_all(const_buffer data) {
    if (text.size() + data.size() > limit) co_return failure(std::make_error_code(std::errc::broken_pipe));
    text.append(reinterpret_cast<const char*>(data.data()), data.size());
    co_return data.size();
  }
  std::string text;
  std::size_t limit = static_cast<std::size_t>(-1);
};
static_assert(byte_sink<text_sink>);

}  // namespace

TEST_CASE("a range of any place and size is sent as it is") {
  const std::string content = numbers(300'000);
  const open_file file(content);
  for (const auto& [offset, size] : {std::pair<std::size_t, std::size_t>{0, 300'000},
                                     {0, 0},
                                     {0, 1},
                                     {299'999, 1},
                                     {1, 65'535},
                                     {1, 65'536},
                                     {1, 65'537},
                                     {100, 200'000},
                                     {131'072, 65'536}}) {
    CAPTURE(offset);
    CAPTURE(size);
    text_sink sink;
    CHECK(sync_wait(send_file_part(sink, file.fd(), offset, size, nullptr)).has_value());
    CHECK((sink.text == content.substr(offset, size)));
  }
}

TEST_CASE("bytes that are not in the cache are read on the pool") {
  const std::string content = numbers(300'000);
  const open_file file(content);
  REQUIRE(::fsync(file.fd()) == 0);
  REQUIRE(::posix_fadvise(file.fd(), 0, 0, POSIX_FADV_DONTNEED) == 0);
  const std::uint64_t calls = blocking_pool::process_pool().statistics().begun;
  file_reader reader(file.fd(), 0, content.size());
  const bool was_cached = reader.try_read();
  text_sink sink;
  CHECK(sync_wait(send_file_part(sink, file.fd(), 0, content.size(), nullptr)).has_value());
  CHECK((sink.text == content));
  if (was_cached) MESSAGE("the file system keeps its cache");
  else CHECK(blocking_pool::process_pool().statistics().begun > calls);
}

TEST_CASE("the pool of the caller reads, and not the pool of the process") {
  blocking_pool pool;
  const std::uint64_t calls = blocking_pool::process_pool().statistics().begun;
  const open_file file("0123456789");
  text_sink sink;
  // There is no byte to read in the cache: the read on the pool finds the end.
  CHECK(sync_wait(send_file_part(sink, file.fd(), 10, 1, &pool)).error() == std::errc::io_error);
  CHECK(pool.statistics().begun == 1);
  CHECK(blocking_pool::process_pool().statistics().begun == calls);
}

TEST_CASE("a file that is shorter than the range is an error behind its last byte") {
  const open_file file("0123456789");
  for (const auto& [offset, size] :
       {std::pair<std::uint64_t, std::uint64_t>{0, 11}, {5, 6}, {10, 1}, {100, 1}, {0, 1'000'000}, {9, 65'536}}) {
    CAPTURE(offset);
    CAPTURE(size);
    text_sink sink;
    const auto sent = sync_wait(send_file_part(sink, file.fd(), offset, size, nullptr));
    REQUIRE_FALSE(sent.has_value());
    CHECK(sent.error() == std::errc::io_error);
    CHECK(sink.text == (offset < 10 ? std::string("0123456789").substr(offset) : ""));
  }
}

TEST_CASE("a file that is truncated while it is sent is an error") {
  const open_file file(numbers(200'000));
  file_reader reader(file.fd(), 0, 200'000);
  REQUIRE((reader.try_read() || reader.read_blocking().has_value()));
  REQUIRE(::ftruncate(file.fd(), 10) == 0);
  CHECK_FALSE(reader.is_at_end());
  CHECK_FALSE(reader.try_read());
  CHECK(reader.read_blocking().error() == std::errc::io_error);
}

TEST_CASE("an error of the file or of the sink ends the sending") {
  text_sink sink;
  CHECK(sync_wait(send_file_part(sink, -1, 0, 10, nullptr)).error() == std::errc::bad_file_descriptor);
  const open_file file(numbers(200'000));
  text_sink full{{}, 70'000};
  CHECK(sync_wait(send_file_part(full, file.fd(), 0, 200'000, nullptr)).error() == std::errc::broken_pipe);
  CHECK(full.text.size() <= 70'000);
}
