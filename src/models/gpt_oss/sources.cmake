set(
  SOURCES architectures.cpp config.cpp config_rope.cpp describe.cpp gguf_config.cpp
          gguf_weight_names.cpp gpt_oss.cpp weight_names.cpp
)
set(TESTS config_test.cpp gguf_config_test.cpp)
