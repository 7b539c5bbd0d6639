// What proxies send: headers of the PROXY protocol, lists of forwarded addresses; and names of files.
#include "fuzz.hpp"

#include <hocket/http/detail/forwarded.hpp>
#include <hocket/http/detail/proxy_protocol.hpp>

#include "http/file_name.hpp"

#include <string>

namespace {

using namespace hocket::http;
using namespace hocket::http::detail;
using hocket::socket_address;
using hocket_fuzz::expect;
using outcome = proxy_header::outcome;

void check_proxy_header(std::string_view bytes) {
  const proxy_header header = proxy_header::parse(bytes);
  if (header.result != outcome::complete) return;
  expect(header.size <= bytes.size() && header.size <= proxy_header::max_size, "a complete header has arrived");
  expect(proxy_header::parse(bytes.substr(0, header.size)).source == header.source, "bytes behind it do not count");
  for (std::size_t size = 0; size < header.size; ++size)
    expect(proxy_header::parse(bytes.substr(0, size)).result == outcome::incomplete, "its beginnings are incomplete");
}

void check_forwarded(std::string_view field) {
  static const trusted_proxies trusted = trusted_proxies::parse("10.0.0.0/8, fd00::/8, unix").value();
  for (const proxy_field kind : {proxy_field::x_forwarded_for, proxy_field::forwarded}) {
    const forwarded_client client = find_client("10.0.0.1:1", trusted, kind, {.list = field, .scheme = field});
    expect(client.address.is_valid(), "a client has an address");
    expect(client.scheme.empty() || client.scheme == "http" || client.scheme == "https", "its scheme is known");
    const forwarded_client direct = find_client("192.0.2.1:1", trusted, kind, {.list = field, .scheme = field});
    expect(direct.address == socket_address("192.0.2.1:1") && direct.scheme.empty() && direct.host.empty(),
           "nothing counts that another peer sends");
  }
  static_cast<void>(trusted_proxies::parse(field));
}

void check_file_name(std::string_view path) {
  for (const bool dotfiles : {false, true}) {
    const std::optional<std::string> name = file_name_of(path, dotfiles);
    if (!name) continue;
    expect(name->find_first_of(std::string_view("\\\0", 2)) == name->npos, "a name has no backslash and no NUL");
    const std::string framed = "/" + *name + (name->empty() || name->back() == '/' ? "" : "/");
    expect(framed.find("//") == framed.npos || name->empty(), "no segment is empty");
    expect(framed.find("/../") == framed.npos && framed.find("/./") == framed.npos, "no segment is a dot or two");
    expect(dotfiles || framed.find("/.") == framed.npos, "no segment begins with a dot");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = hocket_fuzz::text_of(data, size);
  check_proxy_header(bytes);
  check_forwarded(bytes);
  check_file_name(bytes);
  return 0;
}
