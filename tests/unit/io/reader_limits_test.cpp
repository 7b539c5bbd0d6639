// The limits of readers, copies and whole reads: exact, and the same however the bytes are divided on their way.
#include <hocket/core/sync_wait.hpp>
#include <hocket/io/buffered_reader.hpp>
#include <hocket/io/copy.hpp>
#include <hocket/io/file.hpp>
#include <hocket/io/pipe.hpp>
#include <hocket/io/read_all.hpp>

#include "support/temporary_folder.hpp"

#include <algorithm>
#include <array>
#include <doctest/doctest.h>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

// Gives its pieces one by one, and then the end. A piece that does not fit comes in several.
struct pieces {
  std::vector<std::string> remaining;
  task<result<std::size_t>> read_some(mutable_buffer into) {
    if (remaining.empty()) co_return std::size_t{0};
    std::string& first = remaining.front();
    const std::size_t size = std::min(first.size(), into.size());
    std::copy_n(first.begin(), size, reinterpret_cast<char*>(into.data()));
    first.erase(0, size);
    if (first.empty()) remaining.erase(remaining.begin());
    co_return size;
  }
};
static_assert(byte_source<pieces> && !lending_source<pieces>);

pieces in_two(const std::string& text, std::size_t cut) {
  pieces all;
  for (const std::string& part : {text.substr(0, cut), text.substr(cut)})
    if (!part.empty()) all.remaining.push_back(part);
  return all;
}
pieces in_bytes(const std::string& text) {
  pieces all;
  for (const char byte : text) all.remaining.push_back(std::string(1, byte));
  return all;
}

std::string reported(const result<std::optional<std::string_view>>& message) {
  if (!message) return message.error() == std::errc::message_size ? "message_size" : message.error().message();
  return *message ? '"' + std::string(**message) + '"' : "the end";
}

// How a message is read: as a line, or up to a delimiter.
struct way {
  const char* end;
  const char* delimiter;  // null: a line
};
constexpr std::array ways{way{"\n", nullptr}, way{"\r\n", nullptr}, way{";", ";"}, way{"\r\n\r\n", "\r\n\r\n"},
                          way{"abab", "abab"}};

template <class Source>
std::string read_one(Source source, std::size_t limit, const way& by) {
  buffered_reader reader(source, limit);
  return reported(by.delimiter ? sync_wait(reader.read_until(by.delimiter)) : sync_wait(reader.read_line()));
}

// Every cut of the text into two, and one into bytes.
void check_every_cut(const std::string& text, std::size_t limit, const way& by, const std::string& expected) {
  CAPTURE(limit);
  CAPTURE(by.end);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    CAPTURE(cut);
    CHECK(read_one(in_two(text, cut), limit, by) == expected);
  }
  CHECK(read_one(in_bytes(text), limit, by) == expected);
}

}  // namespace

TEST_CASE("a message of just the limit is taken, and one of a byte more is not, however they are cut") {
  for (const way& by : ways) {
    for (const std::size_t limit : {0u, 1u, 2u, 16u}) {
      for (std::size_t size = limit == 0 ? 0 : limit - 1; size <= limit + 3; ++size) {
        CAPTURE(size);
        const std::string words(size, 'x');
        const std::string expected = size <= limit ? '"' + words + '"' : "message_size";
        check_every_cut(words + by.end + "next", limit, by, expected);
        check_every_cut(words + by.end, limit, by, expected);
      }
    }
  }
}

TEST_CASE("a message that has parts of its delimiter in it is measured with them") {
  for (const std::size_t limit : {3u, 4u, 5u}) {
    check_every_cut("aabababab", limit, {"abab", "abab"}, "\"a\"");
    check_every_cut("a\r\nb\r\n\r\n", limit, {"\r\n\r\n", "\r\n\r\n"}, limit < 4 ? "message_size" : "\"a\r\nb\"");
    check_every_cut("abc\r\r\n", limit, {"\r\n", nullptr}, limit < 4 ? "message_size" : "\"abc\r\"");
    check_every_cut("ab\rc\n", limit, {"\n", nullptr}, limit < 4 ? "message_size" : "\"ab\rc\"");
  }
}

TEST_CASE("a last line without an end is measured whole") {
  for (const std::size_t limit : {1u, 4u}) {
    const std::string just(limit, 'x'), longer(limit + 1, 'x');
    check_every_cut(just, limit, ways[0], '"' + just + '"');
    check_every_cut(longer, limit, ways[0], "message_size");
    check_every_cut(just + '\r', limit, ways[0], "message_size");
    check_every_cut(just.substr(1) + '\r', limit, ways[0], '"' + just.substr(1) + "\r\"");
  }
}

