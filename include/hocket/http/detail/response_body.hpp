// The body of a response: nothing, a text, a part of a file, a function that writes it, or a function that takes over
// the connection.
#pragma once
#include <hocket/base/memory_source.hpp>
#include <hocket/base/result.hpp>
#include <hocket/base/seam/platform/unique_ptr.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/http/detail/stored_function.hpp>
#include <hocket/io/unique_fd.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI {

class blocking_pool;

namespace http {

class body_writer;
class upgraded_stream;

namespace detail {

// A function that writes a body, with its arguments. The object lives until the body is complete.
class body_function : public hocket::detail::from_memory_source {
 public:
  virtual ~body_function() = default;
  virtual task<result<void>> write(body_writer& to) = 0;

  // The clients of such a body never shut down writing alone: the end of their stream means that they are gone.
  bool ends_when_half_closed = false;
};

// A function that takes over the connection after the response (101) has been sent.
class upgrade_function : public hocket::detail::from_memory_source {
 public:
  virtual ~upgrade_function() = default;
  virtual task<result<void>> run(upgraded_stream&& connection) = 0;
};

// A range of a regular file.
struct body_file : hocket::detail::from_memory_source {
  body_file(unique_fd opened, std::uint64_t begin, std::uint64_t bytes, blocking_pool* readers) noexcept
      : file(std::move(opened)), offset(begin), size(bytes), pool(readers) {}
  unique_fd file;
  std::uint64_t offset;
  std::uint64_t size;
  blocking_pool* pool;  // null: the pool of the process
};

// The content of a body. At most one of its members is set.
class response_body {
 public:
  enum class kind : std::uint8_t { none, text, file, function, upgrade };

  kind type() const noexcept {
    if (is_text_) return kind::text;
    if (file_) return kind::file;
    if (upgrade_) return kind::upgrade;
    return function_ ? kind::function : kind::none;
  }
  // The bytes of a text, owned or not.
  std::string_view text() const noexcept { return is_owned_ ? std::string_view(owned_) : view_; }
  body_file& file() const noexcept { return *file_; }
  body_function& function() const noexcept { return *function_; }
  upgrade_function& upgrade() const noexcept { return *upgrade_; }
  // The size in bytes. Empty: only the function knows.
  std::optional<std::uint64_t> size() const noexcept {
    switch (type()) {
      case kind::none:
      case kind::upgrade: return 0;
      case kind::text: return text().size();
      case kind::file: return file_->size;
      case kind::function: break;
    }
    return size_;
  }

  void clear() noexcept;
  // The viewed bytes live until the response is complete.
  void set_view(std::string_view text) noexcept;
  void set_text(std::string&& text) noexcept;
  void set_file(std::unique_ptr<body_file> file) noexcept;
  void set_function(std::unique_ptr<body_function> function, std::optional<std::uint64_t> size) noexcept;
  void set_upgrade(std::unique_ptr<upgrade_function> function) noexcept;

 private:
  bool is_text_ = false;
  bool is_owned_ = false;
  std::string_view view_;
  std::string owned_;
  std::unique_ptr<body_file> file_;
  std::unique_ptr<body_function> function_;
  std::unique_ptr<upgrade_function> upgrade_;
  std::optional<std::uint64_t> size_;
};

template <class Function, bool leaves_temporaries>
class stored_body_function final : public body_function {
 public:
  template <class... Stored>
  explicit stored_body_function(Stored&&... stored) : function_(std::in_place, std::forward<Stored>(stored)...) {}

  task<result<void>> write(body_writer& to) override {
    using returned = std::invoke_result_t<Function&, body_writer&>;
    if constexpr (std::is_same_v<returned, task<void>>) return await_plain(to);
    else return function_.template start<leaves_temporaries>(to);
  }

 private:
  task<result<void>> await_plain(body_writer& to) {
    task<void> writing = function_.template start<leaves_temporaries>(to);
    co_await std::move(writing);
    co_return {};
  }

  Function function_;
};

}  // namespace detail

}  // namespace http

}}  // namespace hocket
