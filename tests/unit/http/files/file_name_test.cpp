// Names of files from paths, and the encodings that a client accepts.
#include "http/file_name.hpp"

#include <doctest/doctest.h>
#include <initializer_list>
#include <ostream>
#include <string>

using namespace hocket::http::detail;

TEST_CASE("a path is split, and its segments are decoded") {
  struct row {
    std::string_view path, name;
  };
  for (const row& expected : {row{"", ""}, row{"a.txt", "a.txt"}, row{"a/b/c", "a/b/c"}, row{"a/", "a/"},
                              row{"a%20b", "a b"}, row{"%41", "A"}, row{"a+b", "a+b"}, row{"%C3%A4", "\xC3\xA4"},
                              row{"a..b", "a..b"}, row{"a.", "a."}, row{"a%25", "a%"}, row{"%2541", "%41"}}) {
    CAPTURE(expected.path);
    CHECK(file_name_of(expected.path, false) == std::string(expected.name));
  }
}

TEST_CASE("a path with a dangerous segment has no name") {
  for (std::string_view path : {"..",
                                "../a",
                                "a/..",
                                "a/../b",
                                ".",
                                "./a",
                                "a/.",
                                "%2e%2e",
                                "%2E%2e/a",
                                "a/%2e%2e",
                                ".%2e",
                                "%2e",
                                "%2e/a",
                                "a%2fb",
                                "a%2Fb",
                                "%2f",
                                "..%2f..%2fetc%2fpasswd",
                                "a%2f..%2fb",
                                "%2fetc/passwd",
                                "a\\b",
                                "..\\a",
                                "a%5cb",
                                "%5C",
                                "..%5c..%5ca",
                                "a%00b",
                                "%00",
                                "a.txt%00.html",
                                "a/%00",
                                "/a",
                                "//a",
                                "a//b",
                                "a//",
                                "/",
                                "%",
                                "a%",
                                "%4",
                                "%4g",
                                "%g1",
                                "a%%",
                                "%u0041"}) {
    CAPTURE(path);
    CHECK_FALSE(file_name_of(path, false).has_value());
    CHECK_FALSE(file_name_of(path, true).has_value());
  }
}

TEST_CASE("a name that begins with a dot needs the option") {
  for (std::string_view path :
       {".hidden", ".git/config", "a/.b", ".well-known/x", "...", "%2ehidden", "a/%2Egit/b", ".a/", "..a", "..%20"}) {
    CAPTURE(path);
    CHECK_FALSE(file_name_of(path, false).has_value());
    CHECK(file_name_of(path, true).has_value());
  }
}

TEST_CASE("a path that is too long has no name") {
  CHECK(file_name_of(std::string(4000, 'a'), false).has_value());
  CHECK_FALSE(file_name_of(std::string(4001, 'a'), false).has_value());
}

TEST_CASE("an encoding has a quality by its name or by a star") {
  struct row {
    std::string_view field;
    int br, gzip;
  };
  for (const row& expected : {
           row{"", 0, 0},
           row{"gzip", 0, 1000},
           row{"br", 1000, 0},
           row{"gzip, deflate, br", 1000, 1000},
           row{"GZIP, Br", 1000, 1000},
           row{"x-gzip", 0, 1000},
           row{"*", 1000, 1000},
           row{"*;q=0", 0, 0},
           row{"br;q=0, *", 0, 1000},
           row{"gzip;q=0.5, br;q=0", 0, 500},
           row{"br;q=0.001", 1, 0},
           row{"*;q=0, gzip", 0, 1000},
           row{"identity", 0, 0},
           row{"br;q=2", 0, 0},
           row{"br;q=x", 0, 0},
           row{"brotli, gzipped", 0, 0},
           row{"gzip;q=1, br;q=0.1", 100, 1000},
           row{"br;q=0.2, *;q=0.3", 200, 300},
           row{"deflate;q=1.0", 0, 0},
       }) {
    CAPTURE(expected.field);
    const accepted_encodings accepted = accepted_encodings::parse(expected.field);
    CHECK(accepted.br == expected.br);
    CHECK(accepted.gzip == expected.gzip);
  }
}
