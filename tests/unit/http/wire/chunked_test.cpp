#include <hocket/http/detail/chunked_decoder.hpp>
#include <doctest/doctest.h>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace hocket::http::detail;
using std::string_view_literals::operator""sv;
using state = chunked_decoder::state;

struct decoded {
  int status = 0;  // 0: more; 200: done
  std::string section;
  std::string data;
  std::string trailers;
  std::size_t size = 0;  // of a body that is done
  bool operator==(const decoded&) const = default;
};

// Feeds one piece. Returns whether the decoder wants more.
bool feed(chunked_decoder& decoder, std::string_view input, decoded& sum) {
  for (;;) {
    const chunked_decoder::step step = decoder.decode(input);
    input.remove_prefix(step.consumed);
    sum.size += step.consumed;
    switch (step.state) {
      case state::more: CHECK(input.empty()); return true;
      case state::data: sum.data += step.data; break;
      case state::trailer: sum.trailers += step.data; break;
      case state::done: sum.status = 200; return false;
      case state::refused:
        sum = {static_cast<int>(decoder.error().code), decoder.error().section, sum.data, sum.trailers, 0};
        return false;
    }
  }
}

decoded decode_pieces(std::string_view bytes, const std::vector<std::size_t>& ends, const chunked_limits& limits = {}) {
  chunked_decoder decoder(limits);
  decoded sum;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    const std::string copy(bytes.substr(begin, end - begin));
    if (!feed(decoder, copy, sum)) break;
    begin = end;
  }
  if (sum.status == 0) sum.size = 0;
  return sum;
}
decoded decode_whole(std::string_view bytes, const chunked_limits& limits = {}) {
  return decode_pieces(bytes, {bytes.size()}, limits);
}
decoded decode_bytewise(std::string_view bytes, const chunked_limits& limits = {}) {
  std::vector<std::size_t> ends;
  for (std::size_t i = 1; i <= bytes.size(); ++i) ends.push_back(i);
  return decode_pieces(bytes, ends, limits);
}

struct chunked_case {
  std::string_view bytes;
  int status;
  std::string_view section;
  std::string_view data;
  std::string_view trailers = "";
};

