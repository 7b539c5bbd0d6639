// Static files: fields, folders, names that are refused, precompressed siblings.
#include "unit/http/files/site.hpp"

#include <cstddef>
#include <doctest/doctest.h>
#include <initializer_list>
#include <string>
#include <system_error>

using namespace hocket_test;
using http::status;

TEST_CASE("a file is answered with its type, its validators and its bytes") {
  site files;
  files.set_time("public/a.txt", 784111777);
  const shown_answer answer = files.get("/static/a.txt");
  CHECK(answer.status == status::ok);
  CHECK(answer.body == "0123456789");
  CHECK(answer.field("Content-Type") == "text/plain; charset=utf-8");
  CHECK(answer.field("X-Content-Type-Options") == "nosniff");
  CHECK(answer.field("Last-Modified") == "Sun, 06 Nov 1994 08:49:37 GMT");
  CHECK(answer.field("Accept-Ranges") == "bytes");
  CHECK(answer.field("Vary") == "Accept-Encoding");
  CHECK(answer.field("Cache-Control").empty());
  CHECK(answer.field("ETag").size() > 2);
  CHECK(answer.response.header("Content-Encoding") == std::nullopt);
}

TEST_CASE("a large file is sent as a range of its fd, and an empty one has no bytes") {
  site files;
  const std::string large(100'000, 'x');
  files.write("public/large.bin", large);
  files.write("public/empty", "");
  CHECK(files.get("/static/large.bin").body == large);
  CHECK(files.get("/static/large.bin").field("Content-Type") == "application/octet-stream");
  CHECK(files.get("/static/empty").status == status::ok);
  CHECK(files.get("/static/empty").body.empty());
}

TEST_CASE("a folder shows its index, and a path without a slash is redirected") {
  site files;
  CHECK(files.get("/static/").body == "<p>index");
  CHECK(files.get("/static/dir/").body == "<p>dir");
  CHECK(files.get("/static/dir/").field("Content-Type") == "text/html; charset=utf-8");
  struct row {
    std::string_view target, location;
  };
  for (const row& expected :
       {row{"/static", "/static/"}, row{"/static?a=b", "/static/?a=b"}, row{"/static/dir", "/static/dir/"},
        row{"/static/dir?x=%20", "/static/dir/?x=%20"}, row{"/static/%64ir", "/static/%64ir/"}}) {
    CAPTURE(expected.target);
    const shown_answer answer = files.get(expected.target);
    CHECK(answer.status == status::moved_permanently);
    CHECK(answer.field("Location") == expected.location);
  }
}

TEST_CASE("a folder may be mounted below a prefix with parameters, and at the root") {
  site files;
  http::router routes;
  auto of_user = routes.group("/users/{id}");
  of_user.mount("/pages", http::files(files.path("public")));
  routes.mount("", http::files(files.path("outside")));
  const auto table = http::detail::router_access::freeze(std::move(routes));
  const auto ask = [&](std::string_view target) {
    made_request rq(get(target));
    static_cast<void>(table->find(*rq));
    return table->is_plain(*rq) ? table->respond_now(*rq) : hocket::sync_wait(table->respond(*rq));
  };
  CHECK(ask("/users/7/pages").header("Location") == "/users/7/pages/");
  CHECK(ask("/users/7/pages/a.txt").status() == status::ok);
  CHECK(ask("/users/a.txt/pages/b.txt").status() == status::not_found);
  CHECK(ask("/secret").status() == status::ok);
  CHECK(ask("//secret").status() == status::not_found);
  CHECK(ask("//example.org/").status() == status::not_found);
}

TEST_CASE("a folder without an index, and an index that is a folder, are 404") {
  site files;
  files.make_folder("public/odd/index.html");
  for (std::string_view target : {"/static/dir/deep/", "/static/odd/"}) {
    CAPTURE(target);
    CHECK(files.get(target).status == status::not_found);
  }
  site without_index({.index = ""});
  CHECK(without_index.get("/static/").status == status::not_found);
  CHECK(without_index.get("/static/dir/").status == status::not_found);
  CHECK(without_index.get("/static/dir/index.html").body == "<p>dir");
}

TEST_CASE("paths that lead out of the folder, and names with forbidden bytes, are 404") {
  site files;
  for (std::string_view target : {
           "/static/missing",
           "/static/a.txt/",
           "/static/a.txt/b",
           "/static/A.TXT",
           "/static//a.txt",
           "/static/dir//index.html",
           "/static/a%2f..%2fa.txt",
           "/static/dir%2findex.html",
           "/static/..%2foutside%2fsecret",
           "/static/%2fetc%2fpasswd",
           "/static/dir%2F..%2F..%2Foutside%2Fsecret",
           "/static/..%2fa.txt",
           "/static/%2e%2e%2fa.txt",
           "/static/.%2e%2fa.txt",
           "/static/a.txt%20",
           "/static/a.txt.",
           "/static/dir/%2f",
           "/static/%2f",
       }) {
    CAPTURE(target);
    const shown_answer answer = files.get(target);
    CHECK(answer.status == status::not_found);
    CHECK(answer.body.find("secret") == std::string::npos);
  }
}

TEST_CASE("symlinks that stay beneath the folder are followed, and others are 404") {
  site files;
  files.link("a.txt", "public/inside");
  files.link("../a.txt", "public/dir/up");
  files.link("dir", "public/folder");
  for (std::string_view target : {"/static/inside", "/static/dir/up", "/static/folder/up"}) {
    CAPTURE(target);
    CHECK(files.get(target).body == "0123456789");
  }
  files.link("/etc/passwd", "public/absolute");
  files.link(files.path("public/a.txt").c_str(), "public/absolute_inside");
  files.link("../outside/secret", "public/relative");
  files.link("../../outside", "public/dir/outside");
  files.link("..", "public/parent");
  files.link("/", "public/root");
  files.link("/proc/self/cwd", "public/magic");
  files.link("nowhere", "public/dangling");
  files.link("circle", "public/circle");
  files.link("relative", "public/chain");
  for (std::string_view target :
       {"/static/absolute", "/static/absolute_inside", "/static/relative", "/static/dir/outside",
        "/static/dir/outside/secret", "/static/parent", "/static/parent/outside/secret", "/static/root/etc/passwd",
        "/static/magic", "/static/dangling", "/static/circle", "/static/chain"}) {
    CAPTURE(target);
    CHECK(files.get(target).status == status::not_found);
  }
}

TEST_CASE("names that begin with a dot are 404 without the option") {
  site files, with_dotfiles({.dotfiles = true});
  for (site* each : {&files, &with_dotfiles}) {
    each->make_folder("public/.git");
    each->write("public/.hidden", "h");
    each->write("public/.git/config", "h");
    each->write("public/dir/.env", "h");
    each->write("public/..a", "h");
    each->write("public/...", "h");
  }
  for (std::string_view target :
       {"/static/.hidden", "/static/.git/config", "/static/dir/.env", "/static/..a", "/static/...", "/static/%2ehidden",
        "/static/%2Egit/config", "/static/dir/%2eenv", "/static/%2e%2ea", "/static/.git%2fconfig"}) {
    CAPTURE(target);
    CHECK(files.get(target).status == status::not_found);
    const bool has_slash = target.ends_with("%2fconfig");
    CHECK(with_dotfiles.get(target).status == (has_slash ? status::not_found : status::ok));
  }
}

TEST_CASE("a FIFO and a device are 404, at once") {
  site files;
  REQUIRE(::mkfifo(files.path("public/fifo").c_str(), 0600) == 0);
  REQUIRE(::mkfifo(files.path("public/fifo.txt").c_str(), 0600) == 0);
  files.make_folder("public/sub");
  REQUIRE(::mkfifo(files.path("public/sub/index.html").c_str(), 0600) == 0);
  files.link("fifo", "public/link_to_fifo");
  for (std::string_view target : {"/static/fifo", "/static/fifo.txt", "/static/sub/", "/static/link_to_fifo"}) {
    CAPTURE(target);
    CHECK(files.get(target).status == status::not_found);
  }
  http::router routes;
  routes.mount("/dev", http::files("/dev"));
  const auto table = http::detail::router_access::freeze(std::move(routes));
  for (std::string_view target : {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}) {
    CAPTURE(target);
    made_request rq(get(target));
    static_cast<void>(table->find(*rq));
    const http::response answer = hocket::sync_wait(table->respond(*rq));
    CHECK((answer.status() == status::not_found || target == "/dev/tty"));
  }
}

TEST_CASE("a precompressed sibling is sent to a client that accepts it, with the type of the file") {
  site files;
  files.write("public/app.js", "plain");
  files.write("public/app.js.br", "brotli");
  files.write("public/app.js.gz", "gzip");
  files.write("public/only.js", "plain");
  files.write("public/only.js.gz", "gzip");
  files.make_folder("public/a.txt.br");
  struct row {
    std::string_view target, accepted, body, encoding;
  };
  for (const row& expected : {
           row{"/static/app.js", "gzip, br", "brotli", "br"},
           row{"/static/app.js", "gzip", "gzip", "gzip"},
           row{"/static/app.js", "br;q=0, *", "gzip", "gzip"},
           row{"/static/app.js", "gzip;q=1, br;q=0.1", "gzip", "gzip"},
           row{"/static/app.js", "gzip;q=0.5, br;q=0.5", "brotli", "br"},
           row{"/static/app.js", "gzip;q=0.5, *;q=0.6", "brotli", "br"},
           row{"/static/only.js", "br;q=1, gzip;q=0.1", "gzip", "gzip"},
           row{"/static/app.js", "identity", "plain", ""},
           row{"/static/app.js", "", "plain", ""},
           row{"/static/only.js", "br", "plain", ""},
           row{"/static/only.js", "br, gzip", "gzip", "gzip"},
           row{"/static/a.txt", "br", "0123456789", ""},  // the sibling is a folder
       }) {
    CAPTURE(expected.target);
    CAPTURE(expected.accepted);
    const shown_answer answer = files.get(expected.target, "\nAccept-Encoding: " + std::string(expected.accepted));
    CHECK(answer.status == status::ok);
    CHECK(answer.body == expected.body);
    CHECK(answer.field("Content-Encoding") == expected.encoding);
    CHECK(answer.field("Vary") == "Accept-Encoding");
    if (expected.target.ends_with(".js")) CHECK(answer.field("Content-Type") == "text/javascript; charset=utf-8");
  }
  CHECK(files.get("/static/app.js", "\nAccept-Encoding: br").field("ETag") !=
        files.get("/static/app.js", "\nAccept-Encoding: gzip").field("ETag"));
  site without({.precompressed = false});
  without.write("public/a.txt.gz", "gzip");
  CHECK(without.get("/static/a.txt", "\nAccept-Encoding: gzip").body == "0123456789");
  CHECK(without.get("/static/a.txt").response.header("Vary") == std::nullopt);
}

TEST_CASE("a folder is a folder, also if a precompressed file beside it has its name") {
  site files;
  files.write("public/dir.gz", "gzip");
  files.write("public/dir.br", "brotli");
  files.write("public/dir/deep.gz", "gzip");
  files.link("dir", "public/link");
  files.write("public/link.gz", "gzip");
  for (std::string_view accepted : {"gzip", "br", "br, gzip", "identity"}) {
    CAPTURE(accepted);
    const std::string lines = "\nAccept-Encoding: " + std::string(accepted);
    for (std::string_view target : {"/static/dir", "/static/dir/deep", "/static/link"}) {
      CAPTURE(target);
      const shown_answer answer = files.get(target, lines);
      CHECK(answer.status == status::moved_permanently);
      CHECK(answer.field("Location") == std::string(target) + "/");
    }
    CHECK(files.get("/static/dir/", lines).body == "<p>dir");
    CHECK(files.get("/static/dir.gz", lines).body == "gzip");
  }
}

TEST_CASE("HEAD has the fields of GET, other methods are 405, and Cache-Control is an option") {
  site files({.cache_control = "public, max-age=60"});
  const shown_answer head = files.ask("HEAD", "/static/a.txt");
  const shown_answer shown = files.get("/static/a.txt");
  CHECK(head.status == status::ok);
  for (const char* name : {"Content-Type", "ETag", "Last-Modified", "Cache-Control", "Accept-Ranges"})
    CHECK(head.field(name) == shown.field(name));
  CHECK(head.field("Cache-Control") == "public, max-age=60");
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH"}) {
    const shown_answer answer = files.ask(method, "/static/a.txt");
    CHECK(answer.status == status::method_not_allowed);
  }
}

TEST_CASE("a folder that is not there, and malformed options, throw") {
  CHECK_THROWS_AS(http::files("/no/such/folder"), std::system_error);
  CHECK_THROWS_AS(http::files("/etc/passwd"), std::system_error);
  CHECK_THROWS_AS(http::files(std::string_view("/tmp\0x", 6)), std::system_error);
  CHECK_THROWS_AS(http::files("/tmp", {.index = "a/b"}), std::system_error);
  CHECK_THROWS_AS(http::files("/tmp", {.cache_control = "a\r\nb"}), std::system_error);
}
