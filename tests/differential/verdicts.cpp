// Prints verdicts of our parsers for other programs to compare. Each line of output is
//   <request as hexadecimal text> <status> <bytes of the head and the body> <section>
// The size is 0 if the request is refused or incomplete; status 0 is incomplete.
//   verdicts table     the requests of tests/unit/http/wire
//   verdicts           requests from standard input, one line of hexadecimal text each
#include "../unit/http/wire/head_cases.hpp"

#include <hocket/http/detail/chunked_decoder.hpp>
#include <hocket/http/detail/request_head.hpp>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

namespace {

using namespace hocket::http::detail;

struct verdict {
  int status = 0;
  std::size_t size = 0;
  const char* section = "";
};

verdict refused(const refusal& error) { return {static_cast<int>(error.code), 0, error.section}; }

verdict decode(std::string_view body, std::size_t head_size) {
  chunked_decoder decoder;
  for (std::size_t size = head_size;;) {
    const chunked_decoder::step step = decoder.decode(body);
    body.remove_prefix(step.consumed);
    size += step.consumed;
    switch (step.state) {
      case chunked_decoder::state::more: return {};
      case chunked_decoder::state::done: return {200, size};
      case chunked_decoder::state::refused: return refused(decoder.error());
      case chunked_decoder::state::data:
      case chunked_decoder::state::trailer: break;
    }
  }
}

verdict judge(std::string_view bytes) {
  request_head head;
  switch (head.parse(bytes)) {
    case request_head::outcome::incomplete: return {};
    case request_head::outcome::refused: return refused(head.error());
    case request_head::outcome::complete: break;
  }
  if (head.body().kind == framing::body_kind::chunked) return decode(bytes.substr(head.size()), head.size());
  if (head.body().length > bytes.size() - head.size()) return {};
  return {200, head.size() + static_cast<std::size_t>(head.body().length)};
}

void print(std::string_view bytes) {
  for (const char c : bytes) std::printf("%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
  const verdict found = judge(bytes);
  std::printf(" %d %zu %s\n", found.status, found.size, found.section);
}

std::string from_hexadecimal(std::string_view text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<char>(digit(text[i]) * 16 + digit(text[i + 1])));
  return bytes;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 2 && std::strcmp(arguments[1], "table") == 0) {
    for (const http_wire::head_case& row : http_wire::head_cases()) print(row.bytes);
    for (const http_wire::head_case& row : http_wire::framing_cases()) print(row.bytes);
    return 0;
  }
  std::string line;
  for (int c = std::getchar(); c != EOF; c = std::getchar()) {
    if (c != '\n') {
      line.push_back(static_cast<char>(c));
      continue;
    }
    print(from_hexadecimal(line));
    line.clear();
  }
}