constexpr chunked_case cases[] = {
    // Accepted.
    {"0\r\n\r\n"sv, 200, "", ""},
    {"5\r\nhello\r\n0\r\n\r\n"sv, 200, "", "hello"},
    {"5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n"sv, 200, "", "hello!"},
    {"a\r\n0123456789\r\n0\r\n\r\n"sv, 200, "", "0123456789"},
    {"A\r\n0123456789\r\n0\r\n\r\n"sv, 200, "", "0123456789"},
    {"00a\r\n0123456789\r\n000\r\n\r\n"sv, 200, "", "0123456789"},
    {"0000000000000001\r\nx\r\n0000000000000000\r\n\r\n"sv, 200, "", "x"},
    {"4\r\n\r\n\r\n\r\n0\r\n\r\n"sv, 200, "", "\r\n\r\n"},
    {"3\r\n0\r\n\r\n0\r\n\r\n"sv, 200, "", "0\r\n"},
    {"2\r\n\0\xff\r\n0\r\n\r\n"sv, 200, "", "\0\xff"sv},
    // Extensions.
    {"1;a\r\nx\r\n0\r\n\r\n"sv, 200, "", "x"},
    {"1;a=b\r\nx\r\n0\r\n\r\n"sv, 200, "", "x"},
    {"1;a=b;c;d=e\r\nx\r\n0;z\r\n\r\n"sv, 200, "", "x"},
    {"1 ; a = b \t; c\r\nx\r\n0\r\n\r\n"sv, 200, "", "x"},
    {"1;a=\"b c;,\t\"\r\nx\r\n0\r\n\r\n"sv, 200, "", "x"},
    {"1;a=\"\\\"\\\\\"\r\nx\r\n0\r\n\r\n"sv, 200, "", "x"},
    {"1;a=\"\";b\r\nx\r\n0\r\n\r\n"sv, 200, "", "x"},
    {"1;a=\"\x80\"\r\nx\r\n0\r\n\r\n"sv, 200, "", "x"},
    // Trailers.
    {"0\r\nX: y\r\n\r\n"sv, 200, "", "", "X: y\r\n"},
    {"0\r\nX: y\r\nZ:\r\n\r\n"sv, 200, "", "", "X: y\r\nZ:\r\n"},
    {"1\r\nx\r\n0\r\nContent-Length: 5\r\nTransfer-Encoding: x\r\n\r\n"sv, 200, "", "x",
     "Content-Length: 5\r\nTransfer-Encoding: x\r\n"},
    // Sizes.
    {"\r\n\r\n"sv, 400, "RFC 9112, 7.1", ""},
    {" 1\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1", ""},
    {"+1\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1", ""},
    {"-1\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1", ""},
    {"-0\r\n\r\n"sv, 400, "RFC 9112, 7.1", ""},
    {"0x1\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1", ""},
    {"g\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1", ""},
    {"1g\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1", ""},
    {"1.0\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1", ""},
    {"1,\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1", ""},
    {"1_0\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1", ""},
    {"1\0\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1", ""},
    {";a\r\n\r\n"sv, 400, "RFC 9112, 7.1", ""},
    {"00000000000000001\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1", ""},
    {"00000000000000000\r\n\r\n"sv, 400, "RFC 9112, 7.1", ""},
    {"fffffffffffffffff\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1", ""},
    {"ffffffffffffffff\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1", ""},
    {"8000000000000000\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1", ""},
    {"10000000000000000\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1", ""},
    // Line ends of sizes and data: bare LF, bare CR, data longer or shorter than the size.
    {"1\nx\n0\n\n"sv, 400, "RFC 9112, 7.1", ""},
    {"1\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1", ""},
    {"1\rx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 2.2", ""},
    {"1\r\rx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 2.2", ""},
    {"1\r\nx\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1", "x"},
    {"1\r\nx\r0\r\n\r\n"sv, 400, "RFC 9112, 2.2", "x"},
    {"1\r\nx0\r\n\r\n"sv, 400, "RFC 9112, 7.1", "x"},
    {"1\r\nxy\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1", "x"},
    {"2\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1", "x\r"},
    {"1\r\nx\r\n\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1", "x"},
    {"0\n\r\n"sv, 400, "RFC 9112, 7.1", ""},
    {"0\r\n\n"sv, 400, "RFC 9112, 7.1.2", ""},
    {"0\r\n\rx"sv, 400, "RFC 9112, 2.2", ""},
    {"0\r\r\n\r\n"sv, 400, "RFC 9112, 2.2", ""},
    // Extensions in forms that another reader may end elsewhere.
    {"1;\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1.1", ""},
    {"1;;a\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1.1", ""},
    {"1 \r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1.1", ""},
    {"1\t\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1.1", ""},
    {"1 a\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1.1", ""},
    {"1;a\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1.1", ""},
    {"1;a\rx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 2.2", ""},
    {"1;\n\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1.1", ""},
    {"1;\nxx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1.1", ""},
    {"1;a=\nb\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1.1", ""},
    {"1;a=\"\n\"\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1.1", ""},
    {"1;a=\"\r\n\"\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1.1", ""},
    {"1;a=\"\\\n\"\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1.1", ""},
    {"1;a=\"\\\r\n\"\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1.1", ""},
    {"1;a=\"\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1.1", ""},
    {"1;a=\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1.1", ""},
    {"1;=b\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1.1", ""},
    {"1;a=b=c\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1.1", ""},
    {"1;a b\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1.1", ""},
    {"1;a \r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1.1", ""},
    {"1;a=b \r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1.1", ""},
    {"1;a=\"b\"c\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1.1", ""},
    {"1;a\0\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1.1", ""},
    {"1;a=\"\x7f\"\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1.1", ""},
    {"1;a,b\r\nx\r\n0\r\n\r\n"sv, 400, "RFC 9112, 7.1.1", ""},
    {"0;\n\r\n"sv, 400, "RFC 9112, 7.1.1", ""},
    // Trailers with the faults of fields.
    {"0\r\nX : y\r\n\r\n"sv, 400, "RFC 9112, 7.1.2", ""},
    {"0\r\n X: y\r\n\r\n"sv, 400, "RFC 9112, 7.1.2", ""},
    {"0\r\nX: y\r\n z\r\n\r\n"sv, 400, "RFC 9112, 7.1.2", ""},
    {"0\r\nX: y\n\r\n"sv, 400, "RFC 9112, 7.1.2", ""},
    {"0\r\nX: y\rz\r\n\r\n"sv, 400, "RFC 9112, 2.2", ""},
    {"0\r\nX\r\n\r\n"sv, 400, "RFC 9112, 7.1.2", ""},
    {"0\r\n: y\r\n\r\n"sv, 400, "RFC 9112, 7.1.2", ""},
    {"0\r\nX: \0\r\n\r\n"sv, 400, "RFC 9112, 7.1.2", ""},
    {"0\r\nX(: y\r\n\r\n"sv, 400, "RFC 9112, 7.1.2", ""},
    {"0\r\nGET / HTTP/1.1\r\n\r\n"sv, 400, "RFC 9112, 7.1.2", ""},
};

TEST_CASE("each chunked body of the table has its verdict, in one piece, byte by byte, and split at each position") {
  for (const chunked_case& row : cases) {
    CAPTURE(row.bytes);
    const decoded whole = decode_whole(row.bytes);
    CHECK(whole.status == row.status);
    CHECK(whole.section == row.section);
    CHECK(whole.data == row.data);
    if (row.status == 200) {
      CHECK(whole.trailers == row.trailers);
      CHECK(whole.size == row.bytes.size());
    }
    const decoded bytewise = decode_bytewise(row.bytes);
    CHECK(bytewise.status == whole.status);
    CHECK(bytewise.section == whole.section);
    CHECK(bytewise.data == whole.data);
    if (row.status == 200) CHECK(bytewise.trailers == whole.trailers);
    for (std::size_t at = 1; at < row.bytes.size(); ++at) {
      const decoded split = decode_pieces(row.bytes, {at, row.bytes.size()});
      CAPTURE(at);
      CHECK(split.status == whole.status);
      CHECK(split.section == whole.section);
      CHECK(split.data == whole.data);
    }
  }
}

