#include "base/text/language.hpp"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "base/text/words.hpp"

namespace plimsoll::base {
namespace {

using LanguageBits = std::uint32_t;

struct CommonWords {
  TextLanguage language;
  std::string_view words;  // folded: lower case, without accents
};

// Articles, pronouns, prepositions, conjunctions and auxiliaries. Written from general knowledge of each
// language.
constexpr std::array<CommonWords, 15> common_words{{
    {TextLanguage::english,
     "the of and to in is that for it as was with be on not he his but at are this have from or had by which "
     "you were "
     "they one all their there been if would who will what when we can more has how does do did an my its "
     "your our why "
     "where these those than into could should about after"},
    {TextLanguage::german,
     "der die das den dem des ein eine einen einem einer eines und oder aber nicht kein keine ist sind war "
     "waren wird "
     "werden wurde wurden hat haben hatte sein ich du er sie es wir ihr ihn ihm ihnen man sich mich mir uns "
     "mit von vom "
     "zu zum zur bei beim nach aus auf fur uber unter vor zwischen durch gegen ohne um als wie wenn dass ob "
     "weil auch "
     "noch nur schon sehr mehr was wer wo wann warum welche welcher welches kann konnen muss mussen soll "
     "sollte dieser "
     "diese dieses diesem diesen jede jeder im am ins ans da dann so bis dort hier seine ihre ihren seiner "
     "ihrer"},
    {TextLanguage::french,
     "le la les un une des du de au aux et ou mais ne pas plus que qui quoi dont est sont etait etaient etre "
     "ete avoir "
     "ont avait je tu il elle nous vous ils elles on se ce cet cette ces son sa ses leur leurs mon ma mes "
     "notre votre "
     "dans par pour sur sous avec sans entre vers chez comme si quand comment pourquoi quel quelle quels "
     "quelles lors "
     "ainsi aussi tres peut peuvent faire fait d l s c n j m t qu en y a cela ceci donc afin tout tous toute "
     "toutes"},
    {TextLanguage::spanish,
     "el la los las un una unos unas de del al y o pero no que quien cual cuales es son era eran ser sido "
     "estar esta "
     "estan ha han habia yo tu ella nosotros ellos ellas se su sus mi mis nuestro nuestra este estos estas "
     "ese esa esos "
     "aquel lo le les me te en por para con sin sobre entre hasta desde como si cuando donde porque tambien "
     "mas muy "
     "puede pueden hacer hay cada todo todos toda todas segun"},
    {TextLanguage::italian,
     "il lo la i gli le l un uno una di d del dello della dei degli delle al allo alla ai agli alle dal "
     "dalla dai dalle nel "
     "nella nei nelle sul sulla sui sulle e ed o ma non che chi cui quale quali sono era erano essere stato "
     "stata ha "
     "hanno aveva io tu lui lei noi voi loro si suo sua suoi sue questo questa questi queste quello quella "
     "in con per "
     "tra fra su da come se quando dove perche anche piu molto puo possono fare ogni tutto tutti tutte dell "
     "nell"},
    {TextLanguage::portuguese,
     "o a os as um uma uns umas de do da dos das no na nos nas ao aos pelo pela pelos pelas e ou mas nao que "
     "quem qual "
     "quais sao era eram ser sido estar esta estao foi foram tem tinha eu tu ele ela nos vos eles elas se "
     "seu sua seus "
     "suas este isto esse isso aquele em por para com sem sobre entre ate desde como quando onde porque "
     "tambem mais "
     "muito pode podem fazer ha cada todo todos toda todas"},
    {TextLanguage::dutch,
     "de het een en of maar niet geen is zijn was waren wordt worden werd werden heeft hebben had ik jij hij "
     "zij wij "
     "jullie ze zich mij ons hun haar met van voor naar uit op over onder tussen door tegen zonder om als "
     "wanneer dat "
     "die dit deze wie wat waar waarom welke kan kunnen moet moeten zal zou ook nog al zeer meer bij tot er "
     "dan dus te "
     "aan hoe"},
    {TextLanguage::swedish,
     "och att det som en ett den de ar var inte pa med for av till fran om men eller har hade kan ska skall "
     "vill jag du "
     "han hon vi ni sig sin sitt sina vid under mellan genom utan mot efter nar hur vad vem vilken vilket "
     "vilka detta "
     "denna dessa ocksa mycket mer alla fran blir blev vara varit sa"},
    {TextLanguage::danish,
     "og at det som en et den de er var ikke pa med for af til fra om men eller har havde kan skal vil jeg "
     "du han hun "
     "vi sig sin sit sine ved under mellem gennem uden mod efter nar hvordan hvad hvem hvilken hvilket "
     "hvilke dette "
     "denne disse ogsa meget mere alle blev bliver vaere vaeret"},
    {TextLanguage::norwegian,
     "og det som en et den de er var ikke pa med for av til fra om men eller har hadde kan skal vil jeg du "
     "han hun vi "
     "seg sin sitt sine ved under mellom gjennom uten mot etter nar hvordan hva hvem hvilken hvilket hvilke "
     "dette "
     "denne disse ogsa mye mer alle ble blir vaere vaert a"},
    {TextLanguage::finnish,
     "ja on ei se etta oli ovat eivat olla ollut mutta tai kun jos niin myos kuin han mina sina me te he "
     "joka jotka "
     "jonka mika mita missa milloin miksi miten kuka tama taman nama siina sen sita ne niiden kanssa ilman "
     "ennen jalkeen "
     "voi voidaan vain hyvin enemman kaikki"},
    {TextLanguage::romanian,
     "si in la cu de pe din pentru este sunt era erau fi fost nu ca ce care cine cand unde cum sau dar un o "
     "unui unei "
     "al ai ale lui ei lor acest aceasta aceste acesti acel acea prin fara intre pana dupa mai foarte poate "
     "pot avea are "
     "au eu tu el ea noi voi se isi sa"},
    {TextLanguage::hungarian,
     "a az egy es vagy de nem hogy van vannak volt voltak lesz lenni ez ezek azok ami aki amely mi ki hol "
     "mikor miert "
     "hogyan melyik csak is meg mar nagyon tobb minden en te o mi ti ok neki vele nelkul kozott alatt utan "
     "elott ha "
     "mint kell lehet ennek annak"},
    {TextLanguage::turkish,
     "ve bir bu da de ile icin ne gibi olarak daha cok en o ben sen biz siz onlar degil var yok mi mu ama "
     "veya ya ki "
     "kadar sonra once nasil neden nerede hangi kim olan oldugu olur her icinde uzerinde tarafindan ise "
     "sadece"},
    {TextLanguage::russian,
     "и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот "
     "от меня еще "
     "нет о из ему для это мы их или при был была были быть есть если когда где кто почему какой какая какие "
     "который "
     "которая которые также может могут этого этой чем до без под над между"},
}};

class CommonWordTable {
 public:
  CommonWordTable() {
    for (const CommonWords& each : common_words) {
      for (std::string_view rest = each.words; !rest.empty();) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        bits_[rest.substr(0, end)] |= LanguageBits{1} << static_cast<unsigned>(each.language);
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    }
  }
  LanguageBits of(std::string_view word) const {
    const auto found = bits_.find(word);
    return found == bits_.end() ? 0 : found->second;
  }

