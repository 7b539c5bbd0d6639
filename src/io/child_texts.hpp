// The arguments of execve(2) for a child that will be started.
#pragma once
#include <hocket/io/process_options.hpp>
#include <string>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Texts as an array of pointers that ends with null.
class exec_texts {
 public:
  void add(std::string_view text) { texts_.emplace_back(text); }
  // Valid until the next call of a member.
  char* const* data();

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

// Whether no text has a zero inside, the first argument is not empty, and each variable has a name.
bool are_valid_texts(const text_list& arguments, const process_options& options) noexcept;

// The following throw std::bad_alloc.
exec_texts arguments_of(const text_list& arguments, const process_options& options);
exec_texts environment_of(const process_options& options);
// The paths to execute: `name`, if it has a slash; else one path for each directory in the PATH of this process.
exec_texts programs_of(std::string_view name);

}}}  // namespace hocket::detail
