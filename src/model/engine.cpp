#include "engine.hpp"

#include <hocket/base/fatal.hpp>

#include <cxxabi.h>
#include <exception>

namespace hocket { inline namespace HOCKET_HOST_ABI { namespace model {
namespace {

std::terminate_handler outer_terminate = nullptr;

[[noreturn]] void on_terminate() {
  if (auto* running = engine::current()) running->terminating();
  if (outer_terminate) outer_terminate();
  std::abort();
}

}  // namespace

engine::engine(const options& bounds, detail::test body) : bounds_(bounds), body_(body) {
  if (current_)
    hocket::detail::fatal("model: an exploration inside of another", "call explore() after the other one has returned");
  outer_terminate = std::set_terminate(on_terminate);
}

engine::~engine() { std::set_terminate(outer_terminate); }

void engine::reset(const limits& allowed) {
  execution_ = ++last_execution_;
  allowed_ = allowed;
  used_ = {0, 0, 0};
  memory_.clear();
  trace_.clear();
  count_ = joined_ = 1;
  running_ = body_thread;
  next_ = no_thread;
  fresh_ = abandoning_ = false;
  steps_ = changes_ = 0;
  kind_ = bug::none;
  message_.clear();
  auto& body = threads_[body_thread];
  body = model_thread{};
  body.name = "body";
  choices_.rewind();
}

void engine::execute(const limits& allowed) {
  struct scope {
    explicit scope(engine& self) { current_ = &self; }
    ~scope() { current_ = nullptr; }
  };
  reset(allowed);
  scope running(*this);
  try {
    execution run;
    body_.call(body_.object, run);
  } catch (const abandoned&) {
  } catch (...) {
    discard_threads();
    throw;
  }
  if (joined_ != count_ && kind_ == bug::none) {
    hocket::detail::fatal("model: the body ended with threads that were never run",
                          "call run.join() after the last run.thread()");
  }
  discard_threads();
  if (choices_.unused() && kind_ == bug::none) {
    record_bug(bug::nondeterminism, "the body ended before all its earlier decisions were met again");
  }
}

void engine::declare(const char* name, std::unique_ptr<detail::thread_body> work) {
  if (count_ == max_threads) hocket::detail::fatal("model: more than 15 threads", "a model test needs two to four");
  auto& declared = threads_[count_];
  auto stack = std::move(declared.stack);
  declared = model_thread{};
  declared.stack = std::move(stack);
  declared.name = name;
  declared.work = std::move(work);
  ++count_;
}

void engine::join() {
  if (running_ != body_thread) hocket::detail::fatal("model: join() in a thread of the test", "call it in the body");
  if (!abandoning_) {
    memory_.advance(body_thread);
    for (auto t = joined_; t < count_; ++t) memory_.fork(body_thread, t);
    memory_.advance(body_thread);
    run_loop();
  }
  if (abandoning_) {
    unwind_threads();
    unwind_step();
  }
  for (; joined_ < count_; ++joined_) memory_.join(body_thread, joined_);
}

void engine::run_loop() {
  while (!abandoning_) {
    auto thread = std::exchange(next_, no_thread);
    if (thread == no_thread) thread = pick();
    if (thread == no_thread) return;
    run(thread);
  }
}

void engine::run(std::uint32_t thread) {
  auto& chosen = threads_[thread];
  if (!chosen.stack) chosen.stack = std::make_unique<strand>(bounds_.stack_bytes);
  if (!std::exchange(chosen.started, true)) chosen.stack->assign(&job, this);
  running_ = thread;
  chosen.stack->enter();
  running_ = body_thread;
  if (chosen.stack->lost()) {
    chosen.stack.reset();
    chosen.is = state::finished;
  }
}

void engine::job(void* self) {
  auto& it = *static_cast<engine*>(self);
  it.run_work(it.self());
}

void engine::run_work(model_thread& thread) {
  try {
    thread.work->run();
  } catch (const abandoned&) {
  } catch (const std::exception& e) {
    escaped(e.what());
  } catch (...) {
    escaped("of a type that is not derived from std::exception");
  }
  thread.is = state::finished;
}

void engine::escaped(const char* message) {
  add({.shape = form::thread, .verb = "ends by an exception"});
  record_bug(bug::exception, std::string("an exception left thread ") + self().name + ": " + message);
}

void engine::unwind_threads() {
  for (auto t = joined_; t < count_; ++t) {
    if (threads_[t].started && threads_[t].is != state::finished) run(t);
    threads_[t].is = state::finished;
  }
  running_ = body_thread;
}

void engine::discard_threads() noexcept {
  for (std::uint32_t t = 1; t < count_; ++t) threads_[t].work.reset();
}

void engine::record_bug(bug kind, std::string message) {
  if (abandoning_) return;
  abandoning_ = true;
  kind_ = kind;
  message_ = std::move(message);
  path_ = choices_.path();
}

void engine::fail(bug kind, std::string message) {
  if (abandoning_) return;
  record_bug(kind, std::move(message));
  unwind_step();
}

// An operation while the execution is being abandoned: the first one throws, the others act plainly.
void engine::unwind_step() {
  auto& thread = self();
  if (!std::exchange(thread.unwinding, true)) throw abandoned{};
  if (++thread.unwound > unwinding_steps) give_up();
}

// A thread that cannot be unwound.
void engine::give_up() {
  if (running_ != body_thread) self().stack->abandon_here();
  hocket::detail::fatal(
      ("model: a bug was found, but the test's body cannot be unwound: " + message_).c_str(),
      "let the body, which calls this operation itself, not call it in a noexcept function or a destructor");
}

void engine::terminating() {
  if (!self().unwinding) return;
  // The runtime has caught the exception for the handler, which will not return: let it go.
  if (std::current_exception()) abi::__cxa_end_catch();
  give_up();
}

void engine::describe(report& out) const {
  std::vector<std::string> names;
  for (std::uint32_t t = 0; t < count_; ++t) names.emplace_back(threads_[t].name);
  out.kind = kind_;
  out.message = message_;
  out.interleaving = render(trace_, memory_, names);
  out.replay = kind_ == bug::none ? choices_.path() : path_;
}

}}}  // namespace hocket::model
