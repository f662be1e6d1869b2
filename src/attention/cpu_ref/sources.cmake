set(SOURCES backend.cpp info.cpp ref.cpp)
