#include "interpreter.hpp"

#include "scripts.hpp"

#include <stdexcept>
#include <utility>

namespace python_tests {
namespace {

void initialize() {
  PyConfig config;
  PyConfig_InitIsolatedConfig(&config);
  PyStatus done = PyConfig_SetBytesString(&config, &config.home, HOCKET_TEST_PYTHON_HOME);
  if (!PyStatus_Exception(done)) done = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  if (PyStatus_Exception(done)) throw std::runtime_error(done.err_msg);
}

std::string text_of(PyObject* object) {
  const reference text{PyObject_Str(object)};
  const char* const bytes = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  if (!bytes) PyErr_Clear();
  return bytes ? bytes : "no text";
}

// Clears the current exception; returns its type and text.
std::string exception_text() {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  const reference held_type(type), held_value(value), held_trace(trace);
  return std::string(reinterpret_cast<PyTypeObject*>(type)->tp_name) + ": " + text_of(value);
}
std::string take_exception() {
  std::string text = exception_text();
  PyGC_Collect();  // an exception and its frames may be a cycle that holds a socket
  return text;
}

}  // namespace

interpreter::interpreter() {
  initialize();
  state_ = PyInterpreterState_Get();
  PyObject* const names = PyDict_New();
  PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins());
  const reference ran{PyRun_String(scripts, Py_file_input, names, names)};
  if (ran) scripts_ = names;
  else missing_ = take_exception();
  PyEval_SaveThread();
}

std::string call(const char* name, int number) {
  const thread_state own;
  const reference result{PyObject_CallFunction(interpreter::of_process().function(name), "i", number)};
  return result ? text_of(result.get()) : take_exception();
}

}  // namespace python_tests
