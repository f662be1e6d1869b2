set(SOURCES backend.cpp info.cpp ref.cpp)
set(CPU_LEVEL_SOURCES cpu.cpp)
