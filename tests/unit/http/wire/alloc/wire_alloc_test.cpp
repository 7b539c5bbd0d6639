// The parsers allocate nothing, and a tree of paths survives each failure of an allocation.
#include <hocket/http/detail/chunked_decoder.hpp>
#include <hocket/http/detail/path_tree.hpp>
#include <hocket/http/detail/request_head.hpp>

#include "support/alloc.hpp"

#include <doctest/doctest.h>
#include <new>
#include <string_view>

namespace {

using namespace hocket::http::detail;
using hocket::http::method;
using hocket_test::allocation_watch;

TEST_CASE("heads, chunks and paths are read without an allocation") {
  path_tree tree;
  REQUIRE(tree.insert(method::get, "/users/{id}/{rest...}", 0) == path_tree::insertion::done);
  request_head head;
  std::size_t allocations = 0;
  bool is_good = false;
  {
    const allocation_watch watch;
    const std::string_view bytes =
        "GET http://a:80/users/%41/b/c?d HTTP/1.1\r\nHost: a\r\nX-Y: z\r\nConnection: a, b\r\nTE: trailers\r\n"
        "Transfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nX: y\r\n\r\n";
    is_good = head.parse(bytes) == request_head::outcome::complete && head.find("x-y") == "z";
    path_tree::match found;
    is_good = is_good && tree.find(head.method(), head.path(), found) == path_tree::outcome::found;
    chunked_decoder decoder;
    is_good = is_good && decoder.decode(bytes.substr(head.size())).state == chunked_decoder::state::data;
    allocations = watch.allocations();
  }
  CHECK(is_good);
  CHECK(allocations == 0);
}

TEST_CASE("a tree is complete after an insertion without memory is repeated") {
  bool has_failed = true;
  for (std::size_t failing = 1; has_failed; ++failing) {
    path_tree tree;
    REQUIRE(tree.insert(method::get, "/a/b", 0) == path_tree::insertion::done);
    auto inserted = path_tree::insertion::malformed;
    {
      const allocation_watch watch(failing);
      try {
        inserted = tree.insert(method::get, "/a/{name_that_is_longer_than_a_small_buffer}/c", 1);
      } catch (const std::bad_alloc&) {
      }
      has_failed = watch.has_failed();
    }
    if (inserted != path_tree::insertion::done)
      inserted = tree.insert(method::get, "/a/{name_that_is_longer_than_a_small_buffer}/c", 1);
    CHECK(inserted == path_tree::insertion::done);
    path_tree::match found;
    CHECK(tree.find(method::get, "/a/b", found) == path_tree::outcome::found);
    CHECK(tree.find(method::get, "/a/x/c", found) == path_tree::outcome::found);
    CHECK(found.route == 1);
    CHECK(tree.capture_name(1, 0) == "name_that_is_longer_than_a_small_buffer");
  }
}

}  // namespace
