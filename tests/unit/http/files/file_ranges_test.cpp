// Ranges and conditions of files, and send_file.
#include <hocket/http/detail/date.hpp>

#include "http/beneath.hpp"
#include "unit/http/files/site.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <initializer_list>
#include <set>
#include <string>
#include <sys/stat.h>

using namespace hocket_test;
using http::status;

namespace {

shown_answer get_range(site& files, std::string_view range, std::string_view lines = {}) {
  return files.get("/static/a.txt", "\nRange: " + std::string(range) + std::string(lines));
}

}  // namespace

TEST_CASE("one range is a part of the file") {
  site files;
  struct row {
    std::string_view range, body, content_range;
  };
  for (const row& expected : {row{"bytes=0-3", "0123", "bytes 0-3/10"}, row{"bytes=5-", "56789", "bytes 5-9/10"},
                              row{"bytes=-2", "89", "bytes 8-9/10"}, row{"bytes=9-9", "9", "bytes 9-9/10"},
                              row{"bytes=0-99", "0123456789", "bytes 0-9/10"}}) {
    CAPTURE(expected.range);
    const shown_answer answer = get_range(files, expected.range);
    CHECK(answer.status == status::partial_content);
    CHECK(answer.body == expected.body);
    CHECK(answer.field("Content-Range") == expected.content_range);
    CHECK(answer.field("Vary") == "Accept-Encoding");
    CHECK(answer.field("Content-Type") == "text/plain; charset=utf-8");
    CHECK(answer.field("ETag").size() > 2);
  }
}

TEST_CASE("several ranges are the parts of a multipart body, whose size is exact") {
  site files;
  const shown_answer answer = get_range(files, "bytes=0-1,4-5,-1");
  CHECK(answer.status == status::partial_content);
  const std::string type = answer.field("Content-Type");
  const std::string prefix = "multipart/byteranges; boundary=";
  REQUIRE(type.starts_with(prefix));
  const std::string boundary = type.substr(prefix.size());
  CHECK(boundary.size() == 32);
  const auto part = [&](const std::string& range, const std::string& body) {
    return "--" + boundary + "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Range: bytes " + range +
           "/10\r\n\r\n" + body + "\r\n";
  };
  CHECK(answer.body == part("0-1", "01") + part("4-5", "45") + part("9-9", "9") + "--" + boundary + "--\r\n");
  CHECK(answer.response.header("Content-Range") == std::nullopt);
}

