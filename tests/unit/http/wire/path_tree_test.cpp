#include <hocket/http/detail/path_tree.hpp>
#include <doctest/doctest.h>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace {

using namespace hocket::http::detail;
using hocket::http::method;
using outcome = path_tree::outcome;
using insertion = path_tree::insertion;

// A tree of these patterns for GET, whose routes are numbered in their order.
path_tree tree_of(const std::vector<std::string_view>& patterns) {
  path_tree tree;
  for (std::uint32_t i = 0; i != patterns.size(); ++i)
    REQUIRE(tree.insert(method::get, patterns[i], i) == insertion::done);
  return tree;
}

// "2 a=x b=y" for route 2 with its captures; "-" if no route matches.
std::string matched(const path_tree& tree, std::string_view path, method m = method::get) {
  path_tree::match found;
  if (tree.find(m, path, found) != outcome::found) return "-";
  std::string text = std::to_string(found.route);
  CHECK(found.captures == tree.capture_count(found.route));
  for (std::size_t i = 0; i != found.captures; ++i)
    text.append(" ").append(tree.capture_name(found.route, i)).append("=").append(found.values[i]);
  return text;
}

TEST_CASE("static text comes before a parameter, a parameter before the rest") {
  const path_tree tree =
      tree_of({"/", "/a", "/a/b", "/{x}", "/{x}/b", "/a/{y}", "/{all...}", "/s/{p...}", "/s/{x}/t", "/a/", "/a//b"});
  const std::vector<std::tuple<std::string_view, std::string_view>> cases{
      {"/", "0"},
      {"/a", "1"},
      {"/a/b", "2"},
      {"/c", "3 x=c"},
      {"/c/b", "4 x=c"},
      {"/a/c", "5 y=c"},
      {"/c/d", "6 all=c/d"},
      {"/a/b/c", "6 all=a/b/c"},
      {"/s", "3 x=s"},
      {"/s/", "7 p="},
      {"/s/u", "7 p=u"},
      {"/s/u/", "7 p=u/"},
      {"/s/u/t", "8 x=u"},
      {"/s/u/t/v", "7 p=u/t/v"},
      {"/s/b", "7 p=b"},
      {"/a/", "9"},
      {"/a//b", "10"},
      {"/a//c", "6 all=a//c"},
      {"//", "6 all=/"},
      {"/c/", "6 all=c/"},
      {"/A", "3 x=A"},
  };
  for (const auto& [path, expected] : cases) {
    CAPTURE(path);
    CHECK(matched(tree, path) == expected);
  }
}

TEST_CASE("a branch that does not match is left again") {
  const path_tree tree = tree_of({"/a/b/c", "/a/{x}/d", "/{y}/b/e", "/{y}/{x}/f", "/a/b/{z}/g"});
  CHECK(matched(tree, "/a/b/c") == "0");
  CHECK(matched(tree, "/a/b/d") == "1 x=b");
  CHECK(matched(tree, "/a/b/e") == "2 y=a");
  CHECK(matched(tree, "/a/b/f") == "3 y=a x=b");
  CHECK(matched(tree, "/a/b/c/g") == "4 z=c");
  CHECK(matched(tree, "/a/b/x") == "-");
  CHECK(matched(tree, "/a/b") == "-");
  CHECK(matched(tree, "/a/b/c/") == "-");
}

TEST_CASE("segments are split first and decoded then") {
  const path_tree tree = tree_of({"/users/{id}", "/a b", "/x/y", "/{p}/{q}/z", "/%"});
  CHECK(matched(tree, "/%75sers/1") == "0 id=1");
  CHECK(matched(tree, "/users/a%2Fb") == "0 id=a%2Fb");
  CHECK(matched(tree, "/users%2F1") == "-");
  CHECK(matched(tree, "/a%20b") == "1");
  CHECK(matched(tree, "/x%2fy") == "-");
  CHECK(matched(tree, "/x/%79") == "2");
  CHECK(matched(tree, "/a%2Fb/c%2Fd/z") == "3 p=a%2Fb q=c%2Fd");
  CHECK(matched(tree, "/%25") == "4");
  CHECK(matched(tree, "/" + std::string(2000, 'a') + "%20") == "-");
}

