# One line for a compiler that has no coroutines, before it says the same in a thousand. (A build by hand gets it from
# base/seam/platform/config.hpp.)
include(CheckCXXSourceCompiles)
function(hocket_check_coroutines)
  set(CMAKE_CXX_STANDARD 20)
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
  check_cxx_source_compiles("#if !defined(__cpp_impl_coroutine)
    #error no coroutines
    #endif" HOCKET_HAS_COROUTINES)
endfunction()
hocket_check_coroutines()
if(NOT HOCKET_HAS_COROUTINES)
  message(FATAL_ERROR "hocket needs C++20 coroutines, which ${CMAKE_CXX_COMPILER} lacks: "
    "use g++ 11 or later, or clang 15 or later (-DCMAKE_CXX_COMPILER=...)")
endif()
