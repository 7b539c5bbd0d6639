// A search of a buffered reader as an operation, for sources whose reads are operations (stream): it may be an arm of a
// select, like a single read. Each attempt reads the available bytes and scans them. They stay in the buffer, also if
// another arm wins. For other sources the reader uses tasks.
#pragma once
#include <hocket/io/byte_stream.hpp>
#include <hocket/io/detail/message_search.hpp>
#include <hocket/primitive.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The arm of an operation without options of its own.
template <class Operation>
struct arm_in;
template <class Op>
  requires(!std::same_as<arm_of_t<Op>, Op>)
struct arm_in<operation<Op>> {
  using type = arm_of_t<Op>;
};

template <class S>
concept source_of_arms = lending_source<S> && requires(S& source, mutable_buffer buffer) {
  typename arm_in<decltype(source.read_borrowed())>::type;
  typename arm_in<decltype(source.read_idle())>::type;
  typename arm_in<decltype(source.read_some(buffer))>::type;
};

template <class S, class Search>
class message_operation {
  using lending_arm = typename arm_in<decltype(std::declval<S&>().read_borrowed())>::type;
  using reading_arm = typename arm_in<decltype(std::declval<S&>().read_some(mutable_buffer()))>::type;

 public:
  using value_type = typename Search::value_type;

  message_operation(S& source, read_buffer& buffer, const Search& search) noexcept
      : source_(&source),
        buffer_(&buffer),
        search_(search),
        lending_(source.read_borrowed().unwrap()),
        reading_(source.read_some(mutable_buffer()).unwrap()) {}

  bool try_now() noexcept {
    while (!search_.scan(*buffer_)) {
      prepare();
      if (spend_budget_between<price_of<lending_arm>>()) return false;
      if (!(lends_ != 0 ? lending_.try_now() : reading_.try_now())) return false;
      if (!has_more()) break;
    }
    return true;
  }
  void begin(suspension& wait, waiter& entry) noexcept {
    lending_.sole = in_group_ == 0;
    if (lends_ != 0) lending_.begin(wait, entry);
    else reading_.begin(wait, entry);
  }
  bool try_granted() noexcept {
    if (!(lends_ != 0 ? lending_.try_granted() : reading_.try_granted())) return false;
    return !has_more() || try_now();
  }
  result<value_type> take() { return search_.take(*buffer_); }
  void wait_failed() noexcept {
    if (lends_ != 0) lending_.wait_failed();
    else reading_.wait_failed();
  }
  void resumed() noexcept {
    lending_.resumed();
    reading_.resumed();
  }

 protected:
  void set_in_group() noexcept { in_group_ = 1; }

 private:
  // Prepares the next read. Its only error is a lack of memory. Then it reads into an empty buffer, without a call.
  void prepare() noexcept try {
    const bool is_first = buffer_->unread().empty() && search_.min_size() <= lending::most_bytes;
    lends_ = is_first;
    if (is_first) {
      buffer_->clear();
      if constexpr (Search::is_idle) lending_ = lending_arm(source_->read_idle().unwrap());
      else lending_ = lending_arm(source_->read_borrowed().unwrap());
    } else {
      reading_ = reading_arm(source_->read_some(buffer_->room(search_.min_size(), search_.max_size())).unwrap());
    }
  } catch (const std::bad_alloc&) {
    search_.fail_for_memory();
    reading_ = reading_arm(source_->read_some(mutable_buffer()).unwrap());
  }

  // After a completed read. False: it was the last one.
  bool has_more() noexcept {
    if (lends_ != 0)
      return absorb(lending_.take(), [&](borrowed_bytes&& bytes) { return buffer_->hold(std::move(bytes)); });
    return absorb(reading_.take(), [&](std::size_t size) { return buffer_->grow(size); });
  }
  template <class T, class Append>
  bool absorb(result<T>&& read, Append&& append) noexcept {
    if (!read) search_.fail(read.error());
    else if (!append(*std::move(read))) search_.end_source(*buffer_);
    else return true;
    return false;
  }

  S* source_;
  read_buffer* buffer_;
  Search search_;
  std::size_t lends_ = 0;     // not 0: the read is lending_, else reading_
  std::size_t in_group_ = 0;  // of a select, or of other tasks
  lending_arm lending_;
  reading_arm reading_;
};

// A search that waits beside others.
template <class S, class Search>
struct message_arm : message_operation<S, Search> {
  message_arm(const message_operation<S, Search>& alone) noexcept : message_operation<S, Search>(alone) {
    this->set_in_group();
  }
};

template <class S, class Search>
struct arm_of<message_operation<S, Search>> {
  using type = message_arm<S, Search>;
};

}}}  // namespace hocket::detail
