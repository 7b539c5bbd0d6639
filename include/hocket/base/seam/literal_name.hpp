// The name of a coroutine, a loop, a pool: one pointer to text that outlives the named object.
//
//   spawn(lp, {.name = "reader"}, read);
//   spawn(lp, {.name = outliving_name(session.label.c_str())}, read);       // the session outlives its reader
//
// A name is not copied: dumps, notices and debuggers read it as long as the named object exists. So `.name =
// text.c_str()` does not compile, because the text may be gone by then.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <cstddef>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI {

// A string literal, or no name.
class literal_name {
 public:
  constexpr literal_name() noexcept = default;
  template <std::size_t Size>
  consteval literal_name(const char (&literal)[Size]) noexcept : text_(literal) {}
  template <class Text>
    requires(std::is_pointer_v<Text> || requires(const Text& text) { text.c_str(); })
  constexpr literal_name(const Text&) noexcept {
    static_assert(std::is_void_v<Text>,
                  "hocket: a name is a string literal; for text that outlives the coroutine: outliving_name(text)");
  }

  // Null if there is no name.
  constexpr const char* c_str() const noexcept { return text_; }
  constexpr explicit operator bool() const noexcept { return text_ != nullptr; }

 private:
  friend constexpr literal_name outliving_name(const char* text) noexcept;
  const char* text_ = nullptr;
};
static_assert(detail::owns_nothing<literal_name> && sizeof(literal_name) == sizeof(const char*));

// A name that is made at run time. The text must outlive the named object, and its handle. Null: no name.
constexpr literal_name outliving_name(const char* text) noexcept {
  literal_name name;
  name.text_ = text;
  return name;
}

}}  // namespace hocket
