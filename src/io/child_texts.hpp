// The texts of a child to be, as execve(2) takes them.
#pragma once
#include <hocket/io/process_options.hpp>
#include <string>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// A list that ends with null.
class exec_texts {
 public:
  void add(std::string_view text) { texts_.emplace_back(text); }
  char* const* data();

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

// No text is cut by a zero inside of it, there is a name, and each variable has one.
bool are_valid_texts(const text_list& arguments, const process_options& options) noexcept;

// The following throw std::bad_alloc.
exec_texts arguments_of(const text_list& arguments, const process_options& options);
exec_texts environment_of(const process_options& options);
// The paths to try: `name`, if it has a slash; else one for each directory in the PATH of this process.
exec_texts programs_of(std::string_view name);

}}}  // namespace hocket::detail
