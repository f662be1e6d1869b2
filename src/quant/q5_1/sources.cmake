set(SOURCES format.cpp)
set(VNNI_LEVEL_SOURCES cpu.cpp)
