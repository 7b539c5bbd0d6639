#include <hocket/base/detail/mutex.hpp>
#include <hocket/core/detail/dump_section.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
namespace {

struct section_list {
  primitive::thread_mutex mutex;
  list<dump_section> sections;  // guarded by the mutex
};

// Never destroyed: a pool may be a static object.
section_list& all_sections() noexcept {
  alignas(section_list) static unsigned char memory[sizeof(section_list)];
  static section_list& all = *::new (static_cast<void*>(memory)) section_list;
  return all;
}

}  // namespace

void list_section(dump_section& section) noexcept {
  section_list& all = all_sections();
  const primitive::locked guard(all.mutex);
  all.sections.push_back(section);
}

void unlist_section(dump_section& section) noexcept {
  const primitive::locked guard(all_sections().mutex);
  list<dump_section>::erase(section);
}

void write_dump_sections(text_writer& out, const executor& home) noexcept {
  section_list& all = all_sections();
  if (!all.mutex.try_lock()) return;
  for (dump_section& section : all.sections)
    if (&section.home() == &home) section.write(out);
  all.mutex.unlock();
}

}}}  // namespace hocket::detail
