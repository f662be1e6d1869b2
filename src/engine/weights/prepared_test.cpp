// The prepared copy of a model's weights: written once, known again, never trusted when damaged,
// and no bit of an answer depends on it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/engine_test_internal.h"
#include "engine/weights/pages.h"
#include "engine/weights/prepared_file.h"
#include "engine/weights/weight_keeper.h"

namespace rapt {
namespace {

using ::testing::HasSubstr;

class PreparedTest : public EngineTest {
 protected:
  static EngineConfig config_with(const std::string& folder, bool writes) {
    EngineConfig config = small_config();
    config.prepared_dir = folder;
    config.writes_prepared = writes;
    return config;
  }

  static std::vector<std::string> files_in(const std::string& folder) {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      paths.push_back(entry.path().string());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
  }

  static std::vector<TokenId> answer(Engine& engine, RequestId id) {
    const auto sink = std::make_shared<Collector>();
    Request request = make_request(id, 40, 20);
    request.stop.ignore_eos = true;
    request.sampling.num_logprobs = 1;
    submit(engine, request, sink);
    sink->wait();
    return sink->tokens();
  }

  static std::unique_ptr<Model> load() {
    auto model = load_model(folder_->path());
    EXPECT_TRUE(model) << model.error().message;
    return *std::move(model);
  }

  // Writes the copy and returns its path.
  std::string write_copy() {
    const auto model = load();
    auto keeper = WeightKeeper::create(config_with(prepared_.path(), true), *model);
    EXPECT_TRUE(keeper);
    (*keeper)->start([](const std::function<void()>& task) {
      task();
      return true;
    });
    (*keeper)->wait();
    EXPECT_TRUE((*keeper)->is_prepared());
    const auto files = files_in(prepared_.path());
    EXPECT_EQ(files.size(), 1U);
    return files.empty() ? "" : files.front();
  }

  // Whether the copy that is there is used.
  bool is_used() {
    const auto model = load();
    auto keeper = WeightKeeper::create(config_with(prepared_.path(), false), *model);
    EXPECT_TRUE(keeper);
    return (*keeper)->is_prepared();
  }

  std::string open_error() {
    const auto model = load();
    const auto layout = plan_prepared(model->checkpoint(), model->linears());
    EXPECT_TRUE(layout);
    const auto file = open_prepared(prepared_.path(), *layout);
    return file ? "" : file.error().message;
  }

  static std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static void flip_byte(const std::string& path, std::uint64_t offset) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    const char byte = static_cast<char>(file.get() ^ 0x55);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(byte);
  }

