// JSON Schemas of requests and replies. Requests may have more fields; unknown fields are passed on
// to the upstream.
#include "base/json/parse_json.hpp"
#include "gateway/openapi.hpp"

namespace plimsoll::gateway {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* requests = R"json({
"Message": {"type": "object", "required": ["role"], "properties": {
  "role": {"type": "string", "examples": ["user"]},
  "content": {"description": "Text, or a list of parts.", "anyOf": [{"type": "string"}, {"type": "array"}, {"type": "null"}]}}},
"Given": {"type": "array", "items": {"type": "object", "required": ["text"], "properties": {
  "text": {"type": "string"}, "id": {"type": ["string", "null"]}, "importance": {"type": ["number", "null"]}, "score": {"type": ["number", "null"]}}}},
"Wishes": {"type": "object", "description": "Options for the planner.", "additionalProperties": false, "properties": {
  "policy": {"enum": ["balanced", "history", "documents", "answer", "strict", "document-chat", null]},
  "order": {"enum": ["document", "best-first", "best-last", "both-ends", null]},
  "strategy": {"enum": ["STUFF", "HYBRID", "RAG", "RAG+GRAPH", null], "description": "What to do with the documents of an index; by rule if not given."},
  "budget": {"type": ["integer", "null"], "minimum": 0, "maximum": 1000000000000, "description": "Most tokens of passages."},
  "thinking": {"type": ["integer", "null"], "minimum": 0, "maximum": 1000000000000, "description": "Tokens reserved for thinking."},
  "explain": {"type": ["boolean", "null"]}, "check": {"type": ["boolean", "null"]}, "memory": {"type": ["boolean", "null"]}, "recall": {"type": ["boolean", "null"]}, "compress": {"type": ["boolean", "null"]},
  "session": {"type": ["string", "null"]},
  "passages": {"anyOf": [{"$ref": "#/components/schemas/Given"}, {"type": "null"}]},
  "memories": {"anyOf": [{"$ref": "#/components/schemas/Given"}, {"type": "null"}]},
  "fallback": {"description": "Whether a larger model may answer, or which ones.", "anyOf": [
    {"type": "boolean"}, {"type": "null"}, {"type": "array", "items": {"type": "string", "minLength": 1}}]}}},
"Chat": {"type": "object", "required": ["messages"], "properties": {
  "model": {"type": "string", "description": "MODEL, UPSTREAM/MODEL or MODEL+INDEX"},
  "messages": {"type": "array", "minItems": 1, "items": {"$ref": "#/components/schemas/Message"}},
  "max_tokens": {"type": "integer", "minimum": 1}, "stream": {"type": "boolean"},
  "index_name": {"type": "string", "description": "Index to search for passages."},
  "context_token_ratio": {"type": "number", "minimum": 0.2, "maximum": 0.8},
  "plimsoll": {"$ref": "#/components/schemas/Wishes"}}},
"Completion": {"type": "object", "required": ["prompt"], "properties": {
  "model": {"type": "string"}, "prompt": {"type": "string"}, "max_tokens": {"type": "integer", "minimum": 1},
  "stream": {"type": "boolean"}}},
"Responses": {"type": "object", "required": ["input"], "properties": {
  "model": {"type": "string", "description": "MODEL, UPSTREAM/MODEL or MODEL+INDEX"},
  "input": {"description": "Text, or a list of items.", "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "object"}}]},
  "instructions": {"type": ["string", "null"]}, "previous_response_id": {"type": ["string", "null"]},
  "max_output_tokens": {"type": ["integer", "null"], "minimum": 1}, "store": {"type": ["boolean", "null"]}, "stream": {"type": ["boolean", "null"]},
  "index_name": {"type": "string", "description": "Index to search for passages."},
  "plimsoll": {"$ref": "#/components/schemas/Wishes"}}},
"Messages": {"type": "object", "required": ["messages", "max_tokens"], "properties": {
  "model": {"type": "string", "description": "MODEL, UPSTREAM/MODEL or MODEL+INDEX"}, "max_tokens": {"type": "integer", "minimum": 1},
  "system": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "object"}}]},
  "messages": {"type": "array", "minItems": 1, "items": {"$ref": "#/components/schemas/Message"}}, "stream": {"type": "boolean"},
  "index_name": {"type": "string", "description": "Index to search for passages."}, "plimsoll": {"$ref": "#/components/schemas/Wishes"}}},
