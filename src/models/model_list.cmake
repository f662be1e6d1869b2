# rapt_models(gpt_oss llama): adds models to the library. Each is a folder with a sources.cmake (it
# sets SOURCES, TESTS, and ENGINE_TESTS for tests that run the model in an engine), and defines
# `std::span<const ArchitectureEntry> <folder>_architectures()` (architecture_internal.h). What finds
# them is made here. RAPT_MODEL_TESTS receives the tests; those for an engine become the global
# property RAPT_MODEL_ENGINE_TESTS, which src/engine reads.
macro(rapt_models)
  set(model_declarations)
  set(model_entries)
  set(RAPT_MODEL_TESTS)
  set(model_engine_tests)
  foreach(model ${ARGV})
    set(SOURCES)
    set(TESTS)
    set(ENGINE_TESTS)
    include(${CMAKE_CURRENT_SOURCE_DIR}/${model}/sources.cmake)
    list(TRANSFORM SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/${model}/)
    list(TRANSFORM TESTS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/${model}/)
    list(TRANSFORM ENGINE_TESTS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/${model}/)
    target_sources(rapt_models PRIVATE ${SOURCES})
    list(APPEND RAPT_MODEL_TESTS ${TESTS})
    list(APPEND model_engine_tests ${ENGINE_TESTS})
    string(APPEND model_declarations "std::span<const ArchitectureEntry> ${model}_architectures();\n")
    string(APPEND model_entries "      ${model}_architectures(),\n")
  endforeach()
  set_property(GLOBAL PROPERTY RAPT_MODEL_ENGINE_TESTS ${model_engine_tests})
  set(model_list_file ${CMAKE_CURRENT_BINARY_DIR}/architectures_of_models.cpp)
  file(CONFIGURE OUTPUT ${model_list_file} @ONLY CONTENT
"#include \"models/architecture_internal.h\"

namespace rapt {

@model_declarations@
std::span<const std::span<const ArchitectureEntry>> architectures_of_models() {
  static const std::span<const ArchitectureEntry> kModels[] = {
@model_entries@  };
  return kModels;
}

}  // namespace rapt
")
  target_sources(rapt_models PRIVATE ${model_list_file})
endmacro()
