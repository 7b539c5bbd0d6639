// A folder with files, mounted at /static, and the answers to requests for them, without a connection.
#pragma once
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/invoke.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/http/body_writer.hpp>
#include <hocket/http/files.hpp>
#include <hocket/http/router.hpp>

#include "http/sender.hpp"
#include "support/tcp_pair.hpp"
#include "support/temporary_folder.hpp"
#include "unit/http/made_request.hpp"

#include <array>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace hocket_test {

namespace http = hocket::http;

struct shown_answer {
  http::status status;
  http::response response;
  std::string body;

  std::string field(std::string_view name) const { return std::string(response.header(name).value_or("")); }
};

class site {
 public:
  explicit site(const http::files_options& options = {}) {
    make_folder("public/dir/deep");
    make_folder("outside");
    write("public/a.txt", "0123456789");
    write("public/index.html", "<p>index");
    write("public/dir/index.html", "<p>dir");
    write("outside/secret", "secret");
    http::router routes;
    routes.mount("/static", http::files(path("public"), options));
    table_ = http::detail::router_access::freeze(std::move(routes));
  }

  void make_folder(const char* name) { std::filesystem::create_directories(path(name)); }
  void write(const char* name, std::string_view content) { std::ofstream(path(name), std::ios::binary) << content; }
  void link(const char* target, const char* name) { std::filesystem::create_symlink(target, path(name)); }
  void set_time(const char* name, std::int64_t seconds) {
    const timespec times[2] = {{seconds, 0}, {seconds, 0}};
    REQUIRE(::utimensat(AT_FDCWD, path(name).c_str(), times, 0) == 0);
  }
  std::string path(const char* name) const { return folder_ / name; }

  // `lines`: further field lines, each with a '\n' before it.
  shown_answer get(std::string_view target, std::string_view lines = {}) { return ask("GET", target, lines); }
  shown_answer ask(std::string_view method, std::string_view target, std::string_view lines = {}) {
    std::string head(method);
    head.append(" ").append(target).append(" HTTP/1.1\nHost: example.org").append(lines);
    made_request rq(head);
    static_cast<void>(table_->find(*rq));
    http::response answer = table_->is_plain(*rq) ? table_->respond_now(*rq) : hocket::sync_wait(table_->respond(*rq));
    const http::status status = answer.status();
    std::string body = read_body(answer);
    return {status, std::move(answer), std::move(body)};
  }

 private:
  static std::string read_body(http::response& answer) {
    http::detail::response_body& body = http::detail::response_access::body(answer);
    using kind = http::detail::response_body::kind;
    if (body.type() == kind::text) return std::string(body.text());
    if (body.type() == kind::file) return read_file(body.file());
    return body.type() == kind::function ? run_function(body) : "";
  }
  static std::string read_file(const http::detail::body_file& part) {
    std::string bytes(part.size, '\0');
    const ssize_t count =
        ::pread(part.file.native_handle(), bytes.data(), bytes.size(), static_cast<off_t>(part.offset));
    CHECK(count == static_cast<ssize_t>(part.size));
    return bytes;
  }
  static std::string run_function(http::detail::response_body& body) {
    tcp_pair pair = make_tcp_pair();
    std::string bytes;
    std::thread reader([&] {
      std::array<char, 4096> buffer;
      while (const std::size_t n = hocket::sync_wait(pair.far.read_some(buffer)).value())
        bytes.append(buffer.data(), n);
    });
    {
      hocket::event draining;
      http::detail::sender sender(pair.near, 0, {}, draining);
      http::body_writer out(sender, false);
      auto writing = [&]() -> hocket::task<hocket::result<void>> {
        co_await hocket::or_return(body.function().write(out));
        co_return co_await out.end();
      };
      CHECK(hocket::sync_wait(hocket::invoke(writing)).has_value());
      CHECK(hocket::sync_wait(sender.flush()).has_value());
    }
    pair.near.close();
    reader.join();
    CHECK(bytes.size() == body.size());
    return bytes;
  }

  temporary_folder folder_;
  std::unique_ptr<const http::detail::route_table> table_;
};

}  // namespace hocket_test
