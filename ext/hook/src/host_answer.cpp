#include "host_answer.hpp"

#include <algorithm>
#include <functional>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {
namespace {

// Turns pointers into one buffer into pointers into its copy. Other pointers stay: libc's empty lists are static.
class relocation {
 public:
  relocation(const std::vector<char>& from, char* to) noexcept : from_(from), to_(to) {}

  char* moved(char* pointer) const noexcept {
    const char* const begin = from_.data();
    const bool is_inside = std::greater_equal<>()(pointer, begin) && std::less<>()(pointer, begin + from_.size());
    return is_inside ? to_ + (pointer - begin) : pointer;
  }
  // A list that ends with a null pointer.
  char** moved(char** list) const noexcept {
    char** const copy = reinterpret_cast<char**>(moved(reinterpret_cast<char*>(list)));
    if (copy == list || !copy) return copy;
    for (char** item = copy; *item; ++item) *item = moved(*item);
    return copy;
  }

 private:
  const std::vector<char>& from_;
  char* const to_;
};

}  // namespace

void host_answer::copy_to(hostent& copy, char* to) const noexcept {
  std::copy(buffer.begin(), buffer.end(), to);
  const relocation relocate(buffer, to);
  copy = host;
  copy.h_name = relocate.moved(host.h_name);
  copy.h_aliases = relocate.moved(host.h_aliases);
  copy.h_addr_list = relocate.moved(host.h_addr_list);
}

}}}  // namespace hocket::hook
