set(SOURCES format.cpp)
set(VNNI_LEVEL_SOURCES cpu.cpp)
set(TEST_SOURCES q4_0_test.cpp)