 private:
  std::unordered_map<std::string_view, LanguageBits> bits_;
};

const CommonWordTable& table() {
  static const CommonWordTable words;
  return words;
}

// Greek and Arabic have a script of their own.
std::optional<TextLanguage> by_script(std::string_view word) {
  const auto first = static_cast<unsigned char>(word.front());
  if (first == 0xCE || first == 0xCF) return TextLanguage::greek;
  if (first >= 0xD8 && first <= 0xDB) return TextLanguage::arabic;
  return std::nullopt;
}

}  // namespace

std::string_view name_of(TextLanguage language) {
  constexpr std::array<std::string_view, text_languages> names{
      "english",   "german",  "french",   "spanish",   "italian", "portuguese", "dutch", "swedish", "danish",
      "norwegian", "finnish", "romanian", "hungarian", "turkish", "russian",    "greek", "arabic"};
  return names[static_cast<std::size_t>(language)];
}

std::optional<TextLanguage> language_of(std::string_view text, std::size_t most_words) {
  std::array<std::size_t, text_languages> hits{};
  std::size_t words = 0;
  for (WordScanner scanner(text); words < most_words && scanner.next(); ++words) {
    if (const auto script = by_script(scanner.folded())) ++hits[static_cast<std::size_t>(*script)];
    for (LanguageBits bits = table().of(scanner.folded()); bits != 0; bits &= bits - 1)
      ++hits[static_cast<std::size_t>(std::countr_zero(bits))];
  }
  const auto best = std::ranges::max_element(hits);
  std::size_t second = 0;
  for (auto each = hits.begin(); each != hits.end(); ++each)
    if (each != best) second = std::max(second, *each);
  // A long text has many; a table or a listing in between has few, which decide nothing.
  constexpr std::size_t least_share = 12;
  if (*best == 0 || *best * least_share < words || *best * 4 < second * 5) return std::nullopt;
  return static_cast<TextLanguage>(best - hits.begin());
}

bool is_common_word(TextLanguage language, std::string_view folded) {
  return (table().of(folded) >> static_cast<unsigned>(language) & 1) != 0;
}

}  // namespace plimsoll::base
