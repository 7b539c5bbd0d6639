#include <hocket/http/detail/forwarded.hpp>
#include <hocket/http/detail/target.hpp>
#include <hocket/http/detail/tokens.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <netinet/in.h>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

namespace {

constexpr int max_hops = 32;  // bounds the work of one field

// The canonical text of "http" and "https"; else empty.
std::string_view parse_scheme(std::string_view text) noexcept {
  for (std::string_view known : {std::string_view("https"), std::string_view("http")})
    if (equals_ignore_case(text, known)) return known;
  return {};
}

// A host without a port: gets brackets if it is IPv6, and port 0.
socket_address parse_bare_host(std::string_view host) noexcept {
  std::array<char, 64> text{};
  if (host.size() > 45) return {};
  const bool is_v6 = host.find(':') != host.npos;
  char* end = text.data();
  const auto append = [&](std::string_view part) { end = std::copy(part.begin(), part.end(), end); };
  append(is_v6 ? "[" : "");
  append(host);
  append(is_v6 ? "]:0" : ":0");
  return socket_address(std::string_view(text.data(), static_cast<std::size_t>(end - text.data())));
}

bool is_internet(const socket_address& address) noexcept {
  return address.kind() == socket_address::family::v4 || address.kind() == socket_address::family::v6;
}

// "192.0.2.1", "192.0.2.1:80", "2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:80". Invalid: no address.
socket_address parse_hop(std::string_view text) noexcept {
  if (text.empty() || text.find_first_of("%/@") != text.npos) return {};
  const bool has_brackets = text.front() == '[';
  if (has_brackets && text.back() == ']') return parse_bare_host(text.substr(1, text.size() - 2));
  const bool has_port = has_brackets || std::ranges::count(text, ':') == 1;
  const socket_address address = has_port ? socket_address(text) : parse_bare_host(text);
  return is_internet(address) ? address : socket_address();
}

}  // namespace

// --- trusted_proxies

std::optional<trusted_proxies::host> trusted_proxies::host_of(const socket_address& address) noexcept {
  host bytes{};
  if (address.kind() == socket_address::family::v6) {
    sockaddr_in6 v6;
    std::memcpy(&v6, address.data(), sizeof v6);
    std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
    return bytes;
  }
  if (address.kind() != socket_address::family::v4) return {};
  sockaddr_in v4;
  std::memcpy(&v4, address.data(), sizeof v4);
  bytes[10] = bytes[11] = 0xFF;
  std::memcpy(bytes.data() + 12, &v4.sin_addr, 4);
  return bytes;
}

// Whether the first `bits` bits are equal.
template <class Host>
static bool has_prefix(const Host& address, const Host& prefix, unsigned bits) noexcept {
  const unsigned bytes = bits / 8;
  if (!std::equal(prefix.begin(), prefix.begin() + bytes, address.begin())) return false;
  const unsigned rest = bits % 8;
  return rest == 0 || ((address[bytes] ^ prefix[bytes]) >> (8 - rest)) == 0;
}

std::optional<trusted_proxies::network> trusted_proxies::parse_network(std::string_view text) noexcept {
  const std::size_t slash = text.find('/');
  const socket_address address = parse_bare_host(text.substr(0, slash));
  const std::optional<host> bytes = is_internet(address) ? host_of(address) : std::nullopt;
  if (!bytes || text.find('%') != text.npos) return {};
  const unsigned max_bits = address.kind() == socket_address::family::v4 ? 32 : 128;
  unsigned bits = max_bits;
  if (slash != text.npos) {
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + slash + 1, end, bits);
    if (parsed.ec != std::errc() || parsed.ptr != end || bits > max_bits) return {};
  }
  const network parsed{*bytes, bits + (128 - max_bits)};
  for (unsigned bit = parsed.bits; bit < 128; ++bit)
    if ((parsed.prefix[bit / 8] & (0x80U >> (bit % 8))) != 0) return {};
  return parsed;
}

result<trusted_proxies> trusted_proxies::parse(std::string_view list) {
  constexpr std::string_view separators = ", \t\n";
  trusted_proxies all;
  for (std::size_t at = list.find_first_not_of(separators); at != list.npos;) {
    const std::size_t end = std::min(list.find_first_of(separators, at), list.size());
    const std::string_view member = list.substr(at, end - at);
    at = list.find_first_not_of(separators, end);
    if (member == "unix") {
      all.unix_peers_ = true;
      continue;
    }
    const std::optional<network> parsed = parse_network(member);
    if (!parsed) return failure(std::make_error_code(std::errc::invalid_argument));
    all.networks_.push_back(*parsed);
  }
  return all;
}

