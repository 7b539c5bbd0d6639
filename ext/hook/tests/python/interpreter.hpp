// CPython in the process: one interpreter; each fiber and thread that runs a script has its own thread state.
#pragma once
#define PY_SSIZE_T_CLEAN
#include <python3.11/Python.h>

#include <doctest/doctest.h>
#include <memory>
#include <string>

namespace python_tests {

struct release {
  void operator()(PyObject* object) const { Py_XDECREF(object); }
};
using reference = std::unique_ptr<PyObject, release>;

// Lives from its first use to the end of the process. Only running scripts hold the GIL.
class interpreter {
 public:
  static const interpreter& of_process() {
    static const interpreter instance;
    return instance;
  }
  PyInterpreterState* state() const { return state_; }
  // A function of the scripts. Null: a module that they import is not installed.
  PyObject* function(const char* name) const { return scripts_ ? PyDict_GetItemString(scripts_, name) : nullptr; }
  const std::string& missing() const { return missing_; }

 private:
  interpreter();

  PyInterpreterState* state_ = nullptr;
  PyObject* scripts_ = nullptr;
  std::string missing_;
};

// While it lives, its fiber or thread may use the interpreter: it has a thread state, and the GIL unless it waits.
class thread_state {
 public:
  thread_state() : own_(PyThreadState_New(interpreter::of_process().state())) { PyEval_RestoreThread(own_); }
  thread_state(const thread_state&) = delete;
  thread_state& operator=(const thread_state&) = delete;
  ~thread_state() {
    PyThreadState_Clear(own_);
    PyThreadState_DeleteCurrent();
  }

 private:
  PyThreadState* const own_;
};

// Whether some thread state holds the GIL. PyGILState_Check() would look at the thread's first state.
inline bool holds_gil() { return _PyThreadState_UncheckedGet() != nullptr; }

// The result of the scripts' function `name` for `number`, or its exception.
std::string call(const char* name, int number);

// Whether the scripts can run. A test says so by name if not.
inline bool has_modules() {
  const std::string& missing = interpreter::of_process().missing();
  if (!missing.empty()) MESSAGE("skipped: ", missing, ": see [clients] in tools/packages.txt");
  return missing.empty();
}

}  // namespace python_tests