"MessagesCount": {"type": "object", "required": ["messages"], "properties": {
  "model": {"type": "string"}, "messages": {"type": "array", "minItems": 1, "items": {"$ref": "#/components/schemas/Message"}}}},
"Embedding": {"type": "object", "required": ["input"], "properties": {
  "model": {"type": "string", "examples": ["all-minilm-l6-v2"]},
  "input": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
  "encoding_format": {"enum": ["float", "base64"]}}},
"Count": {"type": "object", "properties": {
  "model": {"type": "string"}, "tokenizer": {"type": "string"}, "text": {"type": "string"},
  "messages": {"type": "array", "items": {"$ref": "#/components/schemas/Message"}}}},
"Strategy": {"type": "object", "required": ["query"], "properties": {
  "query": {"type": "string"}, "model": {"type": "string"}, "char_count": {"type": "integer", "minimum": 0}}},
"Document": {"type": "object", "required": ["text"], "properties": {
  "text": {"type": "string"}, "metadata": {"type": "object"}}},
"Index": {"type": "object", "required": ["index_name", "documents"], "properties": {
  "index_name": {"type": "string"}, "documents": {"type": "array", "items": {"$ref": "#/components/schemas/Document"}}}},
"Updates": {"type": "object", "required": ["documents"], "properties": {"documents": {"type": "array", "items": {
  "type": "object", "required": ["doc_id", "text"], "properties": {
    "doc_id": {"type": "string"}, "text": {"type": "string"}, "metadata": {"type": "object"}}}}}},
"Deletions": {"type": "object", "required": ["doc_ids"], "properties": {
  "doc_ids": {"type": "array", "items": {"type": "string"}}}},
"Retrieve": {"type": "object", "required": ["index_name", "query"], "properties": {
  "index_name": {"type": "string"}, "query": {"type": "string"},
  "max_node_count": {"type": "integer", "minimum": 1, "maximum": 300}, "metadata_filter": {"type": "object"}}},
"OllamaChat": {"type": "object", "required": ["model"], "properties": {
  "model": {"type": "string"}, "messages": {"type": "array", "items": {"$ref": "#/components/schemas/Message"}},
  "stream": {"type": "boolean"}, "options": {"type": "object"}}},
"OllamaGenerate": {"type": "object", "required": ["model"], "properties": {
  "model": {"type": "string"}, "prompt": {"type": "string"}, "stream": {"type": "boolean"}, "options": {"type": "object"}}},
"OllamaEmbed": {"type": "object", "required": ["model"], "properties": {
  "model": {"type": "string"}, "input": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}}},
"OllamaModel": {"type": "object", "required": ["model"], "properties": {"model": {"type": "string"}}},
"Rpc": {"type": "object", "description": "A JSON-RPC 2.0 message of MCP.", "required": ["jsonrpc", "method"],
  "properties": {"jsonrpc": {"const": "2.0"}, "id": {"type": ["integer", "string"]}, "method": {"type": "string"},
    "params": {"type": "object"}}},
"ChatMessage": {"type": "object", "required": ["message"], "properties": {
  "message": {"type": "string"}, "collection_id": {"type": "string"}, "model_name": {"type": "string"},
  "session_id": {"type": "string"}, "top_k": {"type": "integer", "minimum": 1}, "stream": {"type": "boolean"},
  "system_prompt": {"type": "string"}, "chat_history": {"type": "array", "items": {"type": "object"}},
  "plimsoll": {"type": "object", "properties": {"strategy": {"enum": ["STUFF", "HYBRID", "RAG", "RAG+GRAPH", null],
    "description": "What to do with the documents of the collection; by rule if not given."}}}}},
"Search": {"type": "object", "required": ["query", "collection_id"], "properties": {
  "query": {"type": "string"}, "collection_id": {"type": "string"}, "model_name": {"type": "string"},
  "top_k": {"type": "integer", "minimum": 1}, "system_prompt": {"type": "string"},
  "chat_history": {"type": "array", "items": {"type": "object"}}}},