TEST_CASE("a large multipart body has the bytes of its ranges") {
  site files;
  std::string large;
  for (int i = 0; large.size() < 400'000; ++i) large += std::to_string(i) + ",";
  files.write("public/large.txt", large);
  const shown_answer answer = files.get("/static/large.txt", "\nRange: bytes=100-200099,300000-300009");
  CHECK(answer.status == status::partial_content);
  CHECK(answer.body.find(large.substr(100, 200'000)) != std::string::npos);
  CHECK(answer.body.find("\r\n\r\n" + large.substr(300'000, 10) + "\r\n--") != std::string::npos);
}

TEST_CASE("ranges behind the end are 416 with the size of the file") {
  site files;
  for (std::string_view range :
       {"bytes=10-", "bytes=10-20", "bytes=-0", "bytes=99-,100-", "bytes=99999999999999999999-"}) {
    CAPTURE(range);
    const shown_answer answer = get_range(files, range);
    CHECK(answer.status == status::range_not_satisfiable);
    CHECK(answer.field("Content-Range") == "bytes */10");
    CHECK(answer.body.empty());
  }
}

TEST_CASE("416 has no field of the file's content, so no cache stores it as the file") {
  site files({.cache_control = "public, max-age=31536000, immutable"});
  files.write("public/a.txt.gz", "gzip");
  const shown_answer answer = get_range(files, "bytes=99-", "\nAccept-Encoding: gzip");
  CHECK(answer.status == status::range_not_satisfiable);
  CHECK(answer.field("Content-Range") == "bytes */4");
  CHECK(answer.field("Vary") == "Accept-Encoding");
  for (const char* name : {"Cache-Control", "ETag", "Last-Modified", "Content-Encoding", "Content-Type",
                           "Accept-Ranges", "X-Content-Type-Options"}) {
    CAPTURE(name);
    CHECK(answer.response.header(name) == std::nullopt);
  }
  made_request rq(get("/report") + "\nRange: bytes=99-");
  const auto sent = hocket::sync_wait(http::send_file(*rq, files.path("public/a.txt"), {.download_name = "a.txt"}));
  CHECK(sent.value().status() == status::range_not_satisfiable);
  CHECK(sent.value().header("Content-Disposition") == std::nullopt);
}

TEST_CASE("malformed, overlapping and too many ranges give the whole file, once") {
  site files;
  std::string thousand = "bytes=0-", many = "bytes=0-0";
  for (int i = 1; i < 1000; ++i) thousand += ",0-";
  for (int i = 1; i < 6; ++i) many += "," + std::to_string(i) + "-" + std::to_string(i);
  for (const std::string& range :
       {thousand, many, std::string("bytes=0-,0-"), std::string("bytes=0-5,5-9"), std::string("bytes=-5,-6"),
        std::string("bytes=2-1"), std::string("bytes=a-b"), std::string("items=0-1"), std::string("bytes=0-1,x"),
        std::string("bytes"), std::string("0-1")}) {
    CAPTURE(range.substr(0, 40));
    const shown_answer answer = get_range(files, range);
    CHECK(answer.status == status::ok);
    CHECK(answer.body == "0123456789");
  }
}

TEST_CASE("If-Range applies the range to the same state of the file alone") {
  site files;
  files.set_time("public/a.txt", 784111777);
  const std::string tag = files.get("/static/a.txt").field("ETag");
  CHECK(get_range(files, "bytes=0-0", "\nIf-Range: " + tag).status == status::partial_content);
  CHECK(get_range(files, "bytes=0-0", "\nIf-Range: Sun, 06 Nov 1994 08:49:37 GMT").status == status::partial_content);
  for (const std::string& other :
       {"W/" + tag, std::string("\"x\""), std::string("Sun, 06 Nov 1994 08:49:38 GMT"), std::string("x")}) {
    CAPTURE(other);
    CHECK(get_range(files, "bytes=0-0", "\nIf-Range: " + other).status == status::ok);
  }
  files.set_time("public/a.txt", 784111778);
  CHECK(get_range(files, "bytes=0-0", "\nIf-Range: " + tag).status == status::ok);
}

TEST_CASE("a client that has the file gets 304 without a body, and a failed precondition is 412") {
  site files({.cache_control = "no-cache"});
  files.set_time("public/a.txt", 784111777);
  const std::string tag = files.get("/static/a.txt").field("ETag");
  for (const std::string& lines :
       {"\nIf-None-Match: " + tag, "\nIf-None-Match: W/" + tag, "\nIf-None-Match: \"x\", " + tag,
        std::string("\nIf-None-Match: *"), "\nIf-None-Match: \"x\"\nIf-None-Match: " + tag,
        std::string("\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"),
        "\nRange: bytes=0-0\nIf-None-Match: " + tag}) {
    CAPTURE(lines);
    const shown_answer answer = files.get("/static/a.txt", lines);
    CHECK(answer.status == status::not_modified);
    CHECK(answer.body.empty());
    CHECK(answer.field("ETag") == tag);
    CHECK(answer.field("Cache-Control") == "no-cache");
    CHECK(answer.field("Vary") == "Accept-Encoding");
  }
  CHECK(files.get("/static/a.txt", "\nIf-None-Match: \"x\"").status == status::ok);
  CHECK(files.get("/static/a.txt", "\nIf-Match: \"x\"").status == status::precondition_failed);
  CHECK(files.get("/static/a.txt", "\nIf-Match: " + tag).status == status::ok);
}

TEST_CASE("Last-Modified is never later than now, and its conditions hold, also for a time in the future") {
  site files;
  std::set<std::string> tags;
  // The years 2096, 2286 and 2350; the last two are beyond 64 bits of nanoseconds.
  for (const std::int64_t time :
       {std::int64_t{4'000'000'000}, std::int64_t{10'000'000'000}, std::int64_t{12'000'000'000}}) {
    CAPTURE(time);
    files.set_time("public/a.txt", time);
    struct stat state{};
    REQUIRE(::stat(files.path("public/a.txt").c_str(), &state) == 0);
    const shown_answer answer = files.get("/static/a.txt");
    const http::detail::date_text changed = http::detail::format_date(state.st_ctim.tv_sec);
    const std::string date = answer.field("Last-Modified");
    CHECK(date == std::string(changed.data(), changed.size()));
    CHECK(files.get("/static/a.txt", "\nIf-Modified-Since: " + date).status == status::not_modified);
    CHECK(files.get("/static/a.txt", "\nIf-Unmodified-Since: " + date).status == status::ok);
    tags.insert(answer.field("ETag"));
  }
  CHECK(tags.size() == 3);
}

TEST_CASE("a file with a time in the future was modified when it was given this time") {
  using http::detail::opened_file;
  struct row {
    std::int64_t mtime, ctime, modified;
  };
  for (const row& expected : {row{10, 90, 10}, row{100, 100, 100}, row{100, 200, 100}, row{101, 90, 90},
                              row{101, 101, 100}, row{-5, 90, -5}}) {
    CAPTURE(expected.mtime);
    CAPTURE(expected.ctime);
    opened_file opened;
    opened.mtime = expected.mtime;
    opened.ctime = expected.ctime;
    CHECK(opened.modified(100) == expected.modified);
  }
}

TEST_CASE("send_file answers with a file of the program, by its path and by its fd") {
  site files;
  const std::string path = files.path("outside/secret");
  made_request rq(get("/report") + "\nRange: bytes=0-2");
  hocket::result<http::response> by_path = hocket::sync_wait(
      http::send_file(*rq, path, {.content_type = "text/x-report", .download_name = "a\"b/c\\d.txt"}));
  REQUIRE(by_path.has_value());
  CHECK(by_path->status() == status::partial_content);
  CHECK(by_path->header("Content-Type") == "text/x-report");
  CHECK(by_path->header("Content-Disposition") == "attachment; filename=\"a_b_c_d.txt\"");
  CHECK(by_path->header("Vary") == std::nullopt);

  hocket::result<http::response> by_fd =
      http::send_file(*rq, hocket::unique_fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)));
  REQUIRE(by_fd.has_value());
  CHECK(by_fd->header("Content-Type") == "application/octet-stream");

  for (const std::string& wrong : {files.path("missing"), files.path("outside"), std::string(), std::string("a\0b", 3),
                                   files.path("outside/secret/x"), std::string("/dev/null")}) {
    CAPTURE(wrong);
    const auto answer = hocket::sync_wait(http::send_file(*rq, wrong));
    REQUIRE_FALSE(answer.has_value());
    CHECK(answer.error().value() == 404);
  }
  CHECK_FALSE(http::send_file(*rq, hocket::unique_fd(::open("/dev/null", O_RDONLY | O_CLOEXEC))).has_value());
}
