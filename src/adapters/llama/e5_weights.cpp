#include "adapters/llama/e5_weights.hpp"

#include <array>
#include <cstdio>
#include <string>

#include <ggml.h>
#include <gguf.h>
#include <llama.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mapped_file.hpp"
#include "base/try.hpp"
#include "base/weights/e5_file.hpp"

namespace plimsoll::llama {
namespace {

// A tensor's name in the file and in llama.cpp, and how many rows and columns it has.
struct NamedTensor {
  std::string_view ours, theirs;
  std::uint32_t base::E5Shape::*columns;
  std::uint32_t base::E5Shape::*rows = nullptr;  // null: it is one row
};
using Shape = base::E5Shape;
constexpr std::string_view table_name = "emb.word";
constexpr std::uint32_t table_rows = 32;  // that llama.cpp gets; it uses none of them
constexpr std::array<NamedTensor, 4> first_tensors{{
    {"emb.pos", "position_embd.weight", &Shape::width, &Shape::positions},
    {"emb.type", "token_types.weight", &Shape::width, &Shape::types},
    {"emb.ln.w", "token_embd_norm.weight", &Shape::width},
    {"emb.ln.b", "token_embd_norm.bias", &Shape::width},
}};
constexpr std::array<NamedTensor, 16> layer_tensors{{
    {"q.w", "attn_q.weight", &Shape::width, &Shape::width},
    {"q.b", "attn_q.bias", &Shape::width},
    {"k.w", "attn_k.weight", &Shape::width, &Shape::width},
    {"k.b", "attn_k.bias", &Shape::width},
    {"v.w", "attn_v.weight", &Shape::width, &Shape::width},
    {"v.b", "attn_v.bias", &Shape::width},
    {"ao.w", "attn_output.weight", &Shape::width, &Shape::width},
    {"ao.b", "attn_output.bias", &Shape::width},
    {"aln.w", "attn_output_norm.weight", &Shape::width},
    {"aln.b", "attn_output_norm.bias", &Shape::width},
    {"fi.w", "ffn_up.weight", &Shape::width, &Shape::inner},
    {"fi.b", "ffn_up.bias", &Shape::inner},
    {"fo.w", "ffn_down.weight", &Shape::inner, &Shape::width},
    {"fo.b", "ffn_down.bias", &Shape::width},
    {"oln.w", "layer_output_norm.weight", &Shape::width},
    {"oln.b", "layer_output_norm.bias", &Shape::width},
}};

// A GGUF under construction. Its tensors point into the file that they come from.
class GgufDraft {
 public:
  GgufDraft()
      : gguf_(gguf_init_empty()),
        tensors_(
            ggml_init({.mem_size = ggml_tensor_overhead() * 1024, .mem_buffer = nullptr, .no_alloc = true})) {
  }
  GgufDraft(const GgufDraft&) = delete;
  GgufDraft& operator=(const GgufDraft&) = delete;
  ~GgufDraft() {
    ggml_free(tensors_);
    gguf_free(gguf_);
  }
  gguf_context* get() { return gguf_; }

  Result<void> add(const base::E5File& file, const NamedTensor& named, const std::string& ours,
                   const std::string& theirs) {
    const base::E5Tensor* from = file.find(ours);
    const std::int64_t columns = file.shape.*named.columns;
    const std::int64_t rows = named.rows == nullptr ? 1 : file.shape.*named.rows;
    if (from == nullptr || columns * rows != from->values)
      return fail(Errc::unsupported, "its tensor {} has {} values instead of {}", ours,
                  from == nullptr ? 0 : from->values, columns * rows);
    const ggml_type type = from->is_packed ? GGML_TYPE_Q4_0 : GGML_TYPE_F32;
    ggml_tensor* to = named.rows == nullptr ? ggml_new_tensor_1d(tensors_, type, columns)
                                            : ggml_new_tensor_2d(tensors_, type, columns, rows);
    if (to == nullptr || ggml_nbytes(to) != from->contents.size())
      return fail(Errc::unsupported, "its tensor {} has {} bytes", ours, from->contents.size());
    ggml_set_name(to, theirs.c_str());
    to->data = const_cast<char*>(from->contents.data());  // only read
    gguf_add_tensor(gguf_, to);
    return {};
  }

  void add_table(const base::E5File& file, const base::E5Tensor& table) {
    ggml_tensor* rows = ggml_new_tensor_2d(tensors_, GGML_TYPE_Q4_0, file.shape.width, table_rows);
    ggml_set_name(rows, "token_embd.weight");
    rows->data = const_cast<char*>(table.contents.data());
    gguf_add_tensor(gguf_, rows);
  }