"Evaluation": {"type": "object", "required": ["collection_id", "questions"], "properties": {
  "collection_id": {"type": "string"}, "questions": {"type": "array", "items": {"type": "string"}},
  "llm_model": {"type": "string"}, "user_id": {"type": "string"}}},
"NewMemory": {"type": "object", "required": ["text"], "additionalProperties": false, "properties": {
  "text": {"type": "string", "minLength": 1, "maxLength": 4000}, "session": {"type": "string", "maxLength": 200},
  "importance": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.7},
  "trust": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.5}, "source": {"type": "string", "maxLength": 60}}},
"BudgetSearch": {"type": "object", "required": ["index", "query"], "additionalProperties": false, "properties": {
  "index": {"type": "string"}, "query": {"type": "string"}, "budget": {"type": "integer", "minimum": 1, "description": "Most tokens of passages."},
  "filter": {"type": "object"}}},
"MemoryFeedback": {"type": "object", "required": ["helpful"], "additionalProperties": false, "properties": {
  "helpful": {"type": "boolean"}}},
"Upload": {"type": "object", "properties": {
  "collection_id": {"type": "string"}, "metadata": {"type": "string", "description": "A JSON object."},
  "file": {"type": "array", "items": {"type": "string", "format": "binary"}}}}
})json";

constexpr const char* replies = R"json({
"Error": {"type": "object", "description": "OpenAI's `error`, RAGEngine's `detail`, Ollama's `error`: by the route.", "anyOf": [
  {"required": ["detail"]}, {"required": ["error"]}]},
"Answer": {"type": "object", "properties": {"plimsoll": {"type": "object"}, "source_nodes": {"type": ["array", "null"]}}},
"MessageAnswer": {"type": "object", "required": ["type", "content"]},
"Response": {"type": "object", "properties": {"id": {"type": "string"}, "object": {"type": "string"}, "output": {"type": "array"}}},
"OllamaAnswer": {"type": "object", "required": ["model", "done"]},
"Models": {"type": "object", "required": ["object", "data"], "properties": {"object": {"const": "list"}, "data": {"type": "array", "items": {
  "type": "object", "required": ["id"]}}}},
"Plan": {"type": "object", "required": ["window"]},
"Counted": {"type": "object", "required": ["tokens"], "properties": {"tokens": {"type": "integer", "minimum": 0}}},
"Names": {"type": "array", "items": {"type": "string"}},
"Documents": {"type": "array", "items": {"type": "object", "required": ["doc_id", "text"]}},
"DocumentPage": {"type": "object", "required": ["documents", "count", "total_items"], "properties": {
  "documents": {"type": "array"}, "count": {"type": "integer"}, "total_items": {"type": "integer"}}},
"Retrieved": {"type": "object", "required": ["query", "results", "count"], "properties": {"results": {"type": "array"}}},
"Found": {"type": "object", "required": ["index", "passages", "tokens", "budget"], "properties": {"passages": {"type": "array"},
  "tokens": {"type": "integer"}, "budget": {"type": "integer"}}},
"TraceSummary": {"type": "object", "required": ["id", "at_ms", "asked_model", "model", "status", "window", "sections", "us"], "properties": {
  "id": {"type": "string"}, "at_ms": {"type": "integer"}, "status": {"type": "integer"}, "window": {"type": "integer"},
  "drift": {"type": ["integer", "null"]}, "upstream_cut_tokens": {"type": "integer"}, "pressure": {"type": "number"}, "strategy": {"type": "string"},
  "sections": {"type": "array", "items": {"type": "object", "required": ["name", "grant", "used"]}}}},
"Traces": {"type": "object", "required": ["object", "data"], "properties": {"object": {"const": "list"}, "data": {
  "type": "array", "items": {"$ref": "#/components/schemas/TraceSummary"}}}},
"Trace": {"type": "object", "required": ["schema", "id", "at_ms", "model", "status", "plan"]},
"Account": {"type": "object", "required": ["version", "owner", "keeps_prompts", "key"], "properties": {"key": {"type": ["object", "null"]}}},
"Usage": {"type": "object", "required": ["by", "first_day", "last_day", "data"], "properties": {"data": {"type": "array", "items": {
  "type": "object", "required": ["group", "section", "tokens", "requests"]}}}},
