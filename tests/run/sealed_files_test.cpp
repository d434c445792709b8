// Files whose digest is right and whose content is not: what a program with a fault, or a person, would
// write.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>

#include "data/atomic_file.h"
#include "data/safetensors.h"
#include "eignn/checkpoint.h"
#include "eignn/error.h"
#include "run/run_folder.h"
#include "run/run_set.h"
#include "run/train_run.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

constexpr int64_t epochs = 20, epochs_before = 7;

class SealedFiles : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    TrainConfig config;
    config.chain_length = 5;
    config.epochs = config.patience = epochs;
    config.threads = 1;
    train(config, folder_->path("whole"));
    int64_t done = 0;
    TrainHooks hooks;
    hooks.on_epoch = [&](const EpochReport&) { ++done; };
    hooks.interrupted = [&] { return done == epochs_before; };
    train(config, folder_->path("cut"), false, hooks);
  }
  static void TearDownTestSuite() { delete folder_; }

  using Change = std::function<void(SafeTensors&)>;

  // The error of going on from a state that was changed and sealed again.
  static std::string resumed(const Change& change) {
    const std::string path = folder_->path("damaged");
    remove_folder(path);
    std::filesystem::copy(folder_->path("cut"), path);
    rewrite(path + "/resume.safetensors", change);
    const std::string message = message_of<DataError>([&] { train({}, path, true); });
    EXPECT_CONTAINS(message, "resume.safetensors");
    EXPECT_CONTAINS(message, begin_anew);
    return message;
  }

  static std::string loaded(const Change& change) {
    const std::string path = folder_->path("model.safetensors");
    std::filesystem::copy_file(folder_->path("whole/model.safetensors"), path,
                               std::filesystem::copy_options::overwrite_existing);
    rewrite(path, change);
    return message_of<DataError>([&] { load_model(path); });
  }

  static void rewrite(const std::string& path, const Change& change) {
    SafeTensors content = read_safetensors(path);
    change(content);
    seal(content);
    write_safetensors(path, content);
  }

  static Change key(const std::string& name, const std::string& text) {
    return [=](SafeTensors& content) { content.metadata[name] = text; };
  }

  // One of the four numbers of early stopping: best loss, best score, waited, seconds.
  static Change number(size_t place, double value) {
    return [=](SafeTensors& content) {
      std::memcpy(content.tensors.at("stopping").bytes.data() + place * sizeof value, &value, sizeof value);
    };
  }

  static TemporaryFolder* folder_;
};

TemporaryFolder* SealedFiles::folder_ = nullptr;

TEST_F(SealedFiles, GoOnWhenNothingWasChanged) {
  const std::string path = folder_->path("same");
  std::filesystem::copy(folder_->path("cut"), path);
  rewrite(path + "/resume.safetensors", [](SafeTensors&) {});
  EXPECT_EQ(train({}, path, true).epochs, epochs);
  EXPECT_EQ(read_whole_file(path + "/model.safetensors"),
            read_whole_file(folder_->path("whole/model.safetensors")));
}

TEST_F(SealedFiles, CountersOutOfRangeAreNamed) {
  for (const char* text : {"9223372036854775807", "-1", "99999999999999999999", "7x", "", "0x7", "1e3", " 7"})
    EXPECT_CONTAINS(resumed(key("next_epoch", text)), "next_epoch");
  EXPECT_CONTAINS(resumed([](SafeTensors& state) {
                    state.metadata["next_epoch"] = "5";  // there are times of seven
                    state.metadata["best_epoch"] = "0";
                  }),
                  "epoch_seconds");
  for (const char* text : {"7", "-2", "nan"}) EXPECT_CONTAINS(resumed(key("best_epoch", text)), "best_epoch");
  EXPECT_CONTAINS(resumed(key("best_epoch", "-1")), "best_epoch");  // and yet there are best weights
  EXPECT_CONTAINS(resumed(key("non_converged", "-3")), "non_converged");
}

TEST_F(SealedFiles, NumbersOfEarlyStoppingOutOfRangeAreNamed) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double value : {nan, 1e300, -1.0, double{epochs_before + 1}})
    EXPECT_CONTAINS(resumed(number(2, value)), "stopping.waited");
  for (const double value : {nan, -1.0, HUGE_VAL})
    EXPECT_CONTAINS(resumed(number(3, value)), "stopping.seconds");
  EXPECT_CONTAINS(resumed([](SafeTensors& content) { content.tensors.erase("stopping"); }), "damaged");
}

