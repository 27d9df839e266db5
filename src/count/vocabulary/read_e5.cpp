#include "base/try.hpp"
#include "base/weights/e5_file.hpp"
#include "count/vocabulary/readers.hpp"
#include "count/vocabulary/spm_pieces.hpp"

namespace plimsoll::count {

Result<Definition> read_e5(std::string_view bytes) {
  TRY(const base::E5File file, base::read_e5_file(bytes));
  std::vector<SpmPiece> pieces;
  pieces.reserve(file.pieces.size());
  for (const base::E5Piece& piece : file.pieces)
    pieces.push_back({std::string(piece.text), piece.score, SpmType::normal});
  for (const std::uint32_t id : {file.begin, file.end, file.padding}) pieces[id].type = SpmType::control;
  pieces[file.unknown].type = SpmType::unknown;
  if (pieces.back().text == "<mask>") pieces.back().type = SpmType::control;  // of the training
  Definition definition = from_spm_pieces(pieces, /*unigram=*/true);
  definition.info.bos = pieces[file.begin].text;
  definition.info.eos = pieces[file.end].text;
  definition.normalizer.form = Normalizer::Form::nmt_nfkc;
  definition.normalizer.prefix_space = true;
  definition.normalizer.prefix_first_only = true;
  definition.normalizer.collapse_spaces = true;
  return definition;
}

}  // namespace plimsoll::count
