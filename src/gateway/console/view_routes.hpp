// What the console shows besides traces: who asks, usage, indexes and the texts of documents.
#pragma once

#include "gateway/router.hpp"
#include "library/open_indexes.hpp"
#include "plimsoll/keys.hpp"

namespace plimsoll::gateway {

struct ViewContext {
  KeyStore* keys = nullptr;                 // null: no account and no usage
  library::OpenIndexes* indexes = nullptr;  // null: no documents
  bool keeps_prompts = false;               // in traces
  std::string version{};
};

class ViewRoutes {
 public:
  explicit ViewRoutes(ViewContext context) : context_(std::move(context)) {}

  void add_routes(Router& router) const;

 private:
  // These functions block.
  Result<JsonAnswer> account(const ClientRequest& request, const std::string&, Deadline) const;
  Result<JsonAnswer> usage(const ClientRequest& request, const std::string&, Deadline) const;
  Result<JsonAnswer> indexes(const ClientRequest& request, const std::string&, Deadline) const;
  Result<JsonAnswer> documents(const ClientRequest& request, const std::string& index, Deadline) const;
  Result<JsonAnswer> names(const ClientRequest& request, const std::string& index, Deadline) const;
  Result<JsonAnswer> text(const ClientRequest& request, const std::string& index, Deadline) const;

  Store& documents_store() const { return context_.indexes->store(); }

  ViewContext context_;
};

}  // namespace plimsoll::gateway
