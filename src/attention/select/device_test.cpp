#include "attention/select/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attention/select/select_test_support.h"

namespace rapt {
namespace {

using testing::HasSubstr;

TEST(AttentionDevices, AreThisMachineByDefault) {
  for (const std::string_view text : {"", "cpu", "CPU", "auto", " cpu "}) {
    const DeviceFacts device = test_device(text);
    EXPECT_EQ(device.id, "cpu") << text;
    EXPECT_EQ(device.kind, DeviceKind::kCpu);
    EXPECT_FALSE(device.is_simulated);
    EXPECT_EQ(device.num_workers, 2);
    EXPECT_EQ(full_name_of(device), "CPU (avx512)");
  }
}

TEST(AttentionDevices, SimulateOtherCpuLevels) {
  const DeviceFacts avx2 = test_device("cpu:avx2");
  EXPECT_TRUE(avx2.is_simulated);
  EXPECT_EQ(avx2.cpu_level, CpuLevel::kAvx2);
  EXPECT_DOUBLE_EQ(avx2.vector_tflops * 2, test_device("cpu").vector_tflops);
  EXPECT_FALSE(test_device("cpu:avx512").is_simulated);
  EXPECT_GT(avx2.vector_tflops, test_device("cpu:scalar").vector_tflops);
}

TEST(AttentionDevices, TakeMeasuredRates) {
  HostFacts host = test_host();
  host.bandwidth_gbs = 35;
  host.vector_tflops = 0.3;
  const DeviceFacts device = *find_attention_device("cpu", host);
  EXPECT_TRUE(device.is_measured);
  EXPECT_DOUBLE_EQ(device.bandwidth_gbs, 35);
  EXPECT_DOUBLE_EQ(device.vector_tflops, 0.3);
  EXPECT_DOUBLE_EQ(find_attention_device("cpu:avx2", host)->vector_tflops, 0.15);
  EXPECT_FALSE(test_device("cpu").is_measured);
}

TEST(AttentionDevices, SimulateGpus) {
  const DeviceFacts device = test_device("sm89");
  EXPECT_EQ(device.kind, DeviceKind::kCuda);
  EXPECT_EQ(device.compute_capability, 89);
  EXPECT_EQ(full_name_of(device), "NVIDIA L40S (SM 8.9)");
  EXPECT_EQ(short_name_of(test_device("sm121")), "SM 12.1");
  for (const std::string_view text : {"SM90", "sm_90", "sm_90a", "sm9.0"}) {
    EXPECT_EQ(test_device(text).id, "sm90") << text;
  }
}

TEST(AttentionDevices, AreFoundByTheirListedNames) {
  const std::vector<std::string_view> names = attention_device_names();
  EXPECT_GE(names.size(), 17U);
  for (const std::string_view name : names) {
    const DeviceFacts device = test_device(name);
    EXPECT_TRUE(device.id == name || device.id == "cpu") << name;
    EXPECT_GT(device.bandwidth_gbs, 0) << name;
    EXPECT_GT(device.vector_tflops, 0) << name;
    EXPECT_GT(device.num_workers, 0) << name;
  }
}

TEST(AttentionDevices, HaveNoGpuWithoutCuda) {
  for (const std::string_view text : {"0", "cuda", "cuda:0", "gpu", "7"}) {
    const Result<DeviceFacts> device = find_attention_device(text, test_host());
    ASSERT_FALSE(device) << text;
    EXPECT_THAT(device.error().message, HasSubstr("this binary has no CUDA backend"));
    EXPECT_THAT(device.error().message, HasSubstr("Use --device cpu"));
  }
}

TEST(AttentionDevices, AreListedWhenOneIsUnknown) {
  const Result<DeviceFacts> device = find_attention_device("sm91", test_host());
  ASSERT_FALSE(device);
  EXPECT_THAT(device.error().message, HasSubstr("unknown device 'sm91'; did you mean sm"));
  EXPECT_THAT(device.error().message, HasSubstr("sm121"));
  EXPECT_FALSE(find_attention_device("cpu:mmx", test_host()));
}

}  // namespace
}  // namespace rapt
