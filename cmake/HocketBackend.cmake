# The back end of the machine switch (include/hocket/context/seam/switch.hpp). It gives
#
#   HOCKET_BACKEND_NUMBER    what base/seam/platform/config.hpp is told: 0 native, 1 ucontext, 2 thread
#   HOCKET_SWITCH_FOLDER     where it lies below context/: that name (os_thread for thread), or the architecture
#
# Only an architecture with assembly of its own has the stubs behind a fiber's handle, too: elsewhere conforming mode is
# implied.
set(HOCKET_ARCHITECTURE "")
if(CMAKE_SIZEOF_VOID_P EQUAL 8)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    set(HOCKET_ARCHITECTURE x86_64)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    set(HOCKET_ARCHITECTURE aarch64)
  elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "riscv64")
    set(HOCKET_ARCHITECTURE riscv64)
  endif()
endif()

set_property(CACHE HOCKET_BACKEND PROPERTY STRINGS "" ucontext thread)
set(known_backends "" ucontext thread)
list(FIND known_backends "${HOCKET_BACKEND}" HOCKET_BACKEND_NUMBER)
if(HOCKET_BACKEND_NUMBER LESS 0)
  message(FATAL_ERROR "HOCKET_BACKEND is '${HOCKET_BACKEND}': use ucontext, thread, or nothing for the architecture's own")
endif()

if(HOCKET_BACKEND)
  string(REGEX REPLACE "^thread$" os_thread HOCKET_SWITCH_FOLDER ${HOCKET_BACKEND})
else()
  set(HOCKET_SWITCH_FOLDER "${HOCKET_ARCHITECTURE}")
endif()
if(HOCKET_STACKFUL AND NOT HOCKET_SWITCH_FOLDER)
  message(FATAL_ERROR "no machine switch for ${CMAKE_SYSTEM_PROCESSOR}: configure with -DHOCKET_BACKEND=ucontext or "
    "thread (slow, but right), or with -DHOCKET_STACKFUL=OFF (tasks and generators only)")
endif()
if(HOCKET_STACKFUL AND NOT HOCKET_ARCHITECTURE AND NOT HOCKET_CONFORMING)
  message(STATUS "hocket: HOCKET_CONFORMING is implied on ${CMAKE_SYSTEM_PROCESSOR}")
  set(HOCKET_CONFORMING ON)
endif()