TEST_CASE("a pattern conflicts with a pattern of the same paths and method") {
  const std::vector<std::tuple<std::string_view, std::string_view>> conflicts{{"/", "/"},
                                                                              {"/a", "/a"},
                                                                              {"/{x}", "/{y}"},
                                                                              {"/a/{x}/b", "/a/{y}/b"},
                                                                              {"/{x...}", "/{y...}"},
                                                                              {"/a/{x...}", "/a/{y...}"},
                                                                              {"/{x}/{y}", "/{a}/{b}"},
                                                                              {"/{x}/", "/{y}/"},
                                                                              {"//", "//"},
                                                                              {"/a b", "/a b"}};
  for (const auto& [first, second] : conflicts) {
    path_tree tree;
    REQUIRE(tree.insert(method::get, first, 7) == insertion::done);
    CHECK(tree.find_conflict(method::get, second) == 7);
    CHECK(tree.insert(method::get, second, 8) == insertion::conflict);
    CHECK(tree.find_conflict(method::post, second) == path_tree::no_route);
    CHECK(tree.insert(method::post, second, 9) == insertion::done);
  }
  const path_tree tree = tree_of({"/{x}", "/{x...}", "/a", "/a/", "/{x}/"});
  CHECK(tree.find_conflict(method::get, "/b") == path_tree::no_route);
  CHECK(tree.find_conflict(method::get, "a") == path_tree::no_route);
}

TEST_CASE("malformed patterns are errors") {
  path_tree tree;
  std::string many = "/";
  for (int i = 0; i != 64; ++i) many += "a/";
  std::string captures;
  for (int i = 0; i != 17; ++i) captures += "/{x" + std::to_string(i) + "}";
  using std::string_view_literals::operator""sv;
  for (const std::string_view pattern :
       {""sv,         "a"sv,        "a/b"sv,         "*"sv,      "/{}"sv,   "/{...}"sv,  "/{x"sv,    "/x}"sv,
        "/{x}y"sv,    "/y{x}"sv,    "/{x}{y}"sv,     "/{x y}"sv, "/{x.}"sv, "/{x..}"sv,  "/{{x}}"sv, "/{x...}/a"sv,
        "/{x...}/"sv, "/{x}/{x}"sv, "/{x}/{x...}"sv, "/."sv,     "/.."sv,   "/a/../b"sv, "/\0"sv})
    CHECK(tree.insert(method::get, pattern, 0) == insertion::malformed);
  CHECK(tree.insert(method::get, many, 0) == insertion::malformed);
  CHECK(tree.insert(method::get, captures, 0) == insertion::malformed);
  CHECK(tree.insert(method::get, "/" + std::string(256, 'a'), 0) == insertion::malformed);
  CHECK(tree.insert(method::get, many.substr(0, many.size() - 2), 0) == insertion::done);
  CHECK(tree.insert(method::get, captures.substr(0, captures.size() - 6), 1) == insertion::done);
  CHECK(tree.insert(method::get, "/" + std::string(255, 'a'), 2) == insertion::done);
}

TEST_CASE("a path without a route for the method names the methods that it has") {
  path_tree tree;
  REQUIRE(tree.insert(method::get, "/a", 0) == insertion::done);
  REQUIRE(tree.insert(method::put, "/{x}", 1) == insertion::done);
  REQUIRE(tree.insert(method::delete_, "/{all...}", 2) == insertion::done);
  REQUIRE(tree.insert(method::options, "/o", 3) == insertion::done);
  REQUIRE(tree.insert(method::head, "/h", 4) == insertion::done);
  path_tree::match found;
  CHECK(tree.find(method::post, "/a", found) == outcome::method_not_allowed);
  CHECK(found.allowed.allow_text() == "GET, HEAD, PUT, DELETE, OPTIONS");
  CHECK(tree.find(method::post, "/b", found) == outcome::method_not_allowed);
  CHECK(found.allowed.allow_text() == "PUT, DELETE, OPTIONS");
  CHECK(matched(tree, "/a", method::put) == "1 x=a");
  CHECK(matched(tree, "/a", method::delete_) == "2 all=a");
  CHECK(matched(tree, "/a", method::head) == "0");
  CHECK(matched(tree, "/h", method::head) == "4");
  CHECK(tree.find(method::get, "/h", found) == outcome::method_not_allowed);
  CHECK(found.allowed.allow_text() == "HEAD, PUT, DELETE, OPTIONS");
  CHECK(tree.find(method::options, "/a", found) == outcome::automatic_options);
  CHECK(found.allowed.allow_text() == "GET, HEAD, PUT, DELETE, OPTIONS");
  CHECK(matched(tree, "/o", method::options) == "3");
  CHECK(tree.find(method::other, "/a", found) == outcome::not_implemented);
  CHECK(tree.find(method::options, "*", found) == outcome::automatic_options);
  CHECK(found.allowed.has(method::put));
  CHECK(tree.methods().has(method::head));
  path_tree small;
  REQUIRE(small.insert(method::other, "/a", 0) == insertion::done);
  CHECK(matched(small, "/a", method::other) == "0");
  CHECK(small.find(method::get, "/a", found) == outcome::method_not_allowed);
  CHECK(small.find(method::get, "/b", found) == outcome::not_found);
  CHECK(small.find(method::other, "/b", found) == outcome::not_implemented);
  CHECK(small.find(method::options, "/b", found) == outcome::not_found);
  CHECK(small.find(method::connect, "", found) == outcome::not_found);
}

