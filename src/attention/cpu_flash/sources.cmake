set(SOURCES backend.cpp info.cpp ref.cpp work_list.cpp)
set(CPU_LEVEL_SOURCES cpu.cpp)