bool trusted_proxies::contains(const socket_address& peer) const noexcept {
  if (peer.kind() == socket_address::family::unix_path) return unix_peers_;
  const std::optional<host> address = host_of(peer);
  if (!address) return false;
  return std::ranges::any_of(networks_, [&](const network& n) { return has_prefix(*address, n.prefix, n.bits); });
}

namespace {

// One entry of a list. `address` is invalid if the entry names none.
struct hop {
  bool is_malformed = false;
  socket_address address{};
  std::string_view scheme{};
  std::string_view host{};
};

// The position of the last comma outside of quoted texts; npos: there is none. `is_open` is set if the text ends within
// a quoted text.
std::size_t find_last_comma(std::string_view text, bool& is_open) noexcept {
  std::size_t last = text.npos;
  is_open = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') is_open = !is_open;
    else if (text[i] == '\\' && is_open) ++i;
    else if (text[i] == ',' && !is_open) last = i;
  }
  return last;
}

// The content of a quoted text without escapes, or a token.
std::optional<std::string_view> unquote(std::string_view value) noexcept {
  if (value.find('"') == value.npos) return value.find('\\') == value.npos ? std::optional(value) : std::nullopt;
  const bool is_quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
  const std::string_view inside = is_quoted ? value.substr(1, value.size() - 2) : std::string_view();
  if (!is_quoted || inside.find_first_of("\"\\") != inside.npos) return {};
  return inside;
}

// The length of the first pair of an element, which ends at a semicolon outside of quoted texts.
std::size_t size_of_pair(std::string_view text) noexcept {
  bool is_open = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') is_open = !is_open;
    else if (text[i] == ';' && !is_open) return i;
  }
  return text.size();
}

// An element of Forwarded: for=192.0.2.60;proto=http;by=203.0.113.43
hop parse_element(std::string_view element) noexcept {
  constexpr hop malformed{.is_malformed = true};
  hop parsed;
  bool has_for = false;
  for (std::string_view rest = element; !rest.empty();) {
    const std::size_t size = size_of_pair(rest);
    const std::string_view pair = trim(rest.substr(0, size));
    rest = rest.substr(std::min(size + 1, rest.size()));
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    if (equals == pair.npos) return malformed;
    const std::string_view name = pair.substr(0, equals);
    const std::optional<std::string_view> value = unquote(pair.substr(equals + 1));
    if (!value) return malformed;
    if (equals_ignore_case(name, "for")) {
      if (std::exchange(has_for, true)) return malformed;
      parsed.address = parse_hop(*value);
    } else if (equals_ignore_case(name, "proto")) {
      parsed.scheme = parse_scheme(*value);
    } else if (equals_ignore_case(name, "host")) {
      if (is_host(*value)) parsed.host = *value;
    }
  }
  return parsed;
}

hop parse_entry(std::string_view entry, proxy_field kind) noexcept {
  if (kind == proxy_field::forwarded) return parse_element(entry);
  return {.address = parse_hop(entry)};
}

}  // namespace

forwarded_client find_client(const socket_address& peer, const trusted_proxies& trusted, proxy_field kind,
                             const forwarded_fields& fields) noexcept {
  forwarded_client client{.address = peer};
  if (!trusted.contains(peer)) return client;
  if (kind == proxy_field::x_forwarded_for) {
    const std::size_t comma = fields.scheme.rfind(',');
    client.scheme = parse_scheme(trim(fields.scheme.substr(comma == fields.scheme.npos ? 0 : comma + 1)));
  }
  std::string_view rest = fields.list;
  for (int hops = 0; hops < max_hops && !trim(rest).empty() && trusted.contains(client.address); ++hops) {
    bool is_open = false;
    const std::size_t comma = find_last_comma(rest, is_open);
    if (is_open) break;
    const hop next = parse_entry(trim(rest.substr(comma == rest.npos ? 0 : comma + 1)), kind);
    rest = rest.substr(0, comma == rest.npos ? 0 : comma);
    if (next.is_malformed) break;
    if (kind == proxy_field::forwarded) client.scheme = next.scheme, client.host = next.host;
    if (!next.address.is_valid()) break;
    client.address = next.address;
  }
  return client;
}

}}}}  // namespace hocket::http::detail
