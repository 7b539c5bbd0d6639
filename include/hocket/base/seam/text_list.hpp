// Lists of texts that the caller owns until the call returns.
//
// Options own nothing (docs/decisions/040-options-are-views.md), so a list in them is a text_list: it views a vector of
// strings, an array of string_views, a span of const char*. The list has a name:
//
//   const std::string_view extra[] = {"LANG=C", "TZ=UTC"};
//   process::start({"date", "-R"}, {.environment = extra});
//
// A parameter that callers write in braces is a text_arguments, which holds a view of each text. A
// std::initializer_list would not do: g++ 12 does not compile one in a co_await expression, or destroys its elements
// twice.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI {

// A list of texts: refers to a container that has a name.
class text_list {
 public:
  constexpr text_list() noexcept = default;
  template <class R>
    requires requires(const R& range) {
      std::string_view(*std::data(range));
      std::size(range);
    }
  constexpr text_list(const R& range) noexcept
      : first_(std::data(range)),
        size_(std::size(range)),
        at_(&text_at<std::remove_cvref_t<decltype(*std::data(range))>>) {}
  template <class Refused = void>
  constexpr text_list(std::initializer_list<std::string_view>) noexcept {
    static_assert(!std::is_void_v<Refused>,
                  "hocket: a list in options is a named array: const std::string_view extra[] = {...}; "
                  "{.environment = extra}");
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  std::string_view operator[](std::size_t index) const noexcept { return at_(first_, index); }

 private:
  template <class Text>
  static std::string_view text_at(const void* first, std::size_t index) noexcept {
    return std::string_view(static_cast<const Text*>(first)[index]);
  }

  const void* first_ = nullptr;
  std::size_t size_ = 0;
  std::string_view (*at_)(const void*, std::size_t) noexcept = nullptr;
};
static_assert(detail::owns_nothing<text_list>);

// A list of texts that may be written in braces, up to 32, or a container of any size. For parameters alone: a variable
// of this type would refer to texts that are gone.
class text_arguments {
 public:
  static constexpr std::size_t most = 32;

  template <class R>
    requires std::is_convertible_v<const R&, text_list>
  constexpr text_arguments(const R& range) noexcept : list_(range) {}
  template <class... Text>
    requires(std::is_convertible_v<const Text&, std::string_view> && ...)
  constexpr text_arguments(const Text&... texts) noexcept
      : braced_{std::string_view(texts)...}, size_(sizeof...(Text)) {
    static_assert(sizeof...(Text) <= most, "hocket: at most 32 texts in braces: name the list, or use a vector");
  }
  text_arguments(const text_arguments&) = delete;
  text_arguments& operator=(const text_arguments&) = delete;

  // Refers to this object.
  text_list list() const noexcept { return size_ == 0 ? list_ : text_list(view{braced_.data(), size_}); }

 private:
  struct view {
    const std::string_view* first;
    std::size_t count;
    const std::string_view* data() const noexcept { return first; }
    std::size_t size() const noexcept { return count; }
  };

  text_list list_;
  std::array<std::string_view, most> braced_{};
  std::size_t size_ = 0;
};
static_assert(detail::owns_nothing<text_arguments>);

}}  // namespace hocket
