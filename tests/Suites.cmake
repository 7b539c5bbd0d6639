# The suites of primitives and coroutines (suites/*.hpp), each instantiated for the kinds of a test program. They take
# longest to compile, and what they instantiate is much the same. So the sources are generated here, a few files for each
# program: a file for each suite would take the compiler a third longer in all.
set(HOCKET_SUITES_OF_LOCKS mutex shared_mutex event select stopped completion oneshot semaphore pool sleep within)
set(HOCKET_SUITES_OF_MEETINGS latch once barrier condition monitor watch broadcast broadcast_batches
  every_step_channels every_step_locks every_step_meetings)
set(HOCKET_SUITES_OF_CHANNELS channel channel_choices spsc_channel spsc_channel_choices)
set(HOCKET_SUITES_OF_COROUTINES context_local eager_task scope shared_task then when_all when_any)
set(HOCKET_PRIMITIVES LOCKS MEETINGS CHANNELS)

# hocket_suites(<test> <folder> GROUPS <group>... [ALSO <suite>...])
# Adds to the program <test> every suite of the groups (and those named) for the kinds of unit/<folder>/kinds.hpp.
function(hocket_suites test folder)
  cmake_parse_arguments(arg "" "" "GROUPS;ALSO" ${ARGN})
  foreach(group IN LISTS arg_GROUPS)
    set(suites ${HOCKET_SUITES_OF_${group}} ${arg_ALSO})
    set(arg_ALSO "")
    set(lines "#include \"unit/${folder}/kinds.hpp\"\n")
    foreach(suite IN LISTS suites)
      string(APPEND lines "#include \"suites/${suite}.hpp\"\n")
    endforeach()
    string(TOLOWER "${group}.cpp" file)
    set(file "${CMAKE_CURRENT_BINARY_DIR}/suites/${test}/${file}")
    file(CONFIGURE OUTPUT "${file}" CONTENT "${lines}" @ONLY)
    target_sources(${test} PRIVATE "${file}")
  endforeach()
endfunction()
