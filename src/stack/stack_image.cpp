#include <hocket/base/fatal.hpp>
#include <hocket/base/memory_source.hpp>
#include <hocket/base/seam/platform/poison.hpp>
#include <hocket/stack/seam/stack_image.hpp>

#include <cstring>
#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

constexpr std::size_t granule = 16;
constexpr std::size_t generous = 256;  // so many bytes may be left over in an image that is used again

bool fits(const stack_image* spare, std::size_t size) noexcept {
  if (!spare) return false;
  const std::size_t room = spare->footprint() - sizeof(stack_image);
  return room >= size && room - size <= size / 2 + generous;
}

}  // namespace

stack_image* stack_image::save(std::byte* from, std::byte* top, stack_image* spare) noexcept {
  const auto size = static_cast<std::size_t>(top - from);
  debug_expects(size <= UINT32_MAX && reinterpret_cast<std::uintptr_t>(top) % granule == 0,
                "a stack_image of more than 4 GiB, or of a stack with an odd top", "save what one coroutine needs");
  stack_image* image = spare;
  if (!fits(spare, size)) {
    const std::size_t room = (size + granule - 1) / granule * granule;
    void* memory = source_allocate(sizeof(stack_image) + room, alignof(stack_image));
    if (!memory) return nullptr;
    free(spare);
    image = ::new (memory) stack_image(static_cast<std::uint32_t>(room));
  }
  image->top_ = top;
  image->size_ = static_cast<std::uint32_t>(size);
  unpoison_memory(from, size);  // the gaps between variables are copied, too
  std::memcpy(image->data(), from, size);
  return image;
}

void stack_image::restore() const noexcept {
  unpoison_memory(from(), size_);
  std::memcpy(from(), data(), size_);
}

void stack_image::free(stack_image* image) noexcept {
  if (image) source_release(image, image->footprint(), alignof(stack_image));
}

}}}  // namespace hocket::detail