TEST_CASE("an empty tree matches nothing") {
  const path_tree tree;
  path_tree::match found;
  CHECK(tree.find(method::get, "/", found) == outcome::not_found);
  CHECK(tree.find(method::get, "", found) == outcome::not_found);
}

// All patterns of up to four segments from these parts, against a matcher that tries each pattern.
bool is_rest(std::string_view part) { return part == "{r...}"; }

int rank_of(const std::vector<std::string_view>& pattern, const std::vector<std::string_view>& path) {
  int rank = 0;  // two bits for each segment: 0 static, 1 parameter, 2 rest
  for (std::size_t i = 0; i != pattern.size(); ++i) {
    if (is_rest(pattern[i])) return i < path.size() ? rank | 2 << (2 * (7 - i)) : -1;
    if (i >= path.size()) return -1;
    const bool is_parameter = pattern[i].front() == '{';
    if (is_parameter ? path[i].empty() : pattern[i] != path[i]) return -1;
    if (is_parameter) rank |= 1 << (2 * (7 - i));
  }
  return pattern.size() == path.size() ? rank : -1;
}

std::string joined(const std::vector<std::string_view>& segments) {
  std::string text;
  for (const std::string_view segment : segments) text.append("/").append(segment);
  return text;
}

void add_products(std::vector<std::vector<std::string_view>>& all, const std::vector<std::string_view>& parts,
                  std::size_t length) {
  for (std::size_t begin = 0, end = 0; all.size() < 5000; begin = end) {
    end = all.size();
    for (std::size_t i = begin; i != end; ++i) {
      if (all[i].size() == length) return;
      for (const std::string_view part : parts) {
        if (!all[i].empty() && is_rest(all[i].back())) continue;
        all.push_back(all[i]);
        all.back().push_back(part);
      }
    }
  }
}

TEST_CASE("the tree finds the route that a comparison of all patterns finds") {
  std::vector<std::vector<std::string_view>> patterns{{}};
  add_products(patterns, {"a", "b", "{p}", "{r...}"}, 3);
  std::vector<std::vector<std::string_view>> paths{{}};
  add_products(paths, {"a", "b", "c", ""}, 4);
  std::uint32_t random = 1;
  for (int round = 0; round != 60; ++round) {
    path_tree tree;
    std::vector<std::vector<std::string_view>> inserted;
    while (inserted.size() != 8) {
      random = random * 1664525 + 1013904223;
      std::vector<std::string_view> pattern = patterns[random / 65536 % patterns.size()];
      std::vector<std::string> unique;
      for (std::size_t i = 0; i != pattern.size(); ++i)
        unique.push_back(pattern[i] == "{p}" ? "{p" + std::to_string(i) + "}" : std::string(pattern[i]));
      if (pattern.empty() || tree.insert(method::get, joined({unique.begin(), unique.end()}),
                                         static_cast<std::uint32_t>(inserted.size())) != insertion::done)
        continue;
      inserted.push_back(pattern);
    }
    for (const auto& path : paths) {
      if (path.empty()) continue;
      std::uint32_t best = path_tree::no_route;
      int best_rank = 1 << 30;
      for (std::uint32_t i = 0; i != inserted.size(); ++i)
        if (const int rank = rank_of(inserted[i], path); rank >= 0 && rank < best_rank) best = i, best_rank = rank;
      path_tree::match found;
      tree.find(method::get, joined(path), found);
      if (found.route != best) {
        const std::string shown = joined(path);
        CAPTURE(shown);
        CHECK(found.route == best);
      }
    }
  }
}

}  // namespace
