// Hooks that are never called are a mistake.
// expect: have on_suspend\(completion&\), on_resume\(completion&\), or both
#include <hocket/sync/completion.hpp>

struct counting {
  int waits = 0;
#ifdef SHOULD_FAIL
  void on_suspended(auto&) { ++waits; }
#else
  void on_suspend(auto&) { ++waits; }
#endif
};
inline bool possible(hocket::completion<int, counting>& answer) { return answer.wait().unwrap().try_now(); }