"IndexList": {"type": "object", "required": ["object", "data"], "properties": {"data": {"type": "array", "items": {
  "type": "object", "required": ["name", "documents", "chunks", "tokens"]}}}},
"DocumentList": {"type": "object", "required": ["object", "total", "data"], "properties": {"data": {"type": "array", "items": {
  "type": "object", "required": ["document", "tokens", "chunks", "cursor"]}}}},
"NameGraph": {"type": "object", "required": ["names"], "properties": {"names": {"type": "array", "items": {
  "type": "object", "required": ["name", "chunks"]}}}},
"EvaluationList": {"type": "object", "required": ["object", "data"], "properties": {"data": {"type": "array", "items": {
  "type": "object", "required": ["run_id", "status", "done", "created_ms"]}}}},
"DocumentText": {"type": "object", "required": ["document", "before", "passage", "after", "is_cut"]},
"RpcReply": {"type": ["object", "array"], "description": "A list if a list of messages was sent."},
"Memory": {"type": "object", "required": ["id", "text", "importance", "trust", "created_ms", "updated_ms", "source"], "properties": {
  "id": {"type": "string"}, "text": {"type": "string"}, "session": {"type": ["string", "null"]},
  "importance": {"type": "number"}, "trust": {"type": "number", "minimum": 0, "maximum": 1}}},
"Memories": {"type": "object", "required": ["object", "data"], "properties": {"object": {"const": "list"}, "data": {
  "type": "array", "items": {"$ref": "#/components/schemas/Memory"}}}},
"Said": {"type": "object", "required": ["message"], "properties": {"message": {"type": "string"}}}
})json";

constexpr const char* parameters = R"json({
"limit": {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10}},
"offset": {"name": "offset", "in": "query", "schema": {"type": "integer", "minimum": 0, "default": 0}},
"max_text_length": {"name": "max_text_length", "in": "query", "schema": {"type": "integer", "minimum": 1, "default": 1000}},
"metadata_filter": {"name": "metadata_filter", "in": "query", "description": "A JSON object.", "schema": {"type": "string"}},
"path": {"name": "path", "in": "query", "description": "A folder below the snapshot folder.", "schema": {"type": "string"}},
"overwrite": {"name": "overwrite", "in": "query", "schema": {"type": "boolean", "default": false}},
"sessions": {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}},
"many": {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 20}},
"query": {"name": "query", "in": "query", "description": "The query.", "schema": {"type": "string"}},
"session": {"name": "session", "in": "query", "description": "Only of this conversation.", "schema": {"type": "string"}},
"traces": {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 500, "default": 50}},
"most": {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}},
"after": {"name": "after", "in": "query", "description": "Only requests with ids above this one.", "schema": {"type": "string"}},
"cursor": {"name": "after", "in": "query", "description": "Only documents after this cursor.", "schema": {"type": "integer", "minimum": 0, "default": 0}},
"days": {"name": "days", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 3650, "default": 30}},
"by": {"name": "by", "in": "query", "schema": {"enum": ["day", "model", "section"], "default": "day"}},
"entity": {"name": "entity", "in": "query", "description": "A name in the documents; without it, the most frequent names.", "schema": {"type": "string"}},
"document": {"name": "document", "in": "query", "required": true, "schema": {"type": "string"}},
"start": {"name": "start", "in": "query", "description": "First byte of a passage, in the file.", "schema": {"type": "integer", "minimum": 0, "default": 0}},
"end": {"name": "end", "in": "query", "description": "Byte after the passage.", "schema": {"type": "integer", "minimum": 0, "default": 0}},
"window": {"name": "window", "in": "query", "description": "Plan for at most this window.", "schema": {"type": "integer", "minimum": 1, "maximum": 1000000000}},
"render": {"name": "render", "in": "query", "description": "Also return the prompt as the model reads it.", "schema": {"type": "boolean", "default": false}},
"wait": {"name": "wait", "in": "query", "description": "Wait until the upload is finished.", "schema": {"type": "boolean", "default": false}}
})json";

}  // namespace

Json openapi_schemas() {
  Json all = base::parse_json(requests);
  all.update(base::parse_json(replies));
  return all;
}

Json openapi_parameters() {
  return base::parse_json(parameters);
}

}  // namespace plimsoll::gateway
