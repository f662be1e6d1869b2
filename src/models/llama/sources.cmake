set(SOURCES architectures.cpp config.cpp gguf_config.cpp llama.cpp weight_names.cpp)
set(TESTS config_test.cpp)
set(ENGINE_TESTS llama_bits_test.cpp)
