#pragma once

#include "attention/cpu_ref/kernel_internal.h"
#include "tensor/stream.h"

namespace rapt {

namespace ref {
void attend(const AttendRow& row);
}

AttendKernel attend_kernel(CpuLevel level);

}  // namespace rapt
