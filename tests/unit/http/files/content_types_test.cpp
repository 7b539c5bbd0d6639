// The media type of a file by the ending of its name.
#include <hocket/http/detail/content_types.hpp>

#include <doctest/doctest.h>

using hocket::http::detail::content_type_of;

TEST_CASE("the ending of a name decides the media type, in upper and lower case") {
  struct row {
    std::string_view name, type;
  };
  for (const row& current :
       {row{"index.html", "text/html; charset=utf-8"}, row{"INDEX.HTML", "text/html; charset=utf-8"},
        row{"app.min.js", "text/javascript; charset=utf-8"}, row{"a.7z", "application/x-7z-compressed"},
        row{"a.zip", "application/zip"}, row{"site.WebManifest", "application/manifest+json"},
        row{".css", "text/css; charset=utf-8"}, row{"x.svg", "image/svg+xml"}, row{"x.wasm", "application/wasm"},
        row{"x.json", "application/json"}}) {
    CAPTURE(current.name);
    CHECK(content_type_of(current.name) == current.type);
  }
}

TEST_CASE("a name with an unknown ending, or without one, is a stream of octets") {
  for (std::string_view name : {"", ".", "README", "a.", "a.b", "a.htmlx", "a.zzz", "a.0", "a.html.", "html",
                                "a.webmanifestt", "a.a-very-long-ending-of-a-name"}) {
    CAPTURE(name);
    CHECK(content_type_of(name) == "application/octet-stream");
  }
}
