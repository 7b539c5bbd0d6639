#include <hocket/http/detail/path_tree.hpp>
#include <hocket/http/detail/tokens.hpp>
#include <hocket/http/percent.hpp>

#include <algorithm>
#include <optional>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

std::string method_set::allow_text() const {
  method_set shown = *this;
  if (has(method::get)) shown.insert(method::head);
  shown.insert(method::options);
  std::string text;
  for (unsigned i = 0; i != static_cast<unsigned>(method::other); ++i) {
    if (!shown.has(static_cast<method>(i))) continue;
    if (!text.empty()) text += ", ";
    text += to_string(static_cast<method>(i));
  }
  return text;
}

// A pattern in parts.
struct path_tree::pattern {
  enum class kind : std::uint8_t { text, parameter, rest };
  struct segment {
    std::string_view text;  // or the name
    pattern::kind kind;
  };
  std::vector<segment> segments;
  std::vector<std::string> names;

  static std::optional<segment> parse_segment(std::string_view text) noexcept;
  static std::optional<pattern> parse(std::string_view text);
  bool add(const segment& added);
};

auto path_tree::pattern::parse_segment(std::string_view text) noexcept -> std::optional<segment> {
  if (text.starts_with('{') && text.ends_with('}') && text.size() > 2) {
    std::string_view name = text.substr(1, text.size() - 2);
    const bool is_rest = name.ends_with("...");
    if (is_rest) name.remove_suffix(3);
    const auto is_name_char = [](char c) {
      return c == '_' || (is_in(unreserved, c) && is_in(token_char, c) && c != '.' && c != '~');
    };
    if (name.empty() || !std::all_of(name.begin(), name.end(), is_name_char)) return std::nullopt;
    return segment{name, is_rest ? kind::rest : kind::parameter};
  }
  if (text.find_first_of(std::string_view("{}\0", 3)) != text.npos || text == "." || text == ".." ||
      text.size() > max_segment_size)
    return std::nullopt;
  return segment{text, kind::text};
}

bool path_tree::pattern::add(const segment& added) {
  if (segments.size() == max_segments || (!segments.empty() && segments.back().kind == kind::rest)) return false;
  segments.push_back(added);
  if (added.kind == kind::text) return true;
  if (names.size() == max_captures || std::find(names.begin(), names.end(), added.text) != names.end()) return false;
  names.emplace_back(added.text);
  return true;
}

auto path_tree::pattern::parse(std::string_view text) -> std::optional<pattern> {
  if (!text.starts_with('/')) return std::nullopt;
  pattern parts;
  for (std::size_t begin = 1; begin <= text.size();) {
    const std::size_t end = std::min(text.find('/', begin), text.size());
    const std::optional<segment> parsed = parse_segment(text.substr(begin, end - begin));
    if (!parsed || !parts.add(*parsed)) return std::nullopt;
    begin = end + 1;
  }
  return parts;
}

std::uint32_t path_tree::find_edge(const node& parent, std::string_view text) const noexcept {
  const auto found = std::lower_bound(parent.edges.begin(), parent.edges.end(), text,
                                      [](const edge& e, std::string_view other) { return e.text < other; });
  return found != parent.edges.end() && found->text == text ? found->node : no_node;
}

std::uint32_t path_tree::find_leaf(const pattern& parts) const noexcept {
  std::uint32_t at = 0;
  for (const pattern::segment& segment : parts.segments) {
    const node& parent = nodes_[at];
    if (segment.kind == pattern::kind::rest) return parent.rest;
    at = segment.kind == pattern::kind::text ? find_edge(parent, segment.text) : parent.parameter;
    if (at == no_node) return no_node;
  }
  return nodes_[at].end;
}

