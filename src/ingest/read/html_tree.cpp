#include "ingest/read/html_tree.hpp"

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <string>
#include <vector>

#include "base/text/text.hpp"

namespace plimsoll::ingest {

const GumboNode* parse_html(BoundedArena& arena, std::string_view text) {
  GumboOptions options = kGumboDefaultOptions;
  options.allocator = [](void* self, std::size_t bytes) {
    return static_cast<BoundedArena*>(self)->allocate(bytes);
  };
  options.deallocator = [](void*, void*) {};
  options.userdata = &arena;
  options.max_errors = 0;
  if (setjmp(arena.exhausted) != 0) return nullptr;  // NOLINT(cert-err52-cpp): out of C
  return gumbo_parse_with_options(&options, text.data(), text.size())->root;
}

std::string_view html_attribute(const GumboNode& element, const char* name) {
  const GumboAttribute* const attribute = gumbo_get_attribute(&element.v.element.attributes, name);
  return attribute == nullptr ? std::string_view{} : attribute->value;
}

bool holds_content(const GumboNode& element) {
  return element.v.element.tag == GUMBO_TAG_MAIN || element.v.element.tag == GUMBO_TAG_ARTICLE ||
         html_attribute(element, "role") == "main";
}

bool is_heading(GumboTag tag) {
  return tag >= GUMBO_TAG_H1 && tag <= GUMBO_TAG_H6;
}

bool is_never_shown(const GumboNode& element) {
  switch (element.v.element.tag) {
    case GUMBO_TAG_HEAD:
    case GUMBO_TAG_SCRIPT:
    case GUMBO_TAG_STYLE:
    case GUMBO_TAG_NOSCRIPT:
    case GUMBO_TAG_TEMPLATE:
    case GUMBO_TAG_SVG:
    case GUMBO_TAG_IFRAME:
    case GUMBO_TAG_OBJECT:
    case GUMBO_TAG_CANVAS:
    case GUMBO_TAG_AUDIO:
    case GUMBO_TAG_VIDEO:
    case GUMBO_TAG_SELECT:
    case GUMBO_TAG_BUTTON:
    case GUMBO_TAG_TEXTAREA:
    case GUMBO_TAG_DATALIST: return true;
    default: break;
  }
  if (gumbo_get_attribute(&element.v.element.attributes, "hidden") != nullptr) return true;
  if (html_attribute(element, "aria-hidden") == "true") return true;
  const std::string_view style = html_attribute(element, "style");
  if (style.empty() || style.size() > 4096) return false;
  std::string plain = base::to_lower_ascii(style);
  std::erase(plain, ' ');
  return plain.find("display:none") != std::string::npos ||
         plain.find("visibility:hidden") != std::string::npos;
}

bool is_beside_the_point(const GumboNode& element, bool in_content) {
  switch (element.v.element.tag) {
    case GUMBO_TAG_NAV:
    case GUMBO_TAG_FOOTER:
    case GUMBO_TAG_ASIDE: return true;
    case GUMBO_TAG_HEADER: return !in_content;  // an article's header has its title
    default: break;
  }
  const std::string_view role = html_attribute(element, "role");
  for (const std::string_view beside : {"navigation", "banner", "contentinfo", "search", "complementary",
                                        "menu", "menubar", "toolbar", "dialog"})
    if (role == beside) return true;
  return false;
}

namespace {

struct Sums {
  std::size_t text = 0;
  std::size_t link_text = 0;
  std::size_t links = 0;
  bool in_link = false;
};

struct Table {
  const GumboNode* node;
  std::size_t cells = 0;
  std::size_t rows = 0;
  bool places = false;  // has content that data cells do not have
};

std::size_t shown_bytes(const char* text) {
  const std::string_view all(text);
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](char c) { return c != ' ' && (c < '\t' || c > '\r'); }));
}

bool may_be_link_list(GumboTag tag) {
  return tag == GUMBO_TAG_UL || tag == GUMBO_TAG_OL || tag == GUMBO_TAG_DIV || tag == GUMBO_TAG_TABLE ||
         tag == GUMBO_TAG_SECTION || tag == GUMBO_TAG_P || tag == GUMBO_TAG_DL;
}

// Many short links and little else: menus, tag clouds, "see also". Long links are headlines, which users may
// search for.
bool is_link_list(const Sums& sums) {
  constexpr std::size_t least_links = 5;
  constexpr std::size_t longest_name = 30;
  return sums.links >= least_links && sums.link_text * 5 >= sums.text * 4 &&
         sums.link_text <= sums.links * longest_name;
}

class Surveyor {
 public:
  explicit Surveyor(HtmlSurvey& into) : into_(into) { sums_.emplace_back(); }

  bool enter(const GumboNode& node) {
    if (node.type == GUMBO_NODE_TEXT || node.type == GUMBO_NODE_CDATA) {
      const std::size_t bytes = shown_bytes(node.v.text.text);
      sums_.back().text += bytes;
      if (sums_.back().in_link) sums_.back().link_text += bytes;
      cell_bytes_ += bytes;
      if (cell_bytes_ > 1000 && !tables_.empty()) tables_.back().places = true;
      return false;
    }
    if (node.type != GUMBO_NODE_ELEMENT || is_never_shown(node)) return false;
    const GumboTag tag = node.v.element.tag;
    const bool link = tag == GUMBO_TAG_A;
    sums_.push_back({.links = link ? std::size_t{1} : 0, .in_link = sums_.back().in_link || link});
    if (tag == GUMBO_TAG_TABLE) {
      if (!tables_.empty()) tables_.back().places = true;
      tables_.push_back({.node = &node});
    } else if (!tables_.empty()) {
      Table& table = tables_.back();
      if (tag == GUMBO_TAG_TD || tag == GUMBO_TAG_TH) ++table.cells, cell_bytes_ = 0;
      if (tag == GUMBO_TAG_TR) ++table.rows;
      if (is_heading(tag) || tag == GUMBO_TAG_PRE || tag == GUMBO_TAG_FORM) table.places = true;
    }
    return true;
  }

  void leave(const GumboNode& node) {
    const Sums sums = sums_.back();
    sums_.pop_back();
    sums_.back().text += sums.text;
    sums_.back().link_text += sums.link_text;
    sums_.back().links += sums.links;
    const GumboTag tag = node.v.element.tag;
    if (may_be_link_list(tag) && is_link_list(sums)) into_.link_lists.insert(&node);
    if (tag == GUMBO_TAG_FORM) into_.forms.emplace(&node, sums.text);
    if (tag == GUMBO_TAG_TABLE && !tables_.empty()) {
      const Table& table = tables_.back();
      if (table.places || table.cells <= table.rows) into_.layout_tables.insert(table.node);
      tables_.pop_back();
      cell_bytes_ = 0;
    }
    into_.shown_bytes = sums_.front().text;
  }

 private:
  HtmlSurvey& into_;
  std::vector<Sums> sums_;
  std::vector<Table> tables_;
  std::size_t cell_bytes_ = 0;
};

}  // namespace

HtmlSurvey survey_html(const GumboNode* root) {
  HtmlSurvey survey;
  Surveyor surveyor(survey);
  walk_html(
      root, [&](const GumboNode& node) { return surveyor.enter(node); },
      [&](const GumboNode& node) { surveyor.leave(node); });
  return survey;
}

}  // namespace plimsoll::ingest
