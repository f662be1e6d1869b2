set(SOURCES info.cpp)
