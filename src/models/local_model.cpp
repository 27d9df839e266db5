#include "models/local_model.hpp"

#include "base/try.hpp"

namespace plimsoll::models {

Result<std::shared_ptr<const PlanModel>> LocalModel::plan_model() const {
  const std::lock_guard lock(mutex_);
  if (!opened_) {
    TRY(PlanModel model, open_());
    opened_ = std::make_shared<const PlanModel>(std::move(model));
  }
  return opened_;
}

bool LocalModel::is_open() const {
  const std::lock_guard lock(mutex_);
  return opened_ != nullptr;
}

}  // namespace plimsoll::models
