// What of a channel does not depend on the type of its items: those who wait at it, and its end. The essay is in
// sync/channel.hpp.
#pragma once
#include <hocket/base/error.hpp>
#include <hocket/core/strength.hpp>
#include <hocket/core/suspension.hpp>

namespace hocket::inline HOCKET_ABI::detail {

// One that sends or receives, in its operation; waiter::resource points to it while it waits. Guarded by the mutex of
// the channel while its waiter is in line; its owner's otherwise.
class channel_party {
 public:
  // A sender that waits has its item in its storage, a receiver that is done.
  enum class phase : std::uint8_t { begun, waits, done };

  explicit channel_party(bool is_receiver) noexcept : receives(is_receiver) {}

  void fail(std::error_code why) noexcept {
    error_ = why.value();
    category_ = &why.category();
  }
  bool failed() const noexcept { return category_ != nullptr; }
  std::error_code error() const noexcept { return {error_, *category_}; }

  static channel_party& of(waiter& entry) noexcept { return *static_cast<channel_party*>(entry.resource); }

  bool receives;
  phase state = phase::begun;
  std::uint8_t no_padding = 0;  // see core/op_flag.hpp

 private:
  friend class granted_waits;
  settlement how_ = settlement::lost;  // of a grant that is not yet told
  int error_ = 0;
  waiter* next_ = nullptr;  // in a chain of such grants
  const std::error_category* category_ = nullptr;
};

// Waits that were granted under the mutex, to be told when it is free.
class granted_waits {
 public:
  granted_waits() noexcept = default;
  granted_waits(const granted_waits&) = delete;
  granted_waits& operator=(const granted_waits&) = delete;

  void add(waiter& entry, settlement how) noexcept {
    channel_party& party = channel_party::of(entry);
    party.how_ = how;
    party.next_ = nullptr;
    (last_ ? channel_party::of(*last_).next_ : first_) = &entry;
    last_ = &entry;
  }
  void tell() noexcept {
    if (first_) [[unlikely]]
      tell_all();
  }

 private:
  // What was told may be gone.
  [[gnu::noinline]] void tell_all() noexcept {
    for (waiter* entry = first_; entry;) {
      const channel_party& party = channel_party::of(*entry);
      waiter* const next = party.next_;
      entry->settled(party.how_);
      entry = next;
    }
  }
  waiter* first_ = nullptr;
  waiter* last_ = nullptr;
};

template <class Strength>
class channel_core : public wait_source {
 public:
  channel_core(const channel_core&) = delete;
  channel_core& operator=(const channel_core&) = delete;

 protected:
  channel_core() noexcept = default;
  // Whoever is told was told after the mutex was free, so nobody is about to leave it.
  ~channel_core() {
    debug_expects(senders_.empty() && receivers_.empty(), "a channel was destroyed while somebody waits at it",
                  "close() it, and let it outlive all who use it");
  }

  // Under the mutex: grants the first of the line that can be granted, and takes it out. Null: nobody can.
  static waiter* grant_first(list<waiter>& line, granted_waits& granted) noexcept;

  // Under the mutex: the same together with `wait`, which is about to get in line at the other side.
  waiter* meet(list<waiter>& line, suspension& wait, waiter& entry, granted_waits& granted) noexcept;

  // False: it was closed before.
  bool close(std::error_code why) noexcept;

  bool detach(waiter& entry) noexcept override;

  mutable typename Strength::mutex mutex_;
  // Guarded by mutex_:
  list<waiter> senders_;
  list<waiter> receivers_;
  bool closed_ = false;
  std::error_code why_;

 private:
  const char* what() const noexcept override { return "a channel"; }
  void fail_all(list<waiter>& line, granted_waits& granted) noexcept;
};

extern template class channel_core<strength::shared>;
extern template class channel_core<strength::unsync>;

}  // namespace hocket::inline HOCKET_ABI::detail
