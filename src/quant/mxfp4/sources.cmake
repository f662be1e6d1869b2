set(SOURCES format.cpp)
set(VNNI_LEVEL_SOURCES cpu.cpp)
set(TEST_SOURCES mxfp4_test.cpp)
