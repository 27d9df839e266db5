// A model that runs inside this process.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "plimsoll/plan.hpp"

namespace plimsoll::models {

// Its name, file and window are known at once. Its tokenizer and template are opened at the first plan, so
// that a model that nobody asks costs nothing. Thread-safe.
class LocalModel {
 public:
  using Open = std::function<Result<PlanModel>()>;
  LocalModel(std::string name, std::filesystem::path file, Window window, Open open)
      : name_(std::move(name)), file_(std::move(file)), window_(std::move(window)), open_(std::move(open)) {}

  const std::string& name() const { return name_; }
  const std::filesystem::path& file() const { return file_; }
  const Window& window() const { return window_; }

  // Opens it once. A failure is not remembered.
  Result<std::shared_ptr<const PlanModel>> plan_model() const;
  // Returns whether plan_model() returns without work.
  bool is_open() const;

 private:
  std::string name_;
  std::filesystem::path file_;
  Window window_;
  Open open_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const PlanModel> opened_;
};

}  // namespace plimsoll::models
