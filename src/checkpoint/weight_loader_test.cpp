#include "checkpoint/weight_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>

#include "support/checkpoint_files.h"

namespace rapt {
namespace {

using rapt::testing::safetensors_bytes;
using rapt::testing::TempFolder;
using ::testing::HasSubstr;

// Two tensors of floats and one of bytes, in one file.
class WeightLoaderTest : public ::testing::Test {
 protected:
  WeightLoader make_loader() {
    Result<CheckpointDir> checkpoint = CheckpointDir::open(folder_.path());
    CHECK(checkpoint.has_value());
    return WeightLoader(std::move(*checkpoint));
  }

  TempFolder folder_;
  std::string file_ = folder_.write(
      "model.safetensors",
      safetensors_bytes(
          {{"w", "F32", {2, 2}, std::string("\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40", 16)},
           {"b", "BF16", {2}, "abcd"},
           {"blocks", "U8", {3}, "xyz"}}
      )
  );
};

TEST_F(WeightLoaderTest, GivesViewsOfTheFile) {
  WeightLoader loader = make_loader();
  const Result<Tensor> w = loader.take("w", Shape{2, 2}, {DType::kF32});
  ASSERT_TRUE(w) << w.error().message;
  EXPECT_EQ(w->f32()[0], 1.0F);
  EXPECT_EQ(w->f32()[3], 4.0F);
  EXPECT_EQ(w->raw(), loader.tensor_info("w")->data) << "in place, not a copy";
  EXPECT_EQ(loader.num_copied_bytes(), 0);
}

TEST_F(WeightLoaderTest, KeepsTensorsValidWhenMoved) {
  WeightLoader loader = make_loader();
  const Result<Tensor> w = loader.take("w", Shape{2, 2}, {DType::kF32});
  ASSERT_TRUE(w);
  const WeightLoader kept = std::move(loader);
  EXPECT_EQ(w->f32()[1], 2.0F);
  EXPECT_TRUE(kept.has("w"));
  EXPECT_THAT(kept.finish().error().message, HasSubstr("holds 2 tensors"));
}

TEST_F(WeightLoaderTest, AcceptsAnyOfTheTypesGiven) {
  WeightLoader loader = make_loader();
  const Result<Tensor> b = loader.take("b", Shape{2}, {DType::kF32, DType::kBF16});
  ASSERT_TRUE(b);
  EXPECT_EQ(b->dtype(), DType::kBF16);
}

TEST_F(WeightLoaderTest, SkipsWhatIsNotNeeded) {
  WeightLoader loader = make_loader();
  for (const char* name : {"w", "b", "blocks", "not there"}) {
    loader.skip(name);
  }
  EXPECT_TRUE(loader.finish());
}

TEST_F(WeightLoaderTest, NamesWhatIsMissing) {
  WeightLoader loader = make_loader();
  const Result<Tensor> tensor = loader.take("gone", Shape{4, 2}, {DType::kBF16, DType::kF32});
  ASSERT_FALSE(tensor);
  EXPECT_EQ(tensor.error().code, ErrorCode::kBadFile);
  EXPECT_EQ(
      tensor.error().message,
      folder_.path() +
          " has no tensor \"gone\", which the model needs with shape [4, 2] and element type BF16 "
          "or F32"
  );
}

TEST_F(WeightLoaderTest, NamesAWrongShape) {
  WeightLoader loader = make_loader();
  for (const Shape& shape : {Shape{2, 3}, Shape{4}, Shape{2, 2, 1}, Shape{}}) {
    const Result<Tensor> tensor = loader.take("w", shape, {DType::kF32});
    ASSERT_FALSE(tensor);
    EXPECT_EQ(
        tensor.error().message,
        file_ + ": tensor \"w\" has shape [2, 2]; expected " + shape.to_string()
    );
  }
}

TEST_F(WeightLoaderTest, NamesAWrongType) {
  WeightLoader loader = make_loader();
  const Result<Tensor> tensor = loader.take("w", Shape{2, 2}, {DType::kBF16, DType::kF16});
  ASSERT_FALSE(tensor);
  EXPECT_EQ(
      tensor.error().message, file_ + ": tensor \"w\" has element type F32; expected BF16 or F16"
  );
}

TEST_F(WeightLoaderTest, FinishesOnceAllAreTaken) {
  WeightLoader loader = make_loader();
  ASSERT_TRUE(loader.take("w", Shape{2, 2}, {DType::kF32}));
  ASSERT_TRUE(loader.take("w", Shape{2, 2}, {DType::kF32})) << "twice is allowed";
  ASSERT_TRUE(loader.take("b", Shape{2}, {DType::kBF16}));
  const Result<void> early = loader.finish();
  ASSERT_FALSE(early);
  EXPECT_THAT(early.error().message, HasSubstr("holds 1 tensors"));
  EXPECT_THAT(early.error().message, HasSubstr("\"blocks\""));
  ASSERT_TRUE(loader.take("blocks", Shape{3}, {DType::kU8}));
  EXPECT_TRUE(loader.finish());
}

TEST(WeightLoader, NamesAFewOfManyUnusedTensors) {
  const TempFolder folder;
  std::vector<rapt::testing::WrittenTensor> tensors;
  for (int idx = 0; idx < 9; ++idx) {
    tensors.push_back({"extra." + std::to_string(idx), "U8", {1}, "x"});
  }
  folder.write("model.safetensors", safetensors_bytes(tensors));
  Result<CheckpointDir> checkpoint = CheckpointDir::open(folder.path());
  ASSERT_TRUE(checkpoint);
  const Result<void> finished = WeightLoader(std::move(*checkpoint)).finish();
  ASSERT_FALSE(finished);
  EXPECT_THAT(finished.error().message, HasSubstr("holds 9 tensors"));
  EXPECT_THAT(finished.error().message, HasSubstr("\"extra.3\" and 5 more"));
}

TEST(WeightLoader, CopiesTensorsThatLieAtOddAddresses) {
  const TempFolder folder;
  folder.write(
      "model.safetensors",
      safetensors_bytes({{"odd", "U8", {1}, "x"}, {"f", "F32", {1}, std::string("\0\0\x80\x3f", 4)}}
      )
  );
  Result<CheckpointDir> checkpoint = CheckpointDir::open(folder.path());
  ASSERT_TRUE(checkpoint);
  WeightLoader loader(std::move(*checkpoint));
  const Result<Tensor> f = loader.take("f", Shape{1}, {DType::kF32});
  ASSERT_TRUE(f);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(f->raw()) % alignof(float), 0U);
  EXPECT_EQ(*f->f32(), 1.0F);
  EXPECT_EQ(loader.num_copied_bytes(), 4);
  const Result<Tensor> again = loader.take("f", Shape{1}, {DType::kF32});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->raw(), f->raw()) << "one copy";
}

}  // namespace
}  // namespace rapt
