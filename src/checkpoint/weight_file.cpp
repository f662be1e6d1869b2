#include "checkpoint/weight_file.h"

#include <utility>

namespace rapt {

WeightFile::WeightFile(MappedFile file, std::vector<TensorInfo> tensors)
    : file_(std::move(file)), tensors_(std::move(tensors)) {}

}  // namespace rapt
