#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"

// What the system is asked to do with the pages behind mapped weights. Any thread.

namespace rapt {

// Lets go of the memory behind a mapping of a file, locked or not; it is read again if somebody
// needs it.
void drop_pages(std::span<const std::byte> bytes);

// Reads them from disk, if they are not in memory, and maps them into the process, so that a step
// meets no page faults. Blocks; nothing happens where the system does not know how.
void read_pages(std::span<const std::byte> bytes);

// Keeps all that is mapped now in memory from its first use on; fails when the process may not.
Result<void> lock_mapped_memory();

// Has the calling thread step back where others want the processor: a quarter of it is left.
void lower_thread_priority();

// Has the calling thread take processor and disk only when nobody else wants them.
void lower_thread_priority_most();

}  // namespace rapt
