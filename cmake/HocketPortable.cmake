# HOCKET_PORTABLE: C++20 and nothing else. No switch of stacks can be written so, hence no fibers; and what stands in a
# queue is a real coroutine each time, so that nothing depends on how this compiler lays out a frame. The definition
# HOCKET_PORTABLE is a part of the layout symbol (base/detail/platform/layout.hpp) and belongs to the installed package.
if(HOCKET_PORTABLE)
  if(HOCKET_BACKEND)
    message(FATAL_ERROR "HOCKET_PORTABLE is a build without fibers: take HOCKET_BACKEND=${HOCKET_BACKEND} out")
  endif()
  set(HOCKET_STACKFUL OFF)
  set(HOCKET_CONFORMING ON)
  set(CMAKE_CXX_EXTENSIONS OFF)
endif()
