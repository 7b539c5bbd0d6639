# The package: headers and libraries of the layers that were built, a CMake package (its components are the layers and their
# parts), pkg-config files, the licence. Everything can be moved after installation: no absolute path is written.
include(CMakePackageConfigHelpers)

get_property(HOCKET_LAYER_TARGETS GLOBAL PROPERTY HOCKET_LAYER_TARGETS)
set(HOCKET_COMPONENTS ${HOCKET_LAYER_TARGETS})
list(TRANSFORM HOCKET_COMPONENTS REPLACE "^hocket_" "")
get_property(parts GLOBAL PROPERTY HOCKET_PART_TARGETS)
list(TRANSFORM parts REPLACE "^hocket_" "")
set(layers ${HOCKET_COMPONENTS})
list(REMOVE_ITEM layers ${parts})
get_property(HOCKET_UMBRELLA_TARGETS GLOBAL PROPERTY HOCKET_UMBRELLA_TARGETS)
foreach(target IN LISTS HOCKET_UMBRELLA_TARGETS)
  get_target_property(name ${target} EXPORT_NAME)
  list(APPEND HOCKET_COMPONENTS ${name})
endforeach()

foreach(layer IN LISTS layers)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/hocket/${layer}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/hocket"
    FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
endforeach()
file(GLOB umbrellas CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/hocket/*.hpp")
if(NOT HOCKET_STACKFUL)
  list(FILTER umbrellas EXCLUDE REGEX "/hocket[.]hpp$")
endif()
install(FILES ${umbrellas} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/hocket")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(PROGRAMS "${PROJECT_SOURCE_DIR}/tools/compiler_check/hocket-compiler-check" DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/tools/compiler_check/patterns/" DESTINATION share/hocket/compiler_check)

# The commands for gdb. A program names the script beside the header; a shared library has a copy beside it, under the library's name.
set(debugger_script "base/detail/platform/debugger_script.hpp.py")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/tools/gdb/" DESTINATION share/hocket/gdb FILES_MATCHING PATTERN "*.py")
install(FILES "${PROJECT_SOURCE_DIR}/include/hocket/${debugger_script}"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/hocket/base/detail/platform")
if(BUILD_SHARED_LIBS)
  install(FILES "${PROJECT_SOURCE_DIR}/include/hocket/${debugger_script}" DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    RENAME "$<TARGET_FILE_NAME:hocket_base>-gdb.py")
endif()

# An extension needs libraries that the layers do not need, so only a project that asks for the extension looks for them.
if(TARGET hocket_asio)
  list(APPEND HOCKET_COMPONENTS asio)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/ext/asio/include/hocket/asio" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/hocket"
    FILES_MATCHING PATTERN "*.hpp")
endif()
foreach(extension IN ITEMS gc gc_boehm hook pg redis)
  if(TARGET hocket_${extension})
    list(APPEND HOCKET_COMPONENTS ${extension})
    string(REPLACE gc_boehm gc/boehm folder ${extension})
    string(REGEX REPLACE "_.*" "" headers ${extension})
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/ext/${folder}/include/hocket/${headers}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/hocket"
      FILES_MATCHING PATTERN "*.hpp")
  endif()
endforeach()

if(TARGET hocket_hook)
  install(FILES "${PROJECT_SOURCE_DIR}/ext/hook/hooked.list" DESTINATION share/hocket)
endif()

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/hocket")
install(TARGETS ${HOCKET_LAYER_TARGETS} ${HOCKET_UMBRELLA_TARGETS} EXPORT hocketTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(EXPORT hocketTargets NAMESPACE hocket:: DESTINATION "${package_dir}")
if(TARGET hocket_asio)
  install(TARGETS hocket_asio EXPORT hocketAsioTargets)
  install(EXPORT hocketAsioTargets NAMESPACE hocket:: DESTINATION "${package_dir}")
endif()
foreach(extension IN ITEMS gc gc_boehm hook pg redis)
  if(TARGET hocket_${extension})
    set(parts hocket_${extension})
    if(TARGET hocket_${extension}_calls)
      list(APPEND parts hocket_${extension}_calls)
    endif()
    install(TARGETS ${parts} EXPORT hocket_${extension}_targets
      LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
    install(EXPORT hocket_${extension}_targets NAMESPACE hocket:: DESTINATION "${package_dir}")
  endif()
endforeach()
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/hocketConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/hocketConfig.cmake" INSTALL_DESTINATION "${package_dir}")
# Before 1.0 a minor version may change any interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/hocketConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/hocketConfig.cmake" "${PROJECT_BINARY_DIR}/hocketConfigVersion.cmake"
  DESTINATION "${package_dir}")

# The depth of the file's directory below the prefix is the number of steps back up, for any libdir.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(HOCKET_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
  set(HOCKET_PC_LIBDIR "${CMAKE_INSTALL_LIBDIR}")
else()
  file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(HOCKET_PC_PREFIX "\${pcfiledir}/${up}")
  set(HOCKET_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(HOCKET_PC_INCLUDEDIR "${CMAKE_INSTALL_INCLUDEDIR}")
else()
  set(HOCKET_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()

# hocket_pkg_config(<name> <description> [LAYERS <layer>...] [LIBS <flag>...] [REQUIRES <pc name>]): layers in link order,
# users first.
function(hocket_pkg_config HOCKET_PC_NAME HOCKET_PC_DESCRIPTION)
  cmake_parse_arguments(arg "" "REQUIRES" "LAYERS;LIBS" ${ARGN})
  set(HOCKET_PC_LIBS "")
  foreach(layer IN LISTS arg_LAYERS)
    get_target_property(type hocket_${layer} TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
      string(APPEND HOCKET_PC_LIBS " -lhocket_${layer}")
    endif()
  endforeach()
  if("base" IN_LIST arg_LAYERS AND NOT HOCKET_ATOMIC_BYTES_INLINE)
    string(APPEND HOCKET_PC_LIBS " -latomic")
  endif()
  list(JOIN arg_LIBS " " flags)
  string(APPEND HOCKET_PC_LIBS " ${flags}")
  set(HOCKET_PC_REQUIRES "${arg_REQUIRES}")
  list(TRANSFORM HOCKET_DEFINITIONS PREPEND "-D" OUTPUT_VARIABLE HOCKET_PC_DEFINITIONS)
  list(JOIN HOCKET_PC_DEFINITIONS " " HOCKET_PC_DEFINITIONS)
  set(template "${PROJECT_BINARY_DIR}/${HOCKET_PC_NAME}.pc.in")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/hocket.pc.in" "${template}" @ONLY)
  file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/${HOCKET_PC_NAME}.pc" INPUT "${template}")
  install(FILES "${PROJECT_BINARY_DIR}/${HOCKET_PC_NAME}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()

set(HOCKET_CORE_PARTS core_spawn core_wait core_context core_thread)
set(HOCKET_STACKLESS_LAYERS http pool manager net io runtime sync coro time)
hocket_pkg_config(hocket-stackless "coroutines without stacks: tasks, generators, loop and primitives"
  LAYERS ${HOCKET_STACKLESS_LAYERS} ${HOCKET_CORE_PARTS} base)
hocket_pkg_config(hocket-io-memory "networks in memory, to test protocols from a seed" LAYERS io_memory REQUIRES hocket-stackless)
if(HOCKET_STACKFUL)
  hocket_pkg_config(hocket "coroutines with and without stacks on one scheduler"
    LAYERS ${HOCKET_STACKLESS_LAYERS} fiber stack context ${HOCKET_CORE_PARTS} base)
  hocket_pkg_config(hocket-fiber "the same as hocket" REQUIRES hocket)
  hocket_pkg_config(hocket-model "model checker for code on hocket's atomics" LAYERS model REQUIRES hocket)
else()
  hocket_pkg_config(hocket "the same as hocket-stackless" REQUIRES hocket-stackless)
endif()

# Extensions: each is a module of its own, with what it needs.
if(TARGET hocket_asio)
  hocket_pkg_config(hocket-asio "hocket beside Boost.Asio" LIBS -pthread REQUIRES hocket)
endif()
if(TARGET hocket_gc)
  hocket_pkg_config(hocket-gc "hocket for runtimes with a garbage collector" LAYERS gc REQUIRES hocket)
endif()
if(TARGET hocket_gc_boehm)
  hocket_pkg_config(hocket-gc-boehm "hocket beside libgc" LAYERS gc_boehm LIBS -lgc -ldl REQUIRES hocket-gc)
endif()
if(TARGET hocket_hook)
  hocket_pkg_config(hocket-hook "blocking calls of libc that park the fiber"
    LIBS -Wl,--whole-archive -lhocket_hook_calls -Wl,--no-whole-archive -Wl,--dynamic-list=\${prefix}/share/hocket/hooked.list -ldl
    REQUIRES hocket)
endif()
if(TARGET hocket_pg)
  hocket_pkg_config(hocket-pg "PostgreSQL by libpq" LAYERS pg LIBS -lpq REQUIRES hocket)
endif()
if(TARGET hocket_redis)
  hocket_pkg_config(hocket-redis "Redis by hiredis" LAYERS redis LIBS -lhiredis REQUIRES hocket)
endif()
