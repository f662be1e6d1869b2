# rapt_attention_backends(TARGET rapt_attention FUNCTION attention_backends BACKENDS cpu_ref ...)
# Adds backends to a library: each is a folder with a sources.cmake (it sets SOURCES, and
# CPU_LEVEL_SOURCES for kernels built once for each CPU level), and defines
# `const BackendInfo& <folder>_info()`. FUNCTION is made here and gives them in this order.
function(rapt_attention_backends)
  cmake_parse_arguments(ARG "" "TARGET;FUNCTION" "BACKENDS" ${ARGN})
  set(all_level_sources)
  set(declarations)
  set(entries)
  foreach(backend IN LISTS ARG_BACKENDS)
    set(SOURCES)
    set(CPU_LEVEL_SOURCES)
    include(${CMAKE_CURRENT_SOURCE_DIR}/${backend}/sources.cmake)
    list(TRANSFORM SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/${backend}/)
    target_sources(${ARG_TARGET} PRIVATE ${SOURCES})
    list(TRANSFORM CPU_LEVEL_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/${backend}/)
    set(all_level_sources ${all_level_sources} ${CPU_LEVEL_SOURCES})
    get_filename_component(name ${backend} NAME)
    string(APPEND declarations "const BackendInfo& ${name}_info();\n")
    string(APPEND entries "      &${name}_info(),\n")
  endforeach()
  if(all_level_sources)
    rapt_cpu_level_sources(FOLDER attention SOURCES ${all_level_sources})
  endif()
  set(list_file ${CMAKE_CURRENT_BINARY_DIR}/${ARG_FUNCTION}.cpp)
  file(CONFIGURE OUTPUT ${list_file} @ONLY CONTENT
"#include \"attention/registry.h\"

namespace rapt {

@declarations@
std::span<const BackendInfo* const> @ARG_FUNCTION@() {
  static const BackendInfo* const kBackends[] = {
@entries@  };
  return kBackends;
}

}  // namespace rapt
")
  target_sources(${ARG_TARGET} PRIVATE ${list_file})
endfunction()