// The source would not answer another read.
TEST_CASE("a message is refused as soon as no rest of it can make it short enough") {
  struct endless : pieces {
    task<result<std::size_t>> read_some(mutable_buffer into) {
      CHECK_MESSAGE(!remaining.empty(), "read more than was needed");
      return pieces::read_some(into);
    }
  };
  for (const way& by : ways) {
    endless source{{{std::string(17, 'x')}}};
    buffered_reader reader(source, 16);
    const auto message = by.delimiter ? sync_wait(reader.read_until(by.delimiter)) : sync_wait(reader.read_line());
    CHECK(reported(message) == "message_size");
    CHECK(reader.unread() == std::string(17, 'x'));
  }
}

TEST_CASE("the limit of 64 KB is exact, too, and so is that of a source that lends") {
  for (const std::size_t limit : {std::size_t{16}, std::size_t{4096}, std::size_t{16384}, std::size_t{65536}}) {
    for (const std::size_t size : {limit, limit + 1}) {
      for (const char* end : {"\n", "\r\n"}) {
        CAPTURE(size);
        const std::string words(size, 'x'), expected = size == limit ? '"' + words + '"' : "message_size";
        for (const std::size_t cut : {std::size_t{0}, size - 1, size, size + 1})
          CHECK(read_one(in_two(words + end + "next\n", cut), limit, {end, nullptr}) == expected);
        auto [reader, writer] = make_pipe().value();
        buffered_reader lines(reader, limit);
        std::size_t sent = 0;
        std::string text = words + end + "next\n";
        for (const std::size_t part : {size / 2, size - size / 2, text.size() - size}) {
          REQUIRE(sync_wait(writer.write_all(std::string_view(text).substr(sent, part))) == part);
          sent += part;
          if (sent < text.size()) CHECK(sync_wait(lines.wait_for_message()).has_value());
        }
        writer.close();
        CHECK(reported(sync_wait(lines.read_line())) == expected);
        if (size == limit) CHECK(reported(sync_wait(lines.read_line())) == "\"next\"");
      }
    }
  }
}

TEST_CASE("a reader of the largest limit reads on") {
  pieces source = in_bytes("line\nnext");
  buffered_reader reader(source, std::numeric_limits<std::size_t>::max());
  CHECK(reported(sync_wait(reader.read_line())) == "\"line\"");
  CHECK(reported(sync_wait(reader.read_until(";"))) != "message_size");
}

TEST_CASE("counted bytes up to the limit are read, and bytes may be unread up to it") {
  for (const std::size_t limit : {1u, 16u}) {
    for (std::size_t cut = 0; cut <= limit; ++cut) {
      pieces source = in_two(std::string(limit, 'x'), cut);
      buffered_reader reader(source, limit);
      CHECK(sync_wait(reader.read_exactly(limit + 1)).error_or({}) == std::errc::message_size);
      CHECK(sync_wait(reader.read_exactly(limit)) == std::string(limit, 'x'));
    }
    pieces source = in_bytes(std::string(limit + 1, 'x'));
    buffered_reader reader(source, limit);
    for (std::size_t i = 0; i != limit; ++i) CHECK(sync_wait(reader.fill()) == true);
    CHECK(sync_wait(reader.fill()).error_or({}) == std::errc::message_size);
    CHECK(reader.unread().size() == limit);
  }
}

TEST_CASE("a copy with a limit takes no byte beyond it from its source, however that is cut") {
  struct text_sink {
    std::string all;
    task<result<std::size_t>> write_all(const_buffer bytes) {
      all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      co_return bytes.size();
    }
  };
  const std::string text = "abcdefgh";
  for (std::size_t limit = 0; limit <= text.size() + 1; ++limit) {
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
      CAPTURE(limit);
      CAPTURE(cut);
      pieces source = in_two(text, cut);
      text_sink sink;
      const std::size_t expected = std::min(limit, text.size());
      CHECK(sync_wait(copy(source, sink, limit)) == expected);
      CHECK(sink.all == text.substr(0, expected));
      std::string rest;
      for (const std::string& current : source.remaining) rest += current;
      CHECK(rest == text.substr(expected));
    }
  }
}

TEST_CASE("a whole stream and a whole file of just the limit are read, and longer ones are not") {
  const temporary_folder folder;
  const std::string name = folder / "file";
  for (const std::size_t limit :
       {std::size_t{0}, std::size_t{1}, std::size_t{4095}, std::size_t{4096}, std::size_t{4097}}) {
    for (const std::size_t size : {limit, limit + 1}) {
      CAPTURE(size);
      const std::string text(size, 'x');
      auto [reader, writer] = make_pipe().value();
      REQUIRE(sync_wait(writer.write_all(text)) == size);
      writer.close();
      const auto stream = sync_wait(read_all(reader, limit));
      std::ofstream(name) << text;
      const auto file = sync_wait(read_file(name, limit));
      if (size == limit) {
        CHECK(stream == text);
        CHECK(file == text);
      } else {
        CHECK(stream.error_or({}) == std::errc::message_size);
        CHECK(file.error_or({}) == std::errc::file_too_large);
      }
    }
  }
}
