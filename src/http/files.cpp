#include <hocket/base/seam/atomic.hpp>
#include <hocket/base/seam/own_fds.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/http/detail/content_types.hpp>
#include <hocket/http/detail/file_sender.hpp>
#include <hocket/http/detail/tokens.hpp>
#include <hocket/http/files.hpp>
#include <hocket/http/request.hpp>
#include <hocket/http/router.hpp>
#include <hocket/runtime/blocking.hpp>

#include "http/beneath.hpp"
#include "http/file_answer.hpp"
#include "http/file_name.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <functional>
#include <string>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

namespace detail {

static std::error_code error_of_open(int number) noexcept {
  switch (number) {
    case ENOENT:
    case ENOTDIR:
    case EXDEV:
    case ELOOP:
    case ENAMETOOLONG:
    case EACCES:
    case EINVAL:
    case ENXIO:
    case ENODEV: return make_error_code(errc::not_found);
    default: return {number, std::generic_category()};
  }
}

// A file by its name, or its precompressed sibling.
struct file_search {
  struct variant {
    std::string_view ending, encoding;
    int quality;  // 0: not accepted
  };

  int root;
  std::string name;
  std::array<variant, 2> siblings{};  // the preferred one first
  opened_file opened{};
  std::string_view encoding{};

  // Returns 0, or the error number. Throws std::bad_alloc.
  int open(open_mode mode) {
    for (const variant& sibling : siblings) {
      if (sibling.quality == 0) continue;
      opened_file candidate;
      const int error = open_beneath(root, (name + std::string(sibling.ending)).c_str(), mode, candidate);
      if (error == EAGAIN) return error;
      if (error != 0 || candidate.type != opened_file::kind::regular) continue;
      // `docs.gz` beside a folder `docs` is a file of its own.
      const int folder_error = open_beneath(root, (name + "/").c_str(), mode, opened);
      if (folder_error == 0 || folder_error == EAGAIN) return folder_error;
      opened = std::move(candidate);
      encoding = sibling.encoding;
      return 0;
    }
    return open_beneath(root, name.empty() ? "." : name.c_str(), mode, opened);
  }
  int open_blocking() { return open(open_mode::may_block); }
};

class file_site {
 public:
  file_site(std::string_view folder, const files_options& options);

  task<result<response>> answer(request& rq) const;
  void retain() noexcept {
    // ORDER: relaxed, pairs with nothing: the caller has a share.
    shares_.fetch_add(1, std::memory_order_relaxed);
  }
  void release() noexcept {
    // ORDER: acq_rel, pairs with itself: the uses of the other shares are before the end.
    if (shares_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  file_search search_for(const request& rq, std::string&& name) const;
  result<response> answer_with(request& rq, file_search&& found) const;

  unique_fd root_;
  const std::string index_, cache_control_;
  const bool dotfiles_, precompressed_;
  blocking_pool* const pool_;
  primitive::atomic<std::size_t> shares_{1};
};

file_site::file_site(std::string_view folder, const files_options& options)
    : index_(options.index),
      cache_control_(options.cache_control),
      dotfiles_(options.dotfiles),
      precompressed_(options.precompressed),
      pool_(options.pool) {
  const std::string path(folder);
  const bool has_nul = path.find('\0') != path.npos;
  const bool is_valid =
      !has_nul && index_.find_first_of(std::string_view("/\\\0", 3)) == index_.npos && is_field_value(cache_control_);
  if (!is_valid)
    throw std::system_error(std::make_error_code(std::errc::invalid_argument), "http::files: an option is malformed");
  root_ = unique_fd(hocket::detail::own_fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)));
  if (!root_) throw std::system_error(errno, std::generic_category(), "http::files: " + path);
}

file_search file_site::search_for(const request& rq, std::string&& name) const {
  accepted_encodings accepted;
  if (precompressed_) accepted = accepted_encodings::parse(rq.header("Accept-Encoding").value_or(""));
  if (name.empty() || name.back() == '/') name += index_;
  if (name.empty() || name.back() == '/') accepted = {};  // a folder
  file_search search{.root = root_.native_handle(), .name = std::move(name)};
  search.siblings = {{{".br", "br", accepted.br}, {".gz", "gzip", accepted.gzip}}};
  if (accepted.gzip > accepted.br) std::swap(search.siblings[0], search.siblings[1]);
  return search;
}

// The raw path keeps its encoding. It begins with one slash: a path with two is no name of a file.
static response redirect_to_folder(request& rq) {
  std::string target(rq.raw_path());
  target += '/';
  if (!rq.raw_query().empty()) target.append("?").append(rq.raw_query());
  return redirect(target, status::moved_permanently);
}

result<response> file_site::answer_with(request& rq, file_search&& found) const {
  switch (found.opened.type) {
    case opened_file::kind::regular: break;
    case opened_file::kind::folder:
      if (rq.raw_path().ends_with('/')) return failure(errc::not_found);
      return redirect_to_folder(rq);
    case opened_file::kind::other: return failure(errc::not_found);
  }
  const file_fields fields{.content_type = content_type_of(found.name),
                           .cache_control = cache_control_,
                           .encoding = found.encoding,
                           .varies = precompressed_,
                           .pool = pool_};
  return answer_with_file(rq, std::move(found.opened), fields);
}

task<result<response>> file_site::answer(request& rq) const {
  const path_tree::match& match = request_access::match(rq);
  if (match.captures == 0) co_return failure(errc::not_found);
  std::optional<std::string> name = file_name_of(match.values[match.captures - 1], dotfiles_);
  if (!name) co_return failure(errc::not_found);
  file_search search = search_for(rq, std::move(*name));
  int error = search.open(open_mode::cached);
  if (error == EAGAIN) {
    auto opening = blocking(pool_or_default(pool_), &file_search::open_blocking, std::ref(search));
    error = co_await or_return(std::move(opening));
  }
  if (error != 0) co_return failure(error_of_open(error));
  co_return answer_with(rq, std::move(search));
}

// The file of send_file().
struct named_file {
  std::string path, content_type, cache_control, download_name;
  blocking_pool* pool;
  opened_file opened{};

