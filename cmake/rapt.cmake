# House rules of the build: compiler flags, and one function a folder uses to declare its library.

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # Paths relative to the tree, so that a copy of it (tools/check_removable) finds the same objects.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()

set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1 -fno-omit-frame-pointer")

# docs/NUMERICS.md: the compiler may never fuse or reorder floating-point operations by itself.
add_compile_options(-ffp-contract=off -fno-fast-math)
add_compile_options(-Wall -Wextra)
if(RAPT_FUZZ)
  # Fuzzers are built by clang, whose warnings are not those that the tree is held to.
  add_compile_options(-fsanitize=fuzzer-no-link)
else()
  add_compile_options(-Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms of gcc 12: on "literal" + std::string (its bug 105329), and on the value of an empty
  # std::optional or std::variant, which it cannot see is never read.
  add_compile_options(-Wno-restrict -Wno-maybe-uninitialized)
endif()
if(RAPT_SANITIZE)
  list(JOIN RAPT_SANITIZE "," RAPT_SANITIZE_LIST)
  add_compile_options(-fsanitize=${RAPT_SANITIZE_LIST} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${RAPT_SANITIZE_LIST})
endif()
if("thread" IN_LIST RAPT_SANITIZE)
  # gcc warns that TSan does not model std::atomic_thread_fence, which Asio uses.
  add_compile_options(-Wno-tsan)
endif()

# Reads src/LAYERS into RAPT_MAY_INCLUDE_<folder>.
file(STRINGS ${CMAKE_SOURCE_DIR}/src/LAYERS rapt_layer_lines REGEX "^[0-9]")
foreach(line IN LISTS rapt_layer_lines)
  string(REGEX MATCH "^[0-9]+ ([a-z]+):(.*)$" _ "${line}")
  set(folder ${CMAKE_MATCH_1})
  string(STRIP "${CMAKE_MATCH_2}" allowed)
  string(REPLACE " " ";" RAPT_MAY_INCLUDE_${folder} "${allowed}")
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/LAYERS)

# rapt_library(NAME text SOURCES ... PUBLIC_HEADERS ... DEPS base request LIBS PkgConfig::pcre2)
# Declares the library of one folder. DEPS are folders and must be allowed by src/LAYERS; LIBS are
# third-party targets, private to the folder. PUBLIC_HEADERS is the list tools/check_layers reads:
# other folders may include these only.
function(rapt_library)
  cmake_parse_arguments(ARG "" "NAME" "SOURCES;PUBLIC_HEADERS;DEPS;LIBS" ${ARGN})
  foreach(dep IN LISTS ARG_DEPS)
    if(NOT dep IN_LIST RAPT_MAY_INCLUDE_${ARG_NAME})
      message(FATAL_ERROR "src/${ARG_NAME} may not depend on src/${dep}: see src/LAYERS")
    endif()
  endforeach()
  add_library(rapt_${ARG_NAME} STATIC ${ARG_SOURCES})
  target_include_directories(rapt_${ARG_NAME} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  list(TRANSFORM ARG_DEPS PREPEND rapt_)
  target_link_libraries(rapt_${ARG_NAME} PUBLIC ${ARG_DEPS} PRIVATE ${ARG_LIBS})
endfunction()

# rapt_test(NAME text SOURCES a_test.cpp ... DEPS text LIBS ... LABELS tsan)
# One GoogleTest binary, <NAME>_test. DEPS here may be any folders: a test may look at anything.
function(rapt_test)
  if(NOT RAPT_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "NAME;TIMEOUT" "SOURCES;DEPS;LIBS;LABELS" ${ARGN})
  add_executable(${ARG_NAME}_test ${ARG_SOURCES})
  list(TRANSFORM ARG_DEPS PREPEND rapt_)
  target_link_libraries(
    ${ARG_NAME}_test PRIVATE ${ARG_DEPS} ${ARG_LIBS} GTest::gmock GTest::gtest_main
  )
  target_include_directories(${ARG_NAME}_test PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_compile_definitions(${ARG_NAME}_test PRIVATE RAPT_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  add_test(NAME ${ARG_NAME} COMMAND ${ARG_NAME}_test --gtest_brief=1)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 600)
  endif()
  set_tests_properties(${ARG_NAME} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT})
endfunction()

# rapt_cpu_level_sources(FOLDER quant SOURCES mxfp4/cpu.cpp)
# Compiles kernel files once for each CPU level and adds them to the folder's library. The text is
# the same; RAPT_CPU_LEVEL names the namespace it lands in (kernels/cpu/vec.h). With VNNI also for
# the level avx512vnni, which only kernels that multiply integers gain from.
function(rapt_cpu_level_sources)
  cmake_parse_arguments(ARG "VNNI" "FOLDER" "SOURCES" ${ARGN})
  set(flags_scalar)
  set(flags_avx2 -mavx2 -mfma -mf16c)
  # gcc 12's own AVX-512 headers pass values that are undefined on purpose.
  set(flags_avx512 -Wno-uninitialized -Wno-maybe-uninitialized -mavx2 -mfma -mf16c -mavx512f -mavx512bw -mavx512dq -mavx512vl)
  set(flags_avx512vnni ${flags_avx512} -mavx512vnni)
  set(flags_all -fno-exceptions)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Both passes move the additions of an unrolled sum of products behind all the products, which
    # then need more registers than there are.
    list(APPEND flags_all -fno-tree-ter -fno-tree-reassoc)
  endif()
  set(levels scalar avx2 avx512)
  set(suffix)
  if(ARG_VNNI)
    list(APPEND levels avx512vnni)
    set(suffix _integer)
  endif()
  foreach(level IN LISTS levels)
    set(target rapt_${ARG_FOLDER}_${level}${suffix})
    add_library(${target} OBJECT ${ARG_SOURCES})
    target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src)
    target_compile_options(${target} PRIVATE ${flags_${level}} ${flags_all})
    target_compile_definitions(${target} PRIVATE RAPT_CPU_LEVEL=${level})
    target_sources(rapt_${ARG_FOLDER} PRIVATE $<TARGET_OBJECTS:${target}>)
  endforeach()
endfunction()
