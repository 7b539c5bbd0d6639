#pragma once
// CPython's psycopg2, in a program that embeds Python. One connection at a time holds the interpreter's lock; psycopg2
// releases it while libpq waits. To Python each connection is a thread.
#include <Python.h>

#include "clients.hpp"

namespace lab {

class client {
 public:
  explicit client(const client_workload& what)
      : waits_(what.waits()), thread_(PyThreadState_New(PyInterpreterState_Main())) {
    const lock in(thread_);
    connection_ = PyObject_CallFunction(function("connect"), nullptr);
    if (!connection_) complain();
  }
  client(const client&) = delete;
  client& operator=(const client&) = delete;
  ~client() {
    PyEval_RestoreThread(thread_);
    Py_DECREF(connection_);
    PyThreadState_Clear(thread_);
    PyThreadState_DeleteCurrent();
  }

  static void begin() {
    Py_InitializeEx(0);
    if (PyRun_SimpleString(program) != 0) fail("psycopg2 is not there for the Python that this program is linked with");
    PyEval_SaveThread();
  }

  void ask(std::size_t number) {
    const lock in(thread_);
    PyObject* const right =
        PyObject_CallFunction(function("ask"), "Oin", connection_, int{waits_}, static_cast<Py_ssize_t>(number));
    if (!right) complain();
    if (right != Py_True) fail("a wrong answer of PostgreSQL");
    Py_DECREF(right);
  }

 private:
  class lock {
   public:
    explicit lock(PyThreadState* thread) { PyEval_RestoreThread(thread); }
    lock(const lock&) = delete;
    lock& operator=(const lock&) = delete;
    ~lock() { PyEval_SaveThread(); }
  };

  static constexpr const char* program = R"python(
import os, psycopg2
def connect():
    made = psycopg2.connect(os.environ["HOCKET_POSTGRES"])
    made.autocommit = True
    return made
def ask(connection, waits, number):
    with connection.cursor() as cursor:
        cursor.execute("select %s::int from pg_sleep(0.1)" if waits else "select %s::int", (number,))
        return cursor.fetchone() == (number,)
)python";
  static PyObject* function(const char* name) {
    return PyDict_GetItemString(PyModule_GetDict(PyImport_AddModule("__main__")), name);
  }
  [[noreturn]] static void complain() {
    PyErr_Print();
    fail("Python has failed");
  }

  const bool waits_;
  PyThreadState* const thread_;
  PyObject* connection_ = nullptr;
};

}  // namespace lab
