#include "io/child_texts.hpp"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

std::string_view name_of(std::string_view variable) noexcept { return variable.substr(0, variable.find('=')); }

bool has_variable(const text_list& variables, std::string_view name) noexcept {
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (name_of(variables[i]) == name) return true;
  }
  return false;
}

bool has_zero(std::string_view text) noexcept { return text.find('\0') != std::string_view::npos; }

bool is_variable(std::string_view text) noexcept {
  const std::size_t end_of_name = text.find('=');
  return end_of_name != 0 && end_of_name != std::string_view::npos && !has_zero(text);
}

}  // namespace

char* const* exec_texts::data() {
  pointers_.clear();
  for (std::string& text : texts_) pointers_.push_back(text.data());
  pointers_.push_back(nullptr);
  return pointers_.data();
}

bool are_valid_texts(const text_list& arguments, const process_options& options) noexcept {
  if (arguments.empty() || arguments[0].empty() || has_zero(options.argv0) || has_zero(options.directory)) return false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (has_zero(arguments[i])) return false;
  }
  for (std::size_t i = 0; i < options.environment.size(); ++i) {
    if (!is_variable(options.environment[i])) return false;
  }
  return true;
}

exec_texts arguments_of(const text_list& arguments, const process_options& options) {
  exec_texts texts;
  texts.add(options.argv0.empty() ? arguments[0] : options.argv0);
  for (std::size_t i = 1; i < arguments.size(); ++i) texts.add(arguments[i]);
  return texts;
}

exec_texts environment_of(const process_options& options) {
  exec_texts texts;
  for (std::size_t i = 0; i < options.environment.size(); ++i) texts.add(options.environment[i]);
  for (char** variable = environ; options.inherit_environment && variable && *variable; ++variable) {
    if (!has_variable(options.environment, name_of(*variable))) texts.add(*variable);
  }
  return texts;
}

// As execvp(3) of glibc: an empty directory is the working directory, and a directory that is too long is skipped.
exec_texts programs_of(std::string_view name) {
  exec_texts programs;
  if (name.find('/') != std::string_view::npos) {
    programs.add(name);
    return programs;
  }
  const char* const variable = std::getenv("PATH");
  const std::string_view path = variable ? variable : "/bin:/usr/bin";
  for (std::size_t begin = 0, end = 0; begin <= path.size(); begin = end + 1) {
    end = std::min(path.find(':', begin), path.size());
    std::string program(path.substr(begin, end - begin));
    if (program.size() >= PATH_MAX) continue;
    if (!program.empty()) program += '/';
    programs.add(program.append(name));
  }
  return programs;
}

}}}  // namespace hocket::detail