std::uint32_t path_tree::add_node() {
  nodes_.emplace_back();
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

std::uint32_t path_tree::add_edge(std::uint32_t parent, std::string_view text) {
  if (const std::uint32_t present = find_edge(nodes_[parent], text); present != no_node) return present;
  const std::uint32_t added = add_node();
  std::vector<edge>& edges = nodes_[parent].edges;
  const auto place = std::lower_bound(edges.begin(), edges.end(), text,
                                      [](const edge& e, std::string_view other) { return e.text < other; });
  edges.insert(place, edge{std::string(text), added});
  return added;
}

std::uint32_t path_tree::add_leaf(const pattern& parts) {
  std::uint32_t at = 0;
  const bool has_rest = parts.segments.back().kind == pattern::kind::rest;
  for (const pattern::segment& segment : parts.segments) {
    if (segment.kind == pattern::kind::text) {
      at = add_edge(at, segment.text);
    } else if (segment.kind == pattern::kind::parameter) {
      if (nodes_[at].parameter == no_node) {
        const std::uint32_t added = add_node();
        nodes_[at].parameter = added;
      }
      at = nodes_[at].parameter;
    }
  }
  std::uint32_t& slot = has_rest ? nodes_[at].rest : nodes_[at].end;
  if (slot == no_node) {
    leaves_.emplace_back().routes.fill(no_route);
    slot = static_cast<std::uint32_t>(leaves_.size() - 1);
  }
  return slot;
}

auto path_tree::insert(method m, std::string_view text, std::uint32_t route) -> insertion {
  std::optional<pattern> parts = pattern::parse(text);
  if (!parts) return insertion::malformed;
  leaf& end = leaves_[add_leaf(*parts)];
  std::uint32_t& slot = end.routes[static_cast<std::size_t>(m)];
  if (slot != no_route) return insertion::conflict;
  if (names_.size() <= route) names_.resize(std::size_t{route} + 1);
  names_[route] = std::move(parts->names);
  slot = route;
  end.methods.insert(m);
  all_methods_.insert(m);
  return insertion::done;
}

std::uint32_t path_tree::find_conflict(method m, std::string_view text) const {
  const std::optional<pattern> parts = pattern::parse(text);
  const std::uint32_t end = parts ? find_leaf(*parts) : no_node;
  return end == no_node ? no_route : leaves_[end].routes[static_cast<std::size_t>(m)];
}

// The state of one search.
struct path_tree::search {
  const path_tree& tree;
  match& found;
  method requested;
  bool has_percent;

  bool accept(std::uint32_t index, std::size_t captures) noexcept {
    if (index == no_node) return false;
    const leaf& end = tree.leaves_[index];
    std::uint32_t route = end.routes[static_cast<std::size_t>(requested)];
    if (route == no_route && requested == method::head) route = end.routes[static_cast<std::size_t>(method::get)];
    if (route == no_route) {
      found.allowed.merge(end.methods);
      return false;
    }
    found.route = route;
    found.captures = captures;
    return true;
  }

  // `rest` begins with the slash of the next segment, or is empty. At most max_segments calls deep.
  bool visit(std::uint32_t index, std::string_view rest, std::size_t captures) noexcept {
    const node& place = tree.nodes_[index];
    if (rest.empty()) return accept(place.end, captures);
    const std::size_t end = std::min(rest.find('/', 1), rest.size());
    const std::string_view segment = rest.substr(1, end - 1);
    if (const std::uint32_t child = find_text(place, segment);
        child != no_node && visit(child, rest.substr(end), captures))
      return true;
    if (place.parameter != no_node && !segment.empty()) {
      found.values[captures] = segment;
      if (visit(place.parameter, rest.substr(end), captures + 1)) return true;
    }
    if (place.rest == no_node) return false;
    found.values[captures] = rest.substr(1);
    return accept(place.rest, captures + 1);
  }

  std::uint32_t find_text(const node& place, std::string_view segment) const noexcept {
    if (place.edges.empty()) return no_node;
    if (!has_percent || segment.find('%') == segment.npos) return tree.find_edge(place, segment);
    std::array<char, 3 * max_segment_size> decoded;
    if (segment.size() > decoded.size()) return no_node;
    const std::optional<std::size_t> size = percent_decode_to(segment, decoded.data());
    return size ? tree.find_edge(place, {decoded.data(), *size}) : no_node;
  }
};

auto path_tree::find(method m, std::string_view path, match& found) const noexcept -> outcome {
  found.route = no_route;
  found.allowed = {};
  found.captures = 0;
  if (path == "*") {
    found.allowed = all_methods_;
    return outcome::automatic_options;
  }
  search state{*this, found, m, path.find('%') != path.npos};
  if (path.starts_with('/') && state.visit(0, path, 0)) return outcome::found;
  if (m == method::other) return outcome::not_implemented;
  if (found.allowed.empty()) return outcome::not_found;
  return m == method::options ? outcome::automatic_options : outcome::method_not_allowed;
}

std::size_t path_tree::capture_count(std::uint32_t route) const noexcept {
  return route < names_.size() ? names_[route].size() : 0;
}

std::string_view path_tree::capture_name(std::uint32_t route, std::size_t index) const noexcept {
  return names_[route][index];
}

}}}}  // namespace hocket::http::detail