  int open() noexcept {
    if (path.find('\0') != path.npos) return EINVAL;
    constexpr int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    opened.fd = unique_fd(hocket::detail::own_fd(::open(path.c_str(), flags)));
    return opened.fd ? read_state(opened) : errno;
  }
  file_fields fields() const noexcept {
    return {.content_type = content_type, .cache_control = cache_control, .download_name = download_name, .pool = pool};
  }
};

static task<result<response>> send_named_file(request& rq, named_file file) {
  auto opening = blocking(pool_or_default(file.pool), &named_file::open, std::ref(file));
  const int error = co_await or_return(std::move(opening));
  if (error != 0) co_return failure(error_of_open(error));
  if (file.opened.type != opened_file::kind::regular) co_return failure(errc::not_found);
  opened_file opened = std::move(file.opened);
  co_return answer_with_file(rq, std::move(opened), file.fields());
}

}  // namespace detail

files::files(std::string_view folder, const files_options& options) : site_(new detail::file_site(folder, options)) {}
files::files(const files& other) noexcept : site_(other.site_) { site_->retain(); }
files& files::operator=(const files& other) noexcept {
  other.site_->retain();
  site_->release();
  site_ = other.site_;
  return *this;
}
files::~files() { site_->release(); }

task<result<response>> files::operator()(request& rq) const { return site_->answer(rq); }

void files::add_to(router_group& routes, std::string_view prefix) const {
  const std::string path(prefix.ends_with('/') ? prefix.substr(0, prefix.size() - 1) : prefix);
  if (!path.empty()) routes.get(path, &detail::redirect_to_folder);
  routes.get(path + "/{path...}", *this);
}

task<result<response>> send_file(request& rq, std::string_view path, const file_options& options) {
  const std::string_view type =
      options.content_type.empty() ? detail::content_type_of(path.substr(path.rfind('/') + 1)) : options.content_type;
  detail::named_file file{std::string(path), std::string(type), std::string(options.cache_control),
                          std::string(options.download_name), options.pool};
  return detail::send_named_file(rq, std::move(file));
}

result<response> send_file(request& rq, unique_fd file, const file_options& options) {
  detail::opened_file opened{.fd = std::move(file)};
  if (const int error = detail::read_state(opened); error != 0) return failure(detail::error_of_open(error));
  if (opened.type != detail::opened_file::kind::regular) return failure(errc::not_found);
  const std::string_view type = options.content_type.empty() ? "application/octet-stream" : options.content_type;
  return detail::answer_with_file(rq, std::move(opened),
                                  {.content_type = type,
                                   .cache_control = options.cache_control,
                                   .download_name = options.download_name,
                                   .pool = options.pool});
}

}}}  // namespace hocket::http
