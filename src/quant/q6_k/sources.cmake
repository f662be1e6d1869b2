set(SOURCES format.cpp)
set(VNNI_LEVEL_SOURCES cpu.cpp)
set(TEST_SOURCES q6_k_test.cpp)
