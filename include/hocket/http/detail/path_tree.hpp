// The tree of a router's paths: from a method and a path to the number of a route.
//
// Patterns. "/users/{id}/posts": a segment is static text or a parameter `{name}`, which matches one segment that is
// not empty. The last segment may be `{name...}`, which matches the rest of the path, with its slashes; the rest may be
// empty, but its slash is there: "/static/{path...}" matches "/static/" and not "/static". Static text is written
// decoded.
//
// Priority. At each segment static text comes before `{name}`, `{name}` before `{name...}`. If the preferred branch
// does not match the rest of the path, or its pattern has no route for the method, the next branch is tried.
//
// Matching. The path is raw. It is split first, then its segments are decoded and compared, so `%2F` never separates
// segments. Captures are raw views into the path.
//
// Methods. HEAD is served by the route of GET if there is none for HEAD. OPTIONS without a route is answered by the
// router. method::other is one slot: its route serves all methods that enum class method does not name.
//
// Time. Each node belongs to one depth, and a search visits each node at most once.
#pragma once
#include <hocket/http/method.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

// A set of methods.
class method_set {
 public:
  constexpr method_set() noexcept = default;
  constexpr bool has(method m) const noexcept { return (bits_ >> static_cast<unsigned>(m) & 1u) != 0; }
  constexpr bool empty() const noexcept { return bits_ == 0; }
  constexpr void insert(method m) noexcept {
    bits_ = static_cast<std::uint16_t>(bits_ | 1u << static_cast<unsigned>(m));
  }
  constexpr void merge(method_set other) noexcept { bits_ = static_cast<std::uint16_t>(bits_ | other.bits_); }
  // The value of the field Allow: "GET, HEAD, OPTIONS". HEAD is there with GET, and OPTIONS always. Throws
  // std::bad_alloc.
  std::string allow_text() const;

 private:
  std::uint16_t bits_ = 0;
};

class path_tree {
 public:
  static constexpr std::size_t max_captures = 16;
  static constexpr std::size_t max_segments = 64;
  static constexpr std::size_t max_segment_size = 255;  // of static text
  static constexpr std::uint32_t no_route = 0xffff'ffff;

  enum class insertion : std::uint8_t {
    done,
    // No leading slash, a bad brace, an empty or repeated name, a rest that is not last, a segment `.` or `..`, a zero
    // byte, or a limit exceeded.
    malformed,
    conflict,  // there is a route for this method and the same paths
  };
  enum class outcome : std::uint8_t {
    found,
    not_found,           // 404
    method_not_allowed,  // 405; `allowed` has the methods
    automatic_options,   // the router answers OPTIONS; `allowed` has the methods
    not_implemented,     // 501: a method without a name and without a route
  };
  struct match {
    std::uint32_t route = no_route;
    method_set allowed;
    std::size_t captures = 0;
    // Raw views into the path. The name of a capture is capture_name(route, index).
    std::array<std::string_view, max_captures> values;
  };

  path_tree() : nodes_(1) {}

  // Adds a pattern. Each route has its own number. Throws std::bad_alloc; then the tree is as before the call, or has
  // unused nodes.
  insertion insert(method m, std::string_view text, std::uint32_t route);
  // The route that a pattern conflicts with; no_route if there is none. For messages.
  std::uint32_t find_conflict(method m, std::string_view text) const;

  // `path` is a raw path that parse_target() has accepted, or "*".
  outcome find(method m, std::string_view path, match& found) const noexcept;

  // The names of the captures of a route, in the order of its pattern.
  std::size_t capture_count(std::uint32_t route) const noexcept;
  std::string_view capture_name(std::uint32_t route, std::size_t index) const noexcept;
  // The methods of all routes: for `OPTIONS *`.
  method_set methods() const noexcept { return all_methods_; }

 private:
  static constexpr std::uint32_t no_node = 0xffff'ffff;
  struct edge {
    std::string text;
    std::uint32_t node;
  };
  struct leaf {
    method_set methods;
    std::array<std::uint32_t, 10> routes;  // by method
  };
  struct node {
    std::vector<edge> edges;            // sorted by text
    std::uint32_t parameter = no_node;  // the child for `{name}`
    std::uint32_t end = no_node;        // the leaf of a path that ends here
    std::uint32_t rest = no_node;       // the leaf of `{name...}`
  };
  struct pattern;
  struct search;

  std::uint32_t find_edge(const node& parent, std::string_view text) const noexcept;
  std::uint32_t find_leaf(const pattern& parts) const noexcept;
  std::uint32_t add_leaf(const pattern& parts);
  std::uint32_t add_edge(std::uint32_t parent, std::string_view text);
  std::uint32_t add_node();

  std::vector<node> nodes_;
  std::vector<leaf> leaves_;
  std::vector<std::vector<std::string>> names_;  // by route
  method_set all_methods_;
};

}}}}  // namespace hocket::http::detail
