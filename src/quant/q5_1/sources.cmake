set(SOURCES format.cpp)
set(VNNI_LEVEL_SOURCES cpu.cpp)
set(TEST_SOURCES q5_1_test.cpp)
