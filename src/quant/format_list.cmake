# rapt_weight_formats(LEVEL_SOURCES packed_cpu.cpp FORMATS mxfp4 q8_0 ...)
# Adds weight formats to rapt_quant: each is a folder with a sources.cmake, which sets SOURCES,
# LEVEL_SOURCES or VNNI_LEVEL_SOURCES (kernels that are built once a CPU level) and TEST_SOURCES, and
# defines `WeightFormat <folder>_format()`. weight_formats() is made here and gives them in this order.
# LEVEL_SOURCES are files beside the formats' own.
function(rapt_weight_formats)
  cmake_parse_arguments(ARG "" "" "FORMATS;LEVEL_SOURCES" ${ARGN})
  set(all_level_sources ${ARG_LEVEL_SOURCES})
  set(all_vnni_sources)
  set(declarations)
  set(entries)
  foreach(format IN LISTS ARG_FORMATS)
    foreach(kind SOURCES LEVEL_SOURCES VNNI_LEVEL_SOURCES TEST_SOURCES)
      set(${kind})
    endforeach()
    include(${CMAKE_CURRENT_SOURCE_DIR}/${format}/sources.cmake)
    foreach(kind SOURCES LEVEL_SOURCES VNNI_LEVEL_SOURCES TEST_SOURCES)
      list(TRANSFORM ${kind} PREPEND ${format}/)
    endforeach()
    target_sources(rapt_quant PRIVATE ${SOURCES})
    list(APPEND all_level_sources ${LEVEL_SOURCES})
    list(APPEND all_vnni_sources ${VNNI_LEVEL_SOURCES})
    if(RAPT_BUILD_TESTS)
      target_sources(quant_test PRIVATE ${TEST_SOURCES})
    endif()
    string(APPEND declarations "WeightFormat ${format}_format();\n")
    string(APPEND entries "      ${format}_format(),\n")
  endforeach()
  rapt_cpu_level_sources(FOLDER quant SOURCES ${all_level_sources})
  rapt_cpu_level_sources(FOLDER quant SOURCES ${all_vnni_sources} VNNI)
  set(list_file ${CMAKE_CURRENT_BINARY_DIR}/weight_formats.cpp)
  file(CONFIGURE OUTPUT ${list_file} @ONLY CONTENT
"#include \"quant/registry_internal.h\"

namespace rapt {

@declarations@
std::span<const WeightFormat> weight_formats() {
  static const WeightFormat kFormats[] = {
@entries@  };
  return kFormats;
}

}  // namespace rapt
")
  target_sources(rapt_quant PRIVATE ${list_file})
endfunction()
