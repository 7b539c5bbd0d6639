// Targets and the tree of paths. The first line of the input is a target, each further line a pattern.
#include "fuzz.hpp"

#include <algorithm>

#include <hocket/http/detail/path_tree.hpp>
#include <hocket/http/detail/target.hpp>
#include <hocket/http/detail/tokens.hpp>
#include <hocket/http/percent.hpp>
#include <string>
#include <vector>

namespace {

using namespace hocket::http::detail;
using hocket::http::method;
using hocket_fuzz::expect;

void check_path(std::string_view path) {
  expect(path.starts_with('/') || path == "*", "a path begins with a slash");
  std::string joined;
  segment_reader segments(path);
  for (std::string_view segment; segments.next(segment);) {
    std::string decoded(segment);
    const auto size = percent_decode_to(segment, decoded.data());
    expect(size.has_value(), "an accepted path can be decoded");
    decoded.resize(*size);
    expect(decoded != "." && decoded != "..", "no segment is a dot segment");
    expect(decoded.find('\0') == decoded.npos, "no segment has NUL");
    joined.append("/").append(segment);
  }
  expect(path == "*" || joined == path, "the segments are the path");
}

void check_tree(std::string_view path, std::string_view patterns) {
  path_tree tree;
  std::uint32_t routes = 0;
  for (std::size_t begin = 0; begin < patterns.size() && routes < 50;) {
    const std::size_t end = std::min(patterns.find('\n', begin), patterns.size());
    const std::string_view pattern = patterns.substr(begin, end - begin);
    const std::uint32_t present = tree.find_conflict(method::get, pattern);
    const auto result = tree.insert(method::get, pattern, routes);
    expect((present != path_tree::no_route) == (result == path_tree::insertion::conflict),
           "a conflict is found before");
    if (result == path_tree::insertion::done) ++routes;
    begin = end + 1;
  }
  path_tree::match found;
  if (tree.find(method::get, path, found) != path_tree::outcome::found) return;
  expect(found.route < routes, "a route of the tree is found");
  expect(found.captures == tree.capture_count(found.route), "each capture has a name");
  for (std::size_t i = 0; i != found.captures; ++i) {
    const std::string_view value = found.values[i];
    expect(value.data() >= path.data() && value.data() + value.size() <= path.data() + path.size(),
           "captures lie in the path");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = hocket_fuzz::text_of(data, size);
  const std::size_t line = std::min(bytes.find('\n'), bytes.size());
  const std::string_view target = bytes.substr(0, line);
  if (!all_are_in(target_char, target)) return 0;
  for (const method m : {method::get, method::options, method::connect}) {
    target_parts parts;
    if (parse_target(m, target, parts).is_set()) continue;
    if (m == method::connect) {
      expect(is_host_with_port(parts.authority), "CONNECT has a host and a port");
      continue;
    }
    expect(parts.authority.empty() || is_host(parts.authority), "an authority is a host");
    check_path(parts.path);
    if (m == method::get) check_tree(parts.path, bytes.substr(std::min(line + 1, bytes.size())));
  }
  return 0;
}