TEST_F(SealedFiles, SettingsThatAreMissingOrUnknownAreNamed) {
  for (const auto& change : {key("config.bogus", "1")}) {
    EXPECT_CONTAINS(resumed(change), "bogus");
    EXPECT_CONTAINS(loaded(change), "bogus");
  }
  const Change without = [](SafeTensors& content) { content.metadata.erase("config.lr"); };
  EXPECT_CONTAINS(resumed(without), "lr");
  EXPECT_CONTAINS(loaded(without), "lr");
  EXPECT_CONTAINS(resumed(key("config.epochs", "-5")), "epochs");
}

TEST_F(SealedFiles, WeightsOfAnotherTypeShapeOrNameAreNamed) {
  for (const char* prefix : {"now.", "best.", ""}) {
    const std::string name = std::string(prefix) + "F";
    const auto refused = [&](const Change& change) { return *prefix ? resumed(change) : loaded(change); };
    EXPECT_CONTAINS(refused([&](SafeTensors& content) {
                      TensorBytes& weight = content.tensors.at(name);
                      weight.type = ElementType::float64;
                      std::vector<unsigned char> wide;
                      for (size_t k = 0; k < weight.bytes.size(); k += 4) {
                        float value = 0;
                        std::memcpy(&value, &weight.bytes[k], 4);
                        const double wider = value;
                        const auto* from = reinterpret_cast<const unsigned char*>(&wider);
                        wide.insert(wide.end(), from, from + 8);
                      }
                      weight.bytes = wide;
                    }),
                    name);
  }
  for (const char* name : {"now.F", "best.F"}) {
    EXPECT_CONTAINS(resumed([&](SafeTensors& content) {
                      auto& shape = content.tensors.at(name).shape;
                      shape = {shape.at(0) * shape.at(1), 1};
                    }),
                    name);
    EXPECT_CONTAINS(resumed([&](SafeTensors& content) { content.tensors.erase(name); }), name);
  }
  EXPECT_CONTAINS(
      resumed([](SafeTensors& content) { content.tensors["best.G"] = content.tensors.at("best.F"); }),
      "best.G");
}

TEST_F(SealedFiles, CountsOfTheModelMustBeWholeNumbers) {
  for (const char* name : {"features", "classes"})
    for (const char* text : {"12x", "", "0", "-4", "99999999999999999999"})
      EXPECT_CONTAINS(loaded(key(name, text)), name);
  EXPECT_CONTAINS(loaded(key("labels", "many")), "labels");
}

TEST_F(SealedFiles, OneWithoutItsDigestIsRefused) {
  const std::string path = folder_->path("bare.safetensors");
  SafeTensors content = read_safetensors(folder_->path("whole/model.safetensors"));
  content.metadata.erase("digest");
  write_safetensors(path, content);
  EXPECT_CONTAINS(message_of<DataError>([&] { load_model(path); }), "digest");
}

// ---- summary.json

std::string summary_of(const std::function<void(ResultJson&)>& change, bool seal_again = true) {
  RunResult run;
  run.epochs = 3;
  ResultJson json = result_json(run);
  if (seal_again) change(json);
  json = sealed(json);
  if (!seal_again) change(json);
  return message_of<DataError>([&] { result_from_json(json, "summary.json"); });
}

TEST(Summary, IsReadAsItWasWritten) {
  RunResult run;
  run.epochs = 3;
  run.score.val = 0.5;
  EXPECT_EQ(result_from_json(sealed(result_json(run)), "summary.json").score.val, 0.5);
}

TEST(Summary, MustHaveItsDigestFromTheVersionThatWritesIt) {
  EXPECT_CONTAINS(summary_of([](ResultJson& json) { json.erase("digest"); }, false), "digest");
  EXPECT_CONTAINS(summary_of([](ResultJson& json) { json["epochs"] = 4; }, false), "digest");
  EXPECT_CONTAINS(summary_of([](ResultJson& json) { json["format"] = 1; }, false), "digest");
}

TEST(Summary, KeysThatAreMissingOrUnknownAreNamed) {
  EXPECT_CONTAINS(summary_of([](ResultJson& json) { json["bogus"] = 1; }), "bogus");
  EXPECT_CONTAINS(summary_of([](ResultJson& json) { json.erase("machine"); }), "machine");
  EXPECT_CONTAINS(summary_of([](ResultJson& json) { json["config"]["bogus"] = 1; }), "bogus");
  EXPECT_CONTAINS(summary_of([](ResultJson& json) { json["config"].erase("lr"); }), "config.lr");
}

TEST(Summary, FiguresOutOfRangeAreNamed) {
  EXPECT_CONTAINS(summary_of([](ResultJson& json) { json["test_accuracy"] = 7.2; }), "7.2");
  EXPECT_CONTAINS(summary_of([](ResultJson& json) { json["epochs"] = -1; }), "epochs");
  EXPECT_CONTAINS(summary_of([](ResultJson& json) { json["best_epoch"] = 3; }), "best_epoch");
}

}  // namespace
}  // namespace eignn
