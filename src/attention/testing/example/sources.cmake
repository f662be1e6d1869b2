set(SOURCES backend.cpp info.cpp)
