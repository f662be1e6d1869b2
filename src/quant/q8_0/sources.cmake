set(SOURCES format.cpp)
set(VNNI_LEVEL_SOURCES cpu.cpp)
set(TEST_SOURCES q8_0_test.cpp)
