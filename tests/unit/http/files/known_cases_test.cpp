// Cases on which file servers have failed, or differ: names, siblings, conditions.
#include "unit/http/files/site.hpp"

#include <doctest/doctest.h>
#include <string>
#include <string_view>

using namespace hocket_test;
using http::status;

namespace {

struct name_row {
  std::string target;
  std::string_view body;  // empty: 404
};

struct condition_row {
  std::string lines;
  http::status expected;
};

}  // namespace

TEST_CASE("a name is decoded once, and its bytes are those of the file") {
  site files;
  files.write("public/\xC3\xBC b+c.txt", "umlaut");
  files.write("public/100%.txt", "percent");
  files.write("public/a;b:c=d&e.txt", "reserved");
  files.write("public/%2e", "literal");
  files.write("public/%2e%2e", "literal dots");
  const std::string long_name(255, 'n'), longer_name(256, 'n');
  files.write(("public/" + long_name).c_str(), "long");
  const std::string many_folders = [] {
    std::string path;
    for (int i = 0; i != 1500; ++i) path += "/d";
    return path;
  }();
  const name_row rows[] = {
      {"/static/%C3%BC%20b+c.txt", "umlaut"},
      {"/static/%c3%bc%20b%2Bc.txt", "umlaut"},
      {"/static/%C3%BC+b+c.txt", ""},  // a plus sign is no blank in a path
      {"/static/100%25.txt", "percent"},
      {"/static/a;b:c=d&e.txt", "reserved"},
      {"/static/%252e", "literal"},
      {"/static/%252e%252e", "literal dots"},
      {"/static/%252e%252e/outside/secret", ""},
      {"/static/%25252e%25252e/outside/secret", ""},
      {"/static/%C0%AE%C0%AE/outside/secret", ""},  // an overlong form of a dot
      {"/static/%E2%80%A5/outside/secret", ""},
      {"/static/a.txt?/../../outside/secret", "0123456789"},
      {"/static/a.txt?", "0123456789"},
      {"/static/a.txt::$DATA", ""},
      {"/static/a.txt;.js", ""},
      {"/static/~root", ""},
      {"/static/" + long_name, "long"},
      {"/static/" + longer_name, ""},
      {"/static" + many_folders, ""},
      {"/static/" + std::string(5000, 'n'), ""},
  };
  for (const name_row& row : rows) {
    CAPTURE(row.target.substr(0, 60));
    const shown_answer answer = files.get(row.target);
    CHECK(answer.status == (row.body.empty() ? status::not_found : status::ok));
    if (!row.body.empty()) CHECK(answer.body == row.body);
  }
}

TEST_CASE("a sibling that leaves the folder, or is no regular file, is not sent") {
  site files;
  files.write("public/b.txt", "plain");
  files.write("public/c.txt", "plain");
  files.write("public/d.txt", "plain");
  files.link("../outside/secret", "public/b.txt.gz");
  files.make_folder("public/c.txt.gz");
  files.link("nowhere", "public/d.txt.gz");
  for (const char* target : {"/static/b.txt", "/static/c.txt", "/static/d.txt"}) {
    CAPTURE(target);
    const shown_answer answer = files.get(target, "\nAccept-Encoding: gzip");
    CHECK(answer.status == status::ok);
    CHECK(answer.body == "plain");
    CHECK(answer.response.header("Content-Encoding") == std::nullopt);
  }
}

TEST_CASE("conditions are evaluated in the order of RFC 9110, 13.2.2") {
  site files;
  files.set_time("public/a.txt", 784111777);
  const std::string tag = files.get("/static/a.txt").field("ETag");
  const std::string before = "Sun, 06 Nov 1994 08:49:36 GMT", same = "Sun, 06 Nov 1994 08:49:37 GMT",
                    after = "Sun, 06 Nov 1994 08:49:38 GMT";
  const condition_row rows[] = {
      {"\nIf-Match: *", status::ok},
      {"\nIf-Match: W/" + tag, status::precondition_failed},
      {"\nIf-Match: \"x\", " + tag, status::ok},
      {"\nIf-Match: \"x,y\", " + tag, status::ok},
      {"\nIf-Match: " + tag + "\nIf-Unmodified-Since: " + before, status::ok},
      {"\nIf-Match: \"x\"\nIf-Unmodified-Since: " + after, status::precondition_failed},
      {"\nIf-Unmodified-Since: " + before, status::precondition_failed},
      {"\nIf-Unmodified-Since: " + same, status::ok},
      {"\nIf-Unmodified-Since: yesterday", status::ok},
      {"\nIf-None-Match: \"x\"\nIf-Modified-Since: " + after, status::ok},
      {"\nIf-None-Match: " + tag + "\nIf-Modified-Since: " + before, status::not_modified},
      {"\nIf-Match: " + tag + "\nIf-None-Match: " + tag, status::not_modified},
      {"\nIf-Modified-Since: " + before, status::ok},
      {"\nIf-Modified-Since: " + after, status::not_modified},
      {"\nIf-Modified-Since: yesterday", status::ok},
      {"\nIf-Match: " + tag + "\nRange: bytes=0-0", status::partial_content},
      {"\nIf-Match: \"x\"\nRange: bytes=0-0", status::precondition_failed},
      {"\nIf-Modified-Since: " + after + "\nRange: bytes=0-0", status::not_modified},
      {"\nIf-Range: " + tag, status::ok},
      {"\nIf-Range: W/" + tag + "\nRange: bytes=0-0", status::ok},
      {"\nIf-Range: *\nRange: bytes=0-0", status::ok},
      {"\nIf-Range: " + tag + "\nRange: bytes=99-", status::range_not_satisfiable},
      {"\nIf-Range: \"x\"\nRange: bytes=99-", status::ok},
  };
  for (const condition_row& row : rows) {
    CAPTURE(row.lines);
    CHECK(files.get("/static/a.txt", row.lines).status == row.expected);
    if (row.lines.find("Range") == std::string::npos)
      CHECK(files.ask("HEAD", "/static/a.txt", row.lines).status == row.expected);
  }
}

TEST_CASE("HEAD ignores Range, and has the size of the whole file") {
  site files;
  const shown_answer answer = files.ask("HEAD", "/static/a.txt", "\nRange: bytes=0-1");
  CHECK(answer.status == status::ok);
  CHECK(answer.response.header("Content-Range") == std::nullopt);
  CHECK(http::detail::response_access::body(answer.response).size() == 10);
}

TEST_CASE("a redirect of a folder stays on the host") {
  site files;
  http::router routes;
  files.make_folder("public/example.org");
  routes.mount("", http::files(files.path("public")));
  const auto table = http::detail::router_access::freeze(std::move(routes));
  const auto location_of = [&](std::string_view target) {
    made_request rq(get(target));
    static_cast<void>(table->find(*rq));
    const http::response answer = hocket::sync_wait(table->respond(*rq));
    return std::string(answer.header("Location").value_or(""));
  };
  CHECK(location_of("/example.org") == "/example.org/");
  for (const char* target :
       {"//example.org", "///example.org", "//example.org/dir", "/%2Fexample.org", "/%2F%2Fexample.org",
        "//example.org?x", "/dir//example.org", "//example.org%2F", "//%65xample.org", "//"}) {
    CAPTURE(target);
    CHECK(location_of(target).empty());
  }
}
