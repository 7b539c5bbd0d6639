// Static files: a folder as a part of a site, and single files as answers.
//
//   routes.mount("/static", http::files("public"));
//
//   task<result<http::response>> get_report(http::request& rq, reports& all) {
//     co_return co_await http::send_file(rq, all.path_of(rq));
//   }
//
// Answers. Content-Type is chosen by the ending of the name, with X-Content-Type-Options: nosniff. Last-Modified and an
// ETag are sent, and If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, Range and If-Range are heeded:
// 304, 412, 206 with at most 5 ranges, 416. A HEAD request gets the same fields. A 416 has the size of the file
// (Content-Range), and no field of its content: no Cache-Control, no ETag. Last-Modified is never in the future: for a
// file with a time in the future, it is the time of the last change of its inode.
//
// The disk. If the name and the bytes of a file are in the system's cache, the worker serves it. Otherwise it is opened
// and read on a thread of the blocking pool of the options, so that a slow disk delays no other connection.
//
// # files
//
// Names. The rest of the path is split, and each segment is decoded. 404 for
//   - an empty segment, `.` and `..`, and a segment with a slash, a backslash or NUL;
//   - a segment that begins with a dot, unless the options permit it;
//   - a symlink that leaves the folder, and each absolute symlink. Symlinks that stay beneath the folder are followed;
//   - a FIFO, a device, a socket; a folder without an index; a file that the process may not read.
// A folder has no listing: its index.html is served. Without a slash at the end, the path of a folder is redirected
// (301) to the path with a slash, because relative links of the index depend on it.
//
// Precompressed files. If the client accepts `br` or `gzip`, and beside `app.js` there is a file `app.js.br` or
// `app.js.gz`, then this file is sent, with the Content-Type of `app.js`. The client's quality values choose between
// the two, and at equal ones `br` is sent. The answers 200, 206, 304 and 416 have Vary: Accept-Encoding. An answer of
// the error table has no Vary, for instance 404 and 412. A quality of `identity` does not count.
//
// Changes. The folder is opened once: it may be renamed, and not replaced. Files may be replaced by a rename at any
// time. If a file becomes shorter while it is sent, the connection is closed.
//
// # send_file
//
// The path is the program's own: it may be absolute, and symlinks are followed. Never build it of a client's text: use
// files for that. Not a regular file: 404.
//
// Errors. http::errc::not_found and precondition_failed; the errors of open(2), as too_many_files_open, which are
// answered with 500; the errors of blocking(). All throw std::bad_alloc.
//
// Thread safety. A files object is constant: any number of threads use it.
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/http/response.hpp>
#include <hocket/io/unique_fd.hpp>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI {

class blocking_pool;

namespace http {

class request;
class router_group;

namespace detail {
class file_site;
}  // namespace detail

// Options for files.
struct files_options {
  bool dotfiles = false;                  // also serves names that begin with a dot
  bool precompressed = true;              // looks for siblings .br and .gz
  std::string_view index = "index.html";  // of a folder; empty: a folder is 404
  std::string_view cache_control{};       // the value of Cache-Control, as "public, max-age=3600"; empty: no such field
  blocking_pool* pool = nullptr;          // opens and reads files; outlives the server; null: the pool of the process
};
static_assert(hocket::detail::owns_nothing<files_options>);

// A folder: for router::mount(), or as the handler of a route whose last segment is {path...}. Copies share the folder.
class files {
 public:
  // Throws std::system_error if the folder cannot be opened, or if an option is no name or no value of a field.
  explicit files(std::string_view folder, const files_options& options = {});
  files(const files& other) noexcept;
  files& operator=(const files& other) noexcept;
  ~files();

  task<result<response>> operator()(request& rq) const;
  // For mount(): routes for all paths below the prefix. The prefix itself is redirected to the prefix with a slash.
  void add_to(router_group& routes, std::string_view prefix) const;

 private:
  detail::file_site* site_;
};

// Options for send_file.
struct file_options {
  std::string_view content_type{};   // empty: by the ending of the name
  std::string_view cache_control{};  // empty: no such field
  std::string_view download_name{};  // UTF-8: the browser saves the file under this name; empty: it shows the file
  blocking_pool* pool = nullptr;     // outlives the answer; null: the pool of the process
};
static_assert(hocket::detail::owns_nothing<file_options>);

// Answers with a file by its path. The texts are copied before the call returns.
task<result<response>> send_file(request& rq, std::string_view path, const file_options& options = {});
// Answers with an open file. Without a content type: application/octet-stream.
result<response> send_file(request& rq, unique_fd file, const file_options& options = {});

}  // namespace http

}}  // namespace hocket