 private:
  gguf_context* gguf_;
  ggml_context* tensors_;
};

void describe_shape(gguf_context* gguf, const Shape& shape) {
  const auto number = [&](const char* key, std::uint32_t value) { gguf_set_val_u32(gguf, key, value); };
  gguf_set_val_str(gguf, "general.architecture", "bert");
  number("bert.context_length", shape.positions);
  number("bert.embedding_length", shape.width);
  number("bert.block_count", shape.layers);
  number("bert.feed_forward_length", shape.inner);
  number("bert.attention.head_count", shape.heads);
  number("bert.vocab_size", table_rows);
  gguf_set_val_f32(gguf, "bert.attention.layer_norm_epsilon", shape.epsilon);
  gguf_set_val_bool(gguf, "bert.attention.causal", false);
  number("bert.pooling_type", LLAMA_POOLING_TYPE_MEAN);
  gguf_set_val_str(gguf, "tokenizer.ggml.model", "no_vocab");  // texts come as states
  number("tokenizer.ggml.token_type_count", shape.types);
}

Result<void> fill(GgufDraft& draft, const base::E5File& file) {
  constexpr std::uint32_t most_layers = 48;
  if (file.shape.layers > most_layers)
    return fail(Errc::unsupported, "it has {} layers, more than {}", file.shape.layers, most_layers);
  const base::E5Tensor* table = file.find(table_name);
  if (table == nullptr || !table->is_packed || file.shape.vocabulary < table_rows ||
      table->values != std::uint64_t{file.shape.vocabulary} * file.shape.width)
    return fail(Errc::unsupported, "it has no table of {} tokens", file.shape.vocabulary);
  describe_shape(draft.get(), file.shape);
  draft.add_table(file, *table);
  for (const NamedTensor& named : first_tensors)
    TRY_VOID(draft.add(file, named, std::string(named.ours), std::string(named.theirs)));
  for (std::uint32_t i = 0; i < file.shape.layers; ++i)
    for (const NamedTensor& named : layer_tensors)
      TRY_VOID(draft.add(file, named, fmt::format("l{}.{}", i, named.ours),
                         fmt::format("blk.{}.{}", i, named.theirs)));
  return {};
}

struct CloseStream {
  void operator()(std::FILE* stream) const { std::fclose(stream); }
};
using Stream = std::unique_ptr<std::FILE, CloseStream>;

// A file that has no name and goes away with its last user.
Result<Stream> unnamed_file() {
  const int descriptor = memfd_create("plimsoll-embedder", MFD_CLOEXEC);
  std::FILE* stream = descriptor < 0 ? nullptr : fdopen(descriptor, "w+b");
  if (stream == nullptr) {
    if (descriptor >= 0) close(descriptor);
    return fail(Errc::io_failed, "the system gives no memory for the embedder's weights");
  }
  return Stream(stream);
}

}  // namespace

void FreeModel::operator()(llama_model* model) const {
  llama_model_free(model);
}

Result<E5Weights> E5Weights::load(const std::filesystem::path& path) {
  TRY(auto mapped, base::MappedFile::open(path));
  auto file = base::read_e5_file(mapped.text());
  const auto wrong = [&](const Error& error) {
    return fail(Errc::unsupported, "the embedder's weights {} cannot be used: {}", path.string(), error.what);
  };
  if (!file) return wrong(file.error());
  GgufDraft draft;
  if (const auto filled = fill(draft, *file); !filled) return wrong(filled.error());
  TRY(const Stream stream, unnamed_file());
  if (!gguf_write_to_file_ptr(draft.get(), stream.get(), /*only_meta=*/false) ||
      std::fflush(stream.get()) != 0 || std::fseek(stream.get(), 0, SEEK_SET) != 0)
    return fail(Errc::io_failed, "there is not enough memory for the embedder's weights {}", path.string());
  ModelPointer model(llama_model_load_from_file_ptr(stream.get(), llama_model_default_params()));
  if (!model)
    return fail(Errc::unsupported, "llama.cpp cannot load the embedder's weights {}", path.string());
  const std::string_view table = file->find(table_name)->contents;
  return E5Weights(std::move(mapped), file->shape, table, std::move(model));
}

void E5Weights::look_up(TokenId token, std::span<float> state) const {
  const auto unpack = ggml_get_type_traits(GGML_TYPE_Q4_0)->to_float;
  const std::size_t row_bytes = ggml_row_size(GGML_TYPE_Q4_0, shape_.width);
  unpack(table_.data() + token * row_bytes, state.data(), shape_.width);
}

}  // namespace plimsoll::llama
