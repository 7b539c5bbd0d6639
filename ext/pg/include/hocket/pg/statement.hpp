// Statements, their parameters and their rows. Statements and parameters refer to texts of the caller.
#pragma once
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <postgresql/libpq-fe.h>
#include <string_view>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI { namespace pg {

// The rows of a statement, or its status: an owned PGresult, read by the functions of libpq.
using rows = std::unique_ptr<PGresult, decltype(&PQclear)>;

// A parameter: a text, or NULL. NULL is written nullptr or std::nullopt; an empty std::optional and a null const char*
// are NULL, too.
class parameter {
 public:
  constexpr parameter(std::nullptr_t) noexcept {}
  constexpr parameter(std::nullopt_t) noexcept {}
  template <std::convertible_to<std::string_view> Text>
  constexpr parameter(const Text& text) noexcept {
    if constexpr (std::is_pointer_v<Text>) {
      if (!text) return;
    }
    text_ = text;
    is_null_ = false;
  }
  template <std::convertible_to<std::string_view> Text>
  constexpr parameter(const std::optional<Text>& text) noexcept {
    if (text) *this = parameter(*text);
  }

  constexpr bool is_null() const noexcept { return is_null_; }
  // Empty for NULL.
  constexpr std::string_view text() const noexcept { return text_; }

 private:
  std::string_view text_;
  bool is_null_ = true;
};
static_assert(detail::owns_nothing<parameter>);

// A list of parameters: refers to a container that has a name. Its elements are texts, parameters or optionals.
class parameter_list {
 public:
  constexpr parameter_list() noexcept = default;
  template <class R>
    requires requires(const R& range) {
      parameter(*std::data(range));
      std::size(range);
    }
  constexpr parameter_list(const R& range) noexcept
      : first_(std::data(range)),
        size_(std::size(range)),
        at_(&element<std::remove_cvref_t<decltype(*std::data(range))>>) {}
  template <class Refused = void>
  constexpr parameter_list(std::initializer_list<parameter>) noexcept {
    static_assert(!std::is_void_v<Refused>,
                  "hocket: a list of parameters is a named array: const std::string_view values[] = {...}; "
                  "{.parameters = values}");
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  parameter operator[](std::size_t index) const noexcept { return at_(first_, index); }

 private:
  template <class Element>
  static parameter element(const void* first, std::size_t index) noexcept {
    return parameter(static_cast<const Element*>(first)[index]);
  }

  const void* first_ = nullptr;
  std::size_t size_ = 0;
  parameter (*at_)(const void*, std::size_t) noexcept = nullptr;
};

// A statement. Its texts are copied before run() and pipeline() return.
struct statement {
  std::string_view text{};      // with $1, $2 ... for the parameters
  parameter_list parameters{};  // as text, or NULL
  bool is_prepared = false;     // `text` is the name from prepare()
};
static_assert(detail::owns_nothing<statement>);

}}}  // namespace hocket::pg