  rapt::testing::TempFolder prepared_;
};

TEST_F(PreparedTest, ServesTheSameBitsBeforeDuringAndAfter) {
  const auto plain = make_engine(small_config());
  const std::vector<TokenId> expected = answer(*plain, 1);
  const auto writing = make_engine(config_with(prepared_.path(), true));
  RequestId id = 1;
  EXPECT_EQ(answer(*writing, id++), expected);
  writing->wait_for_weights();
  EXPECT_EQ(answer(*writing, id++), expected);
  writing->stop();
  ASSERT_EQ(files_in(prepared_.path()).size(), 1U);
  EXPECT_TRUE(is_used());
  const auto reading = make_engine(config_with(prepared_.path(), false));
  EXPECT_EQ(answer(*reading, 1), expected);
}

TEST_F(PreparedTest, IsWrittenOnceAndOnlyWhenAskedFor) {
  {
    const auto engine = make_engine(config_with(prepared_.path() + "/new", false));
    engine->wait_for_weights();
    EXPECT_FALSE(std::filesystem::exists(prepared_.path() + "/new"));
  }
  const std::string path = write_copy();
  const auto written = std::filesystem::last_write_time(path);
  EXPECT_EQ(write_copy(), path);
  EXPECT_EQ(std::filesystem::last_write_time(path), written);
}

TEST_F(PreparedTest, MissingFolderIsMade) {
  const auto engine = make_engine(config_with(prepared_.path() + "/a/b", true));
  engine->wait_for_weights();
  EXPECT_EQ(files_in(prepared_.path() + "/a/b").size(), 1U);
}

TEST_F(PreparedTest, AnEarlyEndLeavesNoFile) {
  const auto model = load();
  auto keeper = WeightKeeper::create(config_with(prepared_.path(), true), *model);
  ASSERT_TRUE(keeper);
  int num_parts = 0;
  (*keeper)->start([&](const std::function<void()>& task) {
    task();
    return ++num_parts < 3;  // as if the engine ended
  });
  (*keeper)->wait();
  EXPECT_EQ(num_parts, 3);
  EXPECT_FALSE((*keeper)->is_prepared());
  EXPECT_TRUE(files_in(prepared_.path()).empty());
}

TEST_F(PreparedTest, AnEngineThatEndsWhileItWritesLeavesNoFileOrAWholeOne) {
  for (int round = 0; round < 5; ++round) {
    const auto engine = make_engine(config_with(prepared_.path(), true));
    engine->stop();
    for (const std::string& path : files_in(prepared_.path())) {
      EXPECT_TRUE(is_used());
      std::filesystem::remove(path);
    }
  }
}

TEST_F(PreparedTest, DamageIsNoticedAndTheCheckpointServes) {
  const auto plain = make_engine(small_config());
  const std::vector<TokenId> expected = answer(*plain, 1);
  const std::string path = write_copy();
  const std::string whole = read_file(path);
  const auto expect_refused = [&](const std::string& why) {
    EXPECT_THAT(open_error(), HasSubstr(why));
    EXPECT_FALSE(is_used());
    const auto engine = make_engine(config_with(prepared_.path(), true));
    EXPECT_EQ(answer(*engine, 1), expected);
    engine->wait_for_weights();
    EXPECT_EQ(files_in(prepared_.path()).size(), 1U);  // what is damaged is not written over
  };
  std::filesystem::resize_file(path, whole.size() - 1);
  expect_refused("bytes instead of");
  rapt::testing::write_file(path, whole);
  EXPECT_TRUE(is_used());
  flip_byte(path, 100);
  expect_refused("its header");
  rapt::testing::write_file(path, whole);
  const auto model = load();
  const auto layout = plan_prepared(model->checkpoint(), model->linears());
  ASSERT_TRUE(layout);
  // Some byte of every piece of one matrix.
  const PreparedPart& part = layout->parts.back();
  for (std::int64_t piece = 0; piece < part.method->num_prepared_pieces(); ++piece) {
    const auto at = static_cast<std::uint64_t>(piece * part.method->prepared_piece_bytes());
    flip_byte(path, part.offset + at + 3);
  }
  expect_refused(part.name);
}

TEST_F(PreparedTest, AnotherCheckpointIsAnotherFileAndEarlierStatesGo) {
  const std::string first = write_copy();
  // The same values, written anew: another time of change.
  const std::string weights = folder_->path() + "/model.safetensors";
  const auto old_time = std::filesystem::last_write_time(weights);
  std::filesystem::last_write_time(weights, old_time + std::chrono::seconds(10));
  EXPECT_FALSE(is_used());
  const std::string second = write_copy();
  EXPECT_NE(first, second);
  EXPECT_FALSE(std::filesystem::exists(first));
  std::filesystem::last_write_time(weights, old_time);
  // Another model's copy stays.
  rapt::testing::TempFolder other;
  rapt::testing::write_tiny_gpt_oss(other.path(), {.num_layers = 2});
  auto model = load_model(other.path());
  ASSERT_TRUE(model);
  auto keeper = WeightKeeper::create(config_with(prepared_.path(), true), **model);
  ASSERT_TRUE(keeper);
  (*keeper)->start([](const std::function<void()>& task) {
    task();
    return true;
  });
  (*keeper)->wait();
  EXPECT_TRUE(std::filesystem::exists(second));
  EXPECT_EQ(files_in(prepared_.path()).size(), 2U);
}

TEST_F(PreparedTest, AFolderThatCannotBeWrittenIsNoDisaster) {
  const auto plain = make_engine(small_config());
  const std::vector<TokenId> expected = answer(*plain, 1);
  const std::string file = prepared_.path() + "/file";
  rapt::testing::write_file(file, "not a folder");
  const auto engine = make_engine(config_with(file, true));
  engine->wait_for_weights();
  EXPECT_EQ(answer(*engine, 1), expected);
}

// A limit on the size of files stands in for a full disk.
TEST_F(PreparedTest, AFullDiskIsNoticedBeforeAnythingIsWritten) {
  const auto model = load();
  const auto layout = plan_prepared(model->checkpoint(), model->linears());
  ASSERT_TRUE(layout);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {.rlim_cur = layout->num_bytes / 2, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto writer = PreparedWriter::create(prepared_.path(), *layout);
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(writer);
  EXPECT_THAT(writer.error().message, HasSubstr("cannot reserve"));
  EXPECT_TRUE(files_in(prepared_.path()).empty());
}

TEST_F(PreparedTest, TwoDoNotWriteTheSameFile) {
  const auto model = load();
  const auto layout = plan_prepared(model->checkpoint(), model->linears());
  ASSERT_TRUE(layout);
  const auto first = PreparedWriter::create(prepared_.path(), *layout);
  ASSERT_TRUE(first);
  const auto second = PreparedWriter::create(prepared_.path(), *layout);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("another process"));
}

TEST_F(PreparedTest, DroppedPagesAreReadAgain) {
  auto file = MappedFile::open(folder_->path() + "/model.safetensors");
  ASSERT_TRUE(file);
  const std::string before(
      reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()
  );
  read_pages(file->bytes());
  drop_pages(file->bytes());
  drop_pages(file->bytes().first(10));
  const std::string after(
      reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()
  );
  EXPECT_EQ(before, after);
}

}  // namespace
}  // namespace rapt
