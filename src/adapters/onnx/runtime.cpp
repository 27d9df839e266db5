#include "adapters/onnx/runtime.hpp"

#include <array>

#include <dlfcn.h>

#include "base/try.hpp"
#include "onnxruntime_c_api.h"

namespace plimsoll::onnx {
namespace {

// The library stays loaded for the life of the process: it has threads and statics of its own.
Result<const OrtApi*> load(const std::filesystem::path& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return fail(Errc::not_found,
                "the embedder's runtime cannot be loaded ({}); `tools/setup assets` brings it", dlerror());
  }
  using Base = const OrtApiBase* (*)();
  const auto base = reinterpret_cast<Base>(dlsym(handle, "OrtGetApiBase"));
  const OrtApi* api = base == nullptr ? nullptr : base()->GetApi(ORT_API_VERSION);
  if (api == nullptr) {
    return fail(Errc::unsupported, "{} is no ONNX Runtime of interface {} or later", library.string(),
                ORT_API_VERSION);
  }
  return api;
}

// Gives a handle of the library back when it goes.
template <typename T>
class Held {
 public:
  explicit Held(void (*release)(T*)) : release_(release) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    if (pointer_ != nullptr) release_(pointer_);
  }
  T** out() { return &pointer_; }
  T* get() const { return pointer_; }

 private:
  T* pointer_ = nullptr;
  void (*release_)(T*);
};

}  // namespace

struct Session::State {
  explicit State(const OrtApi& the_api)
      : api(the_api),
        environment(the_api.ReleaseEnv),
        options(the_api.ReleaseSessionOptions),
        session(the_api.ReleaseSession),
        memory(the_api.ReleaseMemoryInfo) {}

  Result<void> check(OrtStatus* status, std::string_view doing) const {
    if (status == nullptr) return {};
    const std::string what = api.GetErrorMessage(status);
    api.ReleaseStatus(status);
    return fail(Errc::unsupported, "the embedder failed {}: {}", doing, what);
  }

  Result<std::string> name_of(bool input, std::size_t index) const {
    OrtAllocator* allocator = nullptr;
    TRY_VOID(check(api.GetAllocatorWithDefaultOptions(&allocator), "asking for memory"));
    char* name = nullptr;
    TRY_VOID(check(input ? api.SessionGetInputName(session.get(), index, allocator, &name)
                         : api.SessionGetOutputName(session.get(), index, allocator, &name),
                   "reading the model's names"));
    std::string copy = name;
    TRY_VOID(check(api.AllocatorFree(allocator, name), "giving memory back"));
    return copy;
  }

  const OrtApi& api;
  Held<OrtEnv> environment;
  Held<OrtSessionOptions> options;
  Held<OrtSession> session;
  Held<OrtMemoryInfo> memory;
  std::vector<std::string> inputs;
  std::string output;
};

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::open(const std::filesystem::path& library,
                                               const std::filesystem::path& model) {
  std::error_code error;
  if (!std::filesystem::exists(model, error)) {
    return fail(Errc::not_found, "the embedder's weights are not at {}; `tools/setup assets` brings them",
                model.string());
  }
  TRY(const OrtApi* api, load(library));
  auto state = std::make_unique<State>(*api);
  TRY_VOID(state->check(api->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "plimsoll", state->environment.out()),
                        "to start"));
  TRY_VOID(state->check(api->DisableTelemetryEvents(state->environment.get()), "to start"));
  TRY_VOID(state->check(api->CreateSessionOptions(state->options.out()), "to start"));
  // One thread a run: texts are many and short, and runs side by side use the cores better than one run on
  // all.
  TRY_VOID(state->check(api->SetIntraOpNumThreads(state->options.get(), 1), "to start"));
  TRY_VOID(state->check(api->SetInterOpNumThreads(state->options.get(), 1), "to start"));
  TRY_VOID(state->check(
      api->CreateSession(state->environment.get(), model.c_str(), state->options.get(), state->session.out()),
      "to read its model"));
  TRY_VOID(state->check(api->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, state->memory.out()),
                        "to start"));
  std::size_t inputs = 0;
  TRY_VOID(state->check(api->SessionGetInputCount(state->session.get(), &inputs), "to read its model"));
  for (std::size_t i = 0; i < inputs; ++i) {
    TRY(auto name, state->name_of(true, i));
    if (name != "input_ids" && name != "attention_mask" && name != "token_type_ids") {
      return fail(Errc::unsupported, "{} wants an input '{}', which no sentence embedder has", model.string(),
                  name);
    }
    state->inputs.push_back(std::move(name));
  }
  TRY(state->output, state->name_of(false, 0));
  return std::unique_ptr<Session>(new Session(std::move(state)));
}

Result<std::vector<float>> Session::run(const Batch& batch, std::size_t& width) const {
  TRY(auto states, run(batch));
  const std::size_t tokens = batch.rows * batch.length;
  if (tokens == 0 || states.size() % tokens != 0)
    return fail(Errc::unsupported, "the embedder's model does not give states by token");
  width = states.size() / tokens;
  return states;
}

Result<std::vector<float>> Session::run(const Batch& batch) const {
  const State& state = *state_;
  const OrtApi& api = state.api;
  const std::array<std::int64_t, 2> shape{static_cast<std::int64_t>(batch.rows),
                                          static_cast<std::int64_t>(batch.length)};
  const std::vector<std::int64_t> types =
      batch.types.empty() ? std::vector<std::int64_t>(batch.ids.size(), 0) : batch.types;
  std::vector<std::unique_ptr<OrtValue, void (*)(OrtValue*)>> held;
  std::vector<const OrtValue*> values;
  std::vector<const char*> names;
  for (const std::string& name : state.inputs) {
    const auto& data = name == "input_ids" ? batch.ids : name == "attention_mask" ? batch.mask : types;
    OrtValue* value = nullptr;
    // The interface is not const, but inputs are only read.
    TRY_VOID(state.check(
        api.CreateTensorWithDataAsOrtValue(state.memory.get(), const_cast<std::int64_t*>(data.data()),
                                           data.size() * sizeof(std::int64_t), shape.data(), shape.size(),
                                           ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, &value),
        "to take its input"));
    held.emplace_back(value, api.ReleaseValue);
    values.push_back(value);
    names.push_back(name.c_str());
  }
  const char* output = state.output.c_str();
  Held<OrtValue> result(api.ReleaseValue);
  TRY_VOID(state.check(api.Run(state.session.get(), nullptr, names.data(), values.data(), values.size(),
                               &output, 1, result.out()),
                       "to run"));
  Held<OrtTensorTypeAndShapeInfo> info(api.ReleaseTensorTypeAndShapeInfo);
  TRY_VOID(state.check(api.GetTensorTypeAndShape(result.get(), info.out()), "to tell its output"));
  std::size_t size = 0;
  ONNXTensorElementDataType type{};
  TRY_VOID(state.check(api.GetTensorShapeElementCount(info.get(), &size), "to tell its output"));
  TRY_VOID(state.check(api.GetTensorElementType(info.get(), &type), "to tell its output"));
  if (type != ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT)
    return fail(Errc::unsupported, "the model does not give floats");
  float* data = nullptr;
  TRY_VOID(state.check(api.GetTensorMutableData(result.get(), reinterpret_cast<void**>(&data)),
                       "to give its output"));
  return std::vector<float>(data, data + size);
}

}  // namespace plimsoll::onnx