TEST_CASE("each prefix of a good chunked body wants more, and nothing behind a body is consumed") {
  for (const chunked_case& row : cases) {
    if (row.status != 200) continue;
    CAPTURE(row.bytes);
    for (std::size_t size = 0; size < row.bytes.size(); ++size)
      CHECK(decode_whole(row.bytes.substr(0, size)).status == 0);
    CHECK(decode_whole(std::string(row.bytes) + "GET / HTTP/1.1\r\n").size == row.bytes.size());
  }
}

TEST_CASE("the largest chunk has 16 digits") {
  chunked_decoder decoder;
  const chunked_decoder::step step = decoder.decode("7fffffffffffffff\r\nx");
  CHECK(step.state == state::data);
  CHECK(step.data == "x");
  CHECK(decoder.rest_of_chunk() == 0x7fff'ffff'ffff'fffe);
}

TEST_CASE("the extensions of all chunks together have a limit") {
  const auto body = [](std::size_t extension_bytes, std::size_t chunks) {
    std::string text;
    for (std::size_t i = 0; i != chunks; ++i)
      text += "1;" + std::string(extension_bytes / chunks - 1, 'a') + "\r\nx\r\n";
    return text + "0\r\n\r\n";
  };
  for (const std::size_t chunks : {std::size_t{1}, std::size_t{2}, std::size_t{64}, std::size_t{1024}}) {
    CHECK(decode_whole(body(16 * 1024, chunks)).status == 200);
    CHECK(decode_whole(body(16 * 1024 + chunks, chunks)).status == 400);
    CHECK(decode_bytewise(body(16 * 1024, chunks)).status == 200);
    CHECK(decode_bytewise(body(16 * 1024 + chunks, chunks)).status == 400);
  }
  CHECK(decode_whole("1;" + std::string(1 << 20, 'a')).status == 400);
  CHECK(decode_whole("1" + std::string(1 << 20, ' ')).status == 400);
  CHECK(decode_whole("1;a=\"" + std::string(1 << 20, 'a')).status == 400);
}

TEST_CASE("trailers have the limits of fields") {
  const auto lines = [](std::size_t count) {
    std::string text = "0\r\n";
    for (std::size_t i = 0; i != count; ++i) text += "X: y\r\n";
    return text + "\r\n";
  };
  CHECK(decode_whole(lines(100)).status == 200);
  CHECK(decode_whole(lines(101)).status == 431);
  const auto line = [](std::size_t size) { return "0\r\nX:" + std::string(size - 2, 'y') + "\r\n\r\n"; };
  CHECK(decode_whole(line(8192)).status == 200);
  CHECK(decode_whole(line(8193)).status == 431);
  const auto two_lines = [](std::size_t size) {
    return "0\r\nX:" + std::string(8000 - 4, 'y') + "\r\nX:" + std::string(size - 8000 - 4, 'y') + "\r\n\r\n";
  };
  const chunked_limits wide{.line = 16 * 1024};
  CHECK(decode_whole(two_lines(16 * 1024), wide).status == 200);
  CHECK(decode_whole(two_lines(16 * 1024 + 1), wide).status == 431);
}

TEST_CASE("the concatenated trailers are read as fields") {
  field_table fields;
  const std::string_view text = "X: y\r\nDigest:  a b \r\nEmpty:\r\nx: z\r\n";
  REQUIRE(read_trailers(text, fields));
  REQUIRE(fields.size() == 4);
  CHECK(fields.value(0) == "y");
  CHECK(fields.value(1) == "a b");
  CHECK(fields.value(2) == "");
  CHECK(fields.find("x") == 0);
  CHECK(fields.find_next(0) == 3);
  CHECK(read_trailers("", fields));
  CHECK(fields.size() == 0);
  for (const std::string_view bad : {"X"sv, "X: y"sv, "X y\r\n"sv, ": y\r\n"sv, "X: y\r\nZ"sv, "X: \0\r\n"sv})
    CHECK_FALSE(read_trailers(bad, fields));
}

TEST_CASE("a decoder that has ended or refused stays so") {
  chunked_decoder decoder;
  CHECK(decoder.decode("0\r\n\r\n").state == state::done);
  CHECK(decoder.decode("5\r\n").state == state::done);
  CHECK(decoder.decode("5\r\n").consumed == 0);
  chunked_decoder refused;
  CHECK(refused.decode("x").state == state::refused);
  CHECK(refused.decode("0\r\n\r\n").state == state::refused);
}

}  // namespace
