# One CMake target per layer, and per part of a layer. `layers.txt` states which layers and parts each may include; the same
# edges are linked here, so a target cannot reach a header that its layer must not see.

# The assertion level, the mode and the back end change the layout of types or inline code, so they are part of the
# layout symbol (base/detail/platform/layout.hpp): every user of a target receives them as compile definitions.
if(HOCKET_CHECKS STREQUAL "")
  if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    set(HOCKET_CHECKS_LEVEL 2)
  else()
    set(HOCKET_CHECKS_LEVEL 1)
  endif()
elseif(HOCKET_CHECKS MATCHES "^[012]$")
  set(HOCKET_CHECKS_LEVEL ${HOCKET_CHECKS})
else()
  message(FATAL_ERROR "HOCKET_CHECKS is '${HOCKET_CHECKS}': use 0 (none), 1 (misuse) or 2 (debug)")
endif()
set(HOCKET_DEFINITIONS HOCKET_CHECKS=${HOCKET_CHECKS_LEVEL} HOCKET_CONFORMING=$<BOOL:${HOCKET_CONFORMING}>
  HOCKET_BACKEND=${HOCKET_BACKEND_NUMBER} HOCKET_PORTABLE=$<BOOL:${HOCKET_PORTABLE}>
  HOCKET_LOCK_OWNERS=$<BOOL:${HOCKET_LOCK_OWNERS}>)

# hocket_layer(<name> [INTERFACE] [PART_OF <layer>] [SOURCES ...] [DEPENDS <layer>...]): a part has its headers in the folder
# of its layer.
function(hocket_layer name)
  cmake_parse_arguments(arg "INTERFACE" "PART_OF" "SOURCES;DEPENDS" ${ARGN})
  set(target hocket_${name})
  if(arg_INTERFACE)
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  else()
    add_library(${target} ${arg_SOURCES})
    set(scope PUBLIC)
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src")
    target_compile_definitions(${target} PRIVATE HOCKET_LIBRARY_UNIT)  # base/detail/platform/debugger_script.hpp
    set_target_properties(${target} PROPERTIES
      POSITION_INDEPENDENT_CODE ON INSTALL_RPATH "$ORIGIN" VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
      CXX_EXTENSIONS OFF)
    hocket_warnings(${target})
  endif()
  add_library(hocket::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} ${scope} cxx_std_20)
  target_compile_definitions(${target} ${scope} ${HOCKET_DEFINITIONS})
  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  list(TRANSFORM arg_DEPENDS PREPEND hocket::)
  if(arg_DEPENDS)
    target_link_libraries(${target} ${scope} ${arg_DEPENDS})
  endif()
  set_property(GLOBAL APPEND PROPERTY HOCKET_LAYER_TARGETS ${target})
  if(arg_PART_OF)
    set_property(GLOBAL APPEND PROPERTY HOCKET_PART_TARGETS ${target})
  endif()
endfunction()

# hocket_umbrella(<name> <layer or umbrella>...): several layers as one target.
function(hocket_umbrella name)
  set(target hocket_all_${name})
  add_library(${target} INTERFACE)
  add_library(hocket::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  list(TRANSFORM ARGN PREPEND hocket:: OUTPUT_VARIABLE linked)
  target_link_libraries(${target} INTERFACE ${linked})
  set_property(GLOBAL APPEND PROPERTY HOCKET_UMBRELLA_TARGETS ${target})
endfunction()

# Our own code is clean under these; a user's build never inherits them. g++ 12 finds an overlap in each `"text" +
# std::string()` at -O3 (GCC's bug 105651). A portable build has nothing that is not C++20.
function(hocket_warnings target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast>
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${HOCKET_PORTABLE}>>:-pedantic-errors>
    $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${HOCKET_WERROR}>>:-Werror>)
endfunction()
