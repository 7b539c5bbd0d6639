// Boost.Context's machine switch alone: jump_fcontext, on which its fiber API is made.
#include <boost/context/detail/fcontext.hpp>

#include "routine.hpp"

namespace {

namespace ctx = boost::context::detail;

void other(ctx::transfer_t from) {
  auto* count = static_cast<std::uint64_t*>(from.data);
  for (;;) {
    ++*count;
    from = ctx::jump_fcontext(from.fctx, nullptr);
  }
}

}  // namespace

int main(int argc, char** argv) {
  lab::request r = lab::parse(argc, argv);
  std::uint64_t count = 0;
  auto stack = std::make_unique<std::byte[]>(r.stack);
  ctx::fcontext_t at = ctx::make_fcontext(stack.get() + r.stack, r.stack, &other);
  return lab::run_routine(LAB_SYSTEM, r, count, [&](std::size_t k) {
    for (; k; --k) at = ctx::jump_fcontext(at, &count).fctx;
  });
}
