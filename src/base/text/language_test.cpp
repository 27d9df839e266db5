#include "base/text/language.hpp"

#include <gtest/gtest.h>

#include "base/text/words.hpp"

namespace plimsoll::base {
namespace {

TEST(Language, IsDetectedByCommonWordsAndScript) {
  const std::pair<TextLanguage, const char*> texts[] = {
      {TextLanguage::english, "The mate weighs the cargo before it is stowed."},
      {TextLanguage::german, "Wie wird das Netzwerk der Rechner eingerichtet?"},
      {TextLanguage::french, "Comment configurer le réseau de la machine ?"},
      {TextLanguage::spanish, "¿Cómo se configura la red de los equipos?"},
      {TextLanguage::italian, "Come si configura la rete della macchina?"},
      {TextLanguage::portuguese, "Como se faz a configuração da rede e dos computadores?"},
      {TextLanguage::dutch, "Hoe wordt het netwerk van de computer ingesteld?"},
      {TextLanguage::swedish,
       "Hur ställer man in nätverket och skrivaren på en dator som inte har en skärm?"},
      {TextLanguage::finnish,
       "Miten verkko ja tulostin otetaan käyttöön, jos ne eivät ole samassa koneessa?"},
      {TextLanguage::russian, "Как настроить сеть и что для этого нужно?"},
      {TextLanguage::greek, "Πώς ρυθμίζεται το δίκτυο;"},
      {TextLanguage::arabic, "كيف يتم إعداد الشبكة"},
  };
  for (const auto& [language, text] : texts) EXPECT_EQ(language_of(text), language) << text;
}

TEST(Language, IsNotGuessed) {
  for (const char* text : {"", "npm prune", "ネットワークの設定", "12 345 678"})
    EXPECT_EQ(language_of(text), std::nullopt) << text;
}

std::string stem(TextLanguage language, std::string_view word) {
  WordScanner scanner(word);
  EXPECT_TRUE(scanner.next());
  return std::string(stem_word(scanner.written(), scanner.folded(), language).stem);
}

TEST(Language, EndingsAreRemovedWithTheirAccentsAndStemsAreFolded) {
  using enum TextLanguage;
  EXPECT_EQ(stem(german, "Netzwerkkarten"), stem(german, "Netzwerkkarte"));
  EXPECT_EQ(stem(german, "Häuser"), stem(german, "Haus"));
  EXPECT_EQ(stem(german, "Größe"), "gross");
  EXPECT_EQ(stem(french, "configurées"), stem(french, "configurer"));
  EXPECT_EQ(stem(french, "CONFIGURÉES"), stem(french, "configurer"));
  EXPECT_EQ(stem(spanish, "configuración"), stem(spanish, "configuraciones"));
  EXPECT_EQ(stem(russian, "сетевые"), stem(russian, "сетевых"));
  EXPECT_EQ(stem(english, "configurations"), "configur");
  EXPECT_EQ(stem(french,
                 "re\xCC\x81"
                 "seaux"),
            stem(french, "r\xC3\xA9seaux"))
      << "decomposed";
  EXPECT_EQ(stem(german, "i386er"), "i386er");
  EXPECT_TRUE(stem_word("für", "fur", german).stop);
  EXPECT_FALSE(stem_word("Fur", "fur", english).stop);
}

}  // namespace
}  // namespace plimsoll::base
