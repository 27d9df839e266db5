// Reads a few fields of SentencePiece's model file, a protocol buffer.
#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "base/try.hpp"
#include "count/vocabulary/readers.hpp"
#include "count/vocabulary/spm_pieces.hpp"

namespace plimsoll::count {
namespace {

// One field of a message. Numbers are in `number`, texts and messages in `bytes`.
struct Field {
  std::uint32_t tag = 0;
  std::uint64_t number = 0;
  std::string_view bytes;
};

class Message {
 public:
  explicit Message(std::string_view bytes) : rest_(bytes) {}
  bool more() const { return !rest_.empty(); }

  Result<Field> next() {
    Field field;
    TRY(const std::uint64_t key, varint());
    field.tag = static_cast<std::uint32_t>(key >> 3);
    switch (key & 7) {
      case 0: {
        TRY(field.number, varint());
        return field;
      }
      case 1: return fixed(field, 8);
      case 2: {
        TRY(const std::uint64_t size, varint());
        if (size > rest_.size())
          return fail(Errc::bad_input, "a field of {} bytes is cut off after {}", size, rest_.size());
        field.bytes = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return field;
      }
      case 5: return fixed(field, 4);
      default:
        return fail(Errc::bad_input, "a field has wire type {}, which SentencePiece does not use", key & 7);
    }
  }

 private:
  Result<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return fail(Errc::bad_input, "a number is cut off or too long");
  }

  Result<Field> fixed(Field field, std::size_t size) {
    if (rest_.size() < size) return fail(Errc::bad_input, "a number is cut off");
    std::memcpy(&field.number, rest_.data(), size);
    rest_.remove_prefix(size);
    return field;
  }

  std::string_view rest_;
};

struct Trainer {
  std::uint64_t model_type = 1;
};
struct Normal {
  std::string name;
  bool has_map = false, dummy_prefix = true, collapse = true;
};

Result<SpmPiece> read_piece(std::string_view bytes) {
  SpmPiece piece;
  for (Message message(bytes); message.more();) {
    TRY(const Field field, message.next());
    if (field.tag == 1) piece.text = field.bytes;
    if (field.tag == 2) piece.score = std::bit_cast<float>(static_cast<std::uint32_t>(field.number));
    if (field.tag == 3) piece.type = static_cast<SpmType>(std::min<std::uint64_t>(field.number, 7));
  }
  return piece;
}

}  // namespace

Result<Definition> read_sentencepiece(std::string_view file) {
  std::vector<SpmPiece> pieces;
  Trainer trainer;
  Normal normal;
  for (Message message(file); message.more();) {
    TRY(const Field field, message.next());
    if (field.tag == 1) {
      TRY(auto piece, read_piece(field.bytes));
      pieces.push_back(std::move(piece));
    } else if (field.tag == 2) {
      for (Message inner(field.bytes); inner.more();) {
        TRY(const Field f, inner.next());
        if (f.tag == 3) trainer.model_type = f.number;
      }
    } else if (field.tag == 3) {
      for (Message inner(field.bytes); inner.more();) {
        TRY(const Field f, inner.next());
        if (f.tag == 1) normal.name = f.bytes;
        if (f.tag == 2) normal.has_map = !f.bytes.empty();
        if (f.tag == 3) normal.dummy_prefix = f.number != 0;
        if (f.tag == 4) normal.collapse = f.number != 0;
      }
    }
  }
  if (pieces.empty()) return fail(Errc::bad_input, "this is not a SentencePiece model: it has no pieces");
  if (trainer.model_type != 1 && trainer.model_type != 2)
    return fail(Errc::unsupported,
                "a SentencePiece model of words or characters is not supported, only BPE and unigram");
  Definition definition = from_spm_pieces(pieces, trainer.model_type == 1);
  definition.normalizer.prefix_space = normal.dummy_prefix;
  definition.normalizer.prefix_first_only = true;
  definition.normalizer.collapse_spaces = normal.collapse;
  if (normal.has_map && normal.name != "identity")
    definition.normalizer.form =
        normal.name == "nmt_nfkc" ? Normalizer::Form::nmt_nfkc : Normalizer::Form::nfkc;
  return definition;
}

Definition from_spm_pieces(const std::vector<SpmPiece>& pieces, bool unigram) {
  Definition definition;
  definition.kind = unigram ? ModelKind::unigram : ModelKind::bpe_chars;
  definition.info.kind = unigram ? "unigram" : "SentencePiece BPE";
  definition.by_rank = true;
  definition.splitter = Splitter::seams;
  definition.normalizer.bar_is_space = true;
  for (TokenId id = 0; id < pieces.size(); ++id) {
    const SpmPiece& piece = pieces[id];
    std::string text = piece.text;
    for (std::size_t at = text.find(space_mark); at != std::string::npos; at = text.find(space_mark, at + 1))
      text.replace(at, space_mark.size(), " ");
    switch (piece.type) {
      case SpmType::unknown: definition.unknown = id; break;
      case SpmType::control:
        definition.added.push_back({.text = piece.text, .id = id, .special = true});
        break;
      case SpmType::user_defined: definition.added.push_back({.text = text, .id = id}); break;
      case SpmType::byte:
        if (piece.text.size() == 6)
          definition.byte_tokens[static_cast<std::size_t>(std::strtoul(piece.text.c_str() + 3, nullptr, 16)) &
                                 0xff] = id;
        break;
      default: definition.tokens.push_back({std::move(text), id, piece.score}); break;
    }
  }
  // Merges by score, highest first; among equals the earlier piece.
  if (!unigram) std::ranges::stable_sort(definition.tokens, std::ranges::greater{}, &VocabularyEntry::score);
  definition.info.takes_any_bytes = definition.byte_tokens[0] >= 0;
  definition.fuse_unknown = true;
  return definition;
}

}  // namespace plimsoll::count
