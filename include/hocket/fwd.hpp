// Forward declarations of the types that programs name in their own headers.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

namespace hocket { inline namespace HOCKET_ABI {

template <class T>
class result;
class cancelled;

class blocking_pool;
class context;
class executor;
class loop;
class runtime;
class spawn_batch;
class stop_source;

template <class T>
class task;
template <class T>
class eager_task;
template <class T>
class shared_task;
template <class Reference, class Value>
class generator;
template <class T>
class async_generator;

template <class Signature>
class coroutine;
class stack_pool;

}}  // namespace hocket
