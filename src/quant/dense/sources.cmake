set(SOURCES kernel.cpp method.cpp)
set(LEVEL_SOURCES cpu.cpp)
