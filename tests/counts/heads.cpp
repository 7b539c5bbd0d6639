// The head of an HTTP request, parsed and checked: see operations.cpp.
#include <hocket/http/detail/request_head.hpp>

#include <cstddef>
#include <string_view>

#include "still_loop.hpp"

using hocket::http::detail::request_head;
using std::size_t;

namespace counts {
namespace {

// Each head has as many bytes as its name says.
constexpr std::string_view of_40_bytes = "GET / HTTP/1.1\r\nHost: localhost:8080\r\n\r\n";
constexpr std::string_view of_291_bytes =
    "GET /index.html?a=b HTTP/1.1\r\nHost: www.example.com\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:102.0) Gecko/20100101\r\n"
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n"
    "Accept-Language: en-US,en;q=0.5\r\nAccept-Encoding: gzip, deflate, br\r\nConnection: keep-alive\r\n\r\n";
static_assert(of_40_bytes.size() == 40 && of_291_bytes.size() == 291);

void parse(std::string_view bytes, size_t k) {
  request_head head;
  for (; k; --k) {
    must(head.parse(bytes) == request_head::outcome::complete, "a head was not accepted");
    head.clear();
  }
}

// In two pieces: the second one is left to the reader that reads bytes as they arrive.
void parse_in_pieces(std::string_view bytes, size_t k) {
  request_head head;
  for (; k; --k) {
    must(head.parse(bytes.substr(0, 2)) == request_head::outcome::incomplete, "two bytes are no head");
    must(head.parse(bytes) == request_head::outcome::complete, "a head was not accepted");
    head.clear();
  }
}

}  // namespace

void http_head_of_40_bytes(size_t k) { parse(of_40_bytes, k); }
void http_head_of_291_bytes(size_t k) { parse(of_291_bytes, k); }
void http_head_in_pieces(size_t k) { parse_in_pieces(of_40_bytes, k); }

}  // namespace counts
