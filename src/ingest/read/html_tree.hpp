// Parses a page with gumbo in bounded memory and time, and finds its content.
#pragma once

#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <gumbo.h>

#include "ingest/read/bounded_arena.hpp"

namespace plimsoll::ingest {

// The tree lives as long as the arena and points into the text. Null: too much memory or time.
const GumboNode* parse_html(BoundedArena& arena, std::string_view text);

// enter(node) returns whether to visit its children; leave(node) is called for each entered node. Depth uses
// heap, not stack.
template <typename Enter, typename Leave>
void walk_html(const GumboNode* root, Enter enter, Leave leave);

std::string_view html_attribute(const GumboNode& element, const char* name);

// Scripts, styles and hidden elements.
bool is_never_shown(const GumboNode& element);
// Navigation and similar, by tag or role. `in_content`: below <main> or <article>.
bool is_beside_the_point(const GumboNode& element, bool in_content);
bool holds_content(const GumboNode& element);  // <main>, <article>
bool is_heading(GumboTag tag);

// Results of one pass over the whole page.
struct HtmlSurvey {
  std::size_t shown_bytes = 0;                              // of all visible text
  std::unordered_set<const GumboNode*> link_lists;          // boxes with little but links
  std::unordered_set<const GumboNode*> layout_tables;       // tables used for layout
  std::unordered_map<const GumboNode*, std::size_t> forms;  // bytes of text in each
};
HtmlSurvey survey_html(const GumboNode* root);

template <typename Enter, typename Leave>
void walk_html(const GumboNode* root, Enter enter, Leave leave) {
  struct Step {
    const GumboNode* node;
    unsigned child;
  };
  std::vector<Step> path;
  const auto go = [&](const GumboNode* node) {
    if (enter(*node)) path.push_back({node, 0});
  };
  go(root);
  while (!path.empty()) {
    Step& step = path.back();
    const bool element = step.node->type == GUMBO_NODE_ELEMENT || step.node->type == GUMBO_NODE_TEMPLATE;
    const GumboVector* const children = element ? &step.node->v.element.children : nullptr;
    if (children != nullptr && step.child < children->length) {
      go(static_cast<const GumboNode*>(children->data[step.child++]));
    } else {
      const GumboNode* const node = step.node;
      path.pop_back();
      leave(*node);
    }
  }
}

}  // namespace plimsoll::ingest
