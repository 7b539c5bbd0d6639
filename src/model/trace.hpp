// The interleaving: what happened in the present execution, kept as plain records and only turned into text when it is
// reported.
//
//     1 producer   data = 1                                              mp_test.cpp:14
//     2 producer   ready.store(1, relaxed)                               mp_test.cpp:15
//     3 consumer   ready.load(acquire) = 1                               mp_test.cpp:18
//     4 consumer   data is read                  <- bug                  mp_test.cpp:19
//
// Nothing in it depends on addresses: unnamed objects are numbered in the order of their construction, and pointers in
// the order in which they appear.
#pragma once
#include "memory.hpp"
#include <string>
#include <vector>

namespace hocket { inline namespace HOCKET_HOST_ABI { namespace model {

// The form of a step; `verb` completes it.
enum class form : std::uint8_t {
  read,      // x.verb(order) = value
  write,     // x.verb(value, order)
  update,    // x.verb(value, order) = before
  exchange,  // x.verb(before -> value, order) succeeds | fails, reads ...
  fence,     // fence(order)
  object,    // x verb
  wake,      // x.verb wakes <names>; value has a bit per thread, and x is `nowhere` if it was destroyed
  thread     // verb
};

inline constexpr std::uint32_t nowhere = ~std::uint32_t{0};

struct step {
  form shape;
  std::uint8_t thread = 0;  // set by trace's owner
  bool stale = false;       // a newer store existed
  bool spurious = false;
  bool succeeded = true;  // of an exchange
  std::memory_order order = std::memory_order_seq_cst;
  std::uint32_t location = 0;
  const char* verb = "";
  std::uint64_t value = 0, before = 0;
  site where = {};
};

class trace {
 public:
  void clear() noexcept { steps_.clear(); }
  // The number that the next step will have; the first is 1.
  std::uint32_t next() const noexcept { return static_cast<std::uint32_t>(steps_.size()) + 1; }
  void add(const step& done) { steps_.push_back(done); }
  const std::vector<step>& steps() const noexcept { return steps_; }

 private:
  std::vector<step> steps_;
};

// Name of an object in messages: the user's, or what it is and its number.
std::string name_of(const memory& objects, std::uint32_t id);

const char* order_name(std::memory_order order) noexcept;
std::string short_name(const site& where);  // file:line, without folders

// `names` are the threads'.
std::string render(const trace& done, const memory& objects, const std::vector<std::string>& names);

}}}  // namespace hocket::model
