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
"Answer": {"type": "object", "properties": {"plimsoll": {"$ref": "#/components/schemas/Report"}, "source_nodes": {"type": ["array", "null"]}}},
"MessageAnswer": {"type": "object", "required": ["type", "content"]},
"Response": {"type": "object", "properties": {"id": {"type": "string"}, "object": {"type": "string"}, "output": {"type": "array"}}},
"OllamaAnswer": {"type": "object", "required": ["model", "done"]},
"Counted": {"type": "object", "required": ["tokens"], "properties": {"tokens": {"type": "integer", "minimum": 0}}},
"Names": {"type": "array", "items": {"type": "string"}},
"Documents": {"type": "array", "items": {"type": "object", "required": ["doc_id", "text"]}},
"DocumentPage": {"type": "object", "required": ["documents", "count", "total_items"], "properties": {
  "documents": {"type": "array"}, "count": {"type": "integer"}, "total_items": {"type": "integer"}}},
"Retrieved": {"type": "object", "required": ["query", "results", "count"], "properties": {"results": {"type": "array"}}},
"RpcReply": {"type": ["object", "array"], "description": "A list if a list of messages was sent."},
"Said": {"type": "object", "required": ["message"], "properties": {"message": {"type": "string"}}}
})json";

// What the console reads. web/src/api/schemas.ts is made of these.
constexpr const char* console_replies = R"json({
"SectionShare": {"type": "object", "required": ["name", "grant", "used"], "properties": {
  "name": {"type": "string"}, "grant": {"type": "integer"}, "used": {"type": "integer"}}},
"PlanSection": {"type": "object", "required": ["name", "basis", "min", "max", "grow", "shrink", "grant", "used", "exactness"], "properties": {
  "name": {"type": "string"}, "basis": {"type": "integer"}, "min": {"type": "integer"}, "max": {"type": "integer"}, "grow": {"type": "number"},
  "shrink": {"type": "number"}, "grant": {"type": "integer"}, "used": {"type": "integer"}, "exactness": {"$ref": "#/components/schemas/Exactness"}}},
"Exactness": {"enum": ["exact", "calibrated", "estimated"]},
"Piece": {"type": "object", "required": ["section", "id", "tokens", "fate", "reason"], "properties": {
  "section": {"type": "string"}, "id": {"type": "string"}, "tokens": {"type": "integer"}, "fate": {"enum": ["kept", "dropped"]}, "reason": {"type": "string"}}},
"Window": {"type": "object", "required": ["tokens", "source", "confidence"], "properties": {
  "tokens": {"type": "integer"}, "source": {"type": "string"}, "confidence": {"type": "string"}, "served_now": {"type": "integer"},
  "tried": {"type": "array", "items": {"type": "object", "required": ["way", "result"], "properties": {"way": {"type": "string"}, "result": {"type": "string"}}}}}},
"PlanSummary": {"type": "object", "required": ["how", "turns", "messages", "tokens_before", "tokens_after", "replaces"], "properties": {
  "id": {"type": "string"}, "how": {"type": "string"}, "known": {"type": "boolean"}, "model": {"type": "string"}, "turns": {"type": "integer"},
  "messages": {"type": "integer"}, "replaces": {"type": "array", "items": {"type": "string"}}, "tokens_before": {"type": "integer"}, "tokens_after": {"type": "integer"}}},
"Plan": {"type": "object", "required": ["model", "window", "policy", "fits", "input_tokens", "thinking_tokens", "answer_tokens", "margin", "left", "pressure",
  "exactness", "why", "sections", "pieces", "strategy", "fallback", "warnings"], "properties": {
  "model": {"type": "string"}, "window": {"$ref": "#/components/schemas/Window"}, "policy": {"type": "string"}, "fits": {"type": "boolean"},
  "least_window": {"type": "integer", "description": "That would do, if the request does not fit."},
  "input_tokens": {"type": "integer"}, "thinking_tokens": {"type": "integer"}, "answer_tokens": {"type": "integer"}, "margin": {"type": "integer"},
  "left": {"type": "integer"}, "pressure": {"type": "number"}, "exactness": {"$ref": "#/components/schemas/Exactness"}, "why": {"type": "string"},
  "sections": {"type": "array", "items": {"$ref": "#/components/schemas/PlanSection"}}, "pieces": {"type": "array", "items": {"$ref": "#/components/schemas/Piece"}},
  "summary": {"$ref": "#/components/schemas/PlanSummary"},
  "strategy": {"type": "object", "required": ["strategy", "reasoning"], "properties": {"strategy": {"type": "string"}, "reasoning": {"type": "string"}}},
  "fallback": {"type": "object", "required": ["from", "to", "reason"], "properties": {"from": {"type": "string"}, "to": {"type": ["string", "null"]}, "reason": {"type": "string"}}},
  "rendered": {"$ref": "#/components/schemas/RenderedPrompt"},
  "warnings": {"type": "array", "items": {"type": "string"}}}},
"RenderedPrompt": {"type": "object", "description": "The prompt as the model reads it; without text where its template is not known.", "required": ["text", "why"], "properties": {
  "text": {"type": ["string", "null"]}, "end": {"type": "string"}, "bytes": {"type": "integer"}, "left_out_bytes": {"type": "integer"},
  "template": {"type": "string"}, "exactness": {"$ref": "#/components/schemas/Exactness"}, "why": {"type": ["string", "null"]}}},
"Cost": {"type": "object", "description": "By the list price; null with the reason if it is not known.", "required": ["nano_usd"], "properties": {
  "nano_usd": {"type": ["integer", "null"], "description": "Billionths of a US dollar."}, "why": {"type": "string"}}},
"ReportedUsage": {"type": "object", "required": ["input", "answer", "cached"], "properties": {
  "input": {"type": ["integer", "null"]}, "answer": {"type": ["integer", "null"]}, "thinking": {"type": ["integer", "null"]}, "cached": {"type": ["integer", "null"]},
  "written": {"type": ["integer", "null"]}}},
"Times": {"type": "object", "description": "Microseconds.", "required": ["plan", "retrieve", "first_byte", "total"], "properties": {
  "plan": {"type": "integer"}, "retrieve": {"type": "integer"}, "first_byte": {"type": "integer"}, "total": {"type": "integer"}}},
"BegunRequest": {"type": "object", "description": "The event `begun`.", "required": ["id", "at_ms", "session", "route", "asked_model"], "properties": {
  "id": {"type": "string"}, "at_ms": {"type": "integer"}, "session": {"type": "string"}, "route": {"type": "string"}, "asked_model": {"type": "string"}}},
"TraceSummary": {"type": "object", "required": ["id", "at_ms", "session", "route", "asked_model", "model", "upstream", "index", "stream", "changed", "status", "finish_reason",
  "window", "input_tokens", "thinking_tokens", "answer_tokens", "margin", "exactness", "usage", "drift", "upstream_cut_tokens", "us", "attempts", "has_plan", "left", "pressure",
  "policy", "strategy", "sections", "kept_pieces", "dropped_pieces", "summarised_messages"], "properties": {
  "id": {"type": "string"}, "at_ms": {"type": "integer"}, "session": {"type": "string"}, "route": {"type": "string"}, "asked_model": {"type": "string"},
  "model": {"type": "string"}, "upstream": {"type": "string"}, "index": {"type": "string"}, "stream": {"type": "boolean"}, "changed": {"type": "boolean"},
  "status": {"type": "integer"}, "error": {"type": "string"}, "finish_reason": {"type": "string"}, "window": {"type": "integer"}, "input_tokens": {"type": "integer"},
  "thinking_tokens": {"type": "integer"}, "answer_tokens": {"type": "integer"}, "margin": {"type": "integer"}, "exactness": {"$ref": "#/components/schemas/Exactness"},
  "usage": {"$ref": "#/components/schemas/ReportedUsage"}, "cost": {"$ref": "#/components/schemas/Cost"}, "drift": {"type": ["integer", "null"]},
  "upstream_cut_tokens": {"type": "integer"}, "us": {"$ref": "#/components/schemas/Times"}, "attempts": {"type": "integer"}, "has_plan": {"type": "boolean"},
  "left": {"type": "integer"}, "pressure": {"type": "number"}, "policy": {"type": "string"}, "strategy": {"type": "string"},
  "sections": {"type": "array", "items": {"$ref": "#/components/schemas/SectionShare"}}, "kept_pieces": {"type": "integer"}, "dropped_pieces": {"type": "integer"},
  "summarised_messages": {"type": "integer"}}},
"Traces": {"type": "object", "required": ["object", "data"], "properties": {"object": {"const": "list"}, "data": {
  "type": "array", "items": {"$ref": "#/components/schemas/TraceSummary"}}}},
"TracePassage": {"type": "object", "required": ["document", "start", "end", "tokens", "score", "distance", "reason"], "properties": {
  "document": {"type": "string"}, "start": {"type": "integer"}, "end": {"type": "integer"}, "page": {"type": "integer"}, "last_page": {"type": "integer"}, "first_line": {"type": "integer"},
  "last_line": {"type": "integer"}, "tokens": {"type": "integer"}, "score": {"type": "number"}, "distance": {"type": "number"}, "reason": {"type": "string"}, "text": {"type": "string"}}},
"LeftOutDocument": {"type": "object", "required": ["document", "score", "relevance", "reason"], "properties": {
  "document": {"type": "string"}, "score": {"type": "number"}, "relevance": {"type": "number"}, "reason": {"type": "string"}}},
"Attempt": {"type": "object", "required": ["upstream", "model", "status", "outcome", "window", "took_us"], "properties": {
  "upstream": {"type": "string"}, "model": {"type": "string"}, "status": {"type": "integer"}, "outcome": {"type": "string"}, "window": {"type": "integer"}, "took_us": {"type": "integer"}}},
"Trace": {"type": "object", "required": ["schema", "id", "at_ms", "owner", "session", "route", "asked_model", "model", "upstream", "index", "stream", "changed", "status", "error",
  "finish_reason", "window", "input_tokens", "thinking_tokens", "answer_tokens", "margin", "exactness", "usage", "cost", "drift", "upstream_cut_tokens", "us", "attempts", "passages",
  "warnings", "plan"], "properties": {
  "schema": {"const": 1}, "id": {"type": "string"}, "at_ms": {"type": "integer"}, "owner": {"type": "string"}, "session": {"type": "string"}, "route": {"type": "string"},
  "asked_model": {"type": "string"}, "model": {"type": "string"}, "upstream": {"type": "string"}, "index": {"type": "string"}, "stream": {"type": "boolean"}, "changed": {"type": "boolean"},
  "status": {"type": "integer"}, "error": {"type": "string"}, "finish_reason": {"type": "string"}, "window": {"type": "integer"}, "input_tokens": {"type": "integer"},
  "thinking_tokens": {"type": "integer"}, "answer_tokens": {"type": "integer"}, "margin": {"type": "integer"}, "exactness": {"$ref": "#/components/schemas/Exactness"},
  "usage": {"$ref": "#/components/schemas/ReportedUsage"}, "cost": {"anyOf": [{"$ref": "#/components/schemas/Cost"}, {"type": "null"}]}, "drift": {"type": ["integer", "null"]},
  "upstream_cut_tokens": {"type": "integer"}, "us": {"$ref": "#/components/schemas/Times"}, "attempts": {"type": "array", "items": {"$ref": "#/components/schemas/Attempt"}},
  "passages": {"type": "array", "items": {"$ref": "#/components/schemas/TracePassage"}}, "left_out": {"type": "array", "items": {"$ref": "#/components/schemas/LeftOutDocument"}},
  "left_out_documents": {"type": "integer"}, "warnings": {"type": "array", "items": {"type": "string"}},
  "plan": {"anyOf": [{"$ref": "#/components/schemas/Plan"}, {"type": "null"}]}, "prompt": {"type": "string"}}},
"KeyLimits": {"type": "object", "required": ["requests_per_minute", "tokens_per_minute", "tokens_per_day"], "properties": {
  "requests_per_minute": {"type": ["integer", "null"]}, "tokens_per_minute": {"type": ["integer", "null"]}, "tokens_per_day": {"type": ["integer", "null"]}}},
"Key": {"type": "object", "required": ["name", "created_ms", "private_indexes", "limits"], "properties": {
  "name": {"type": "string"}, "created_ms": {"type": "integer"}, "private_indexes": {"type": "boolean"}, "limits": {"$ref": "#/components/schemas/KeyLimits"}}},
"Account": {"type": "object", "required": ["version", "owner", "keeps_prompts", "key"], "properties": {
  "version": {"type": "string"}, "owner": {"type": "string"}, "keeps_prompts": {"type": "boolean"}, "key": {"anyOf": [{"$ref": "#/components/schemas/Key"}, {"type": "null"}]}}},
"UsageRow": {"type": "object", "required": ["group", "section", "tokens", "requests", "nano_usd", "priced_requests"], "properties": {
  "group": {"type": "string"}, "section": {"type": "string", "description": "Empty: the requests themselves."}, "tokens": {"type": "integer"}, "requests": {"type": "integer"},
  "nano_usd": {"type": ["integer", "null"], "description": "Cost of `priced_requests` in billionths of a US dollar."}, "priced_requests": {"type": "integer"}}},
"Usage": {"type": "object", "required": ["by", "first_day", "last_day", "data"], "properties": {
  "by": {"type": "string"}, "first_day": {"type": "integer", "description": "Days since 1970, UTC."}, "last_day": {"type": "integer"},
  "data": {"type": "array", "items": {"$ref": "#/components/schemas/UsageRow"}}}},
"ModelInfo": {"type": "object", "required": ["id", "owned_by"], "properties": {
  "id": {"type": "string"}, "owned_by": {"type": "string"}, "index": {"type": "string"}, "kind": {"type": "string"}, "context_window": {"type": "integer"},
  "context_window_source": {"type": "string"}, "context_window_confidence": {"type": "string"}, "context_window_served": {"type": ["integer", "null"]},
  "tokenizer": {"type": "string"}, "exactness": {"$ref": "#/components/schemas/Exactness"}, "why": {"type": "string"}, "margin": {"type": "integer"},
  "fallback_place": {"type": "integer", "description": "Place in the order of fallback models, from 1; absent: it is none."},
  "parameters": {"type": ["string", "null"]}, "quantization": {"type": ["string", "null"]}, "family": {"type": ["string", "null"]}}},
"UpstreamState": {"type": "object", "required": ["name", "kind", "models", "problem"], "properties": {
  "name": {"type": "string"}, "kind": {"type": "string"}, "models": {"type": "integer"}, "problem": {"type": ["string", "null"]}}},
"Ready": {"type": "object", "required": ["status", "version", "upstreams"], "properties": {
  "status": {"const": "ready"}, "version": {"type": "string"}, "upstreams": {"type": "array", "items": {"$ref": "#/components/schemas/UpstreamState"}}}},
"IndexInfo": {"type": "object", "required": ["name", "documents", "chunks", "tokens", "text_bytes", "tokenizer", "chunk_tokens", "embedders", "created_ms", "updated_ms"], "properties": {
  "name": {"type": "string"}, "documents": {"type": "integer"}, "chunks": {"type": "integer"}, "tokens": {"type": "integer"}, "text_bytes": {"type": "integer"},
  "tokenizer": {"type": "string"}, "chunk_tokens": {"type": "integer"}, "embedders": {"type": "array", "items": {"type": "string"}},
  "created_ms": {"type": "integer"}, "updated_ms": {"type": "integer"}}},
"IndexList": {"type": "object", "required": ["object", "data"], "properties": {"object": {"const": "list"}, "data": {
  "type": "array", "items": {"$ref": "#/components/schemas/IndexInfo"}}}},
"DocumentInfo": {"type": "object", "required": ["document", "media_type", "bytes", "text_bytes", "chunks", "tokens", "added_ms", "cursor"], "properties": {
  "document": {"type": "string"}, "media_type": {"type": "string"}, "bytes": {"type": "integer"}, "text_bytes": {"type": "integer"}, "chunks": {"type": "integer"},
  "tokens": {"type": "integer"}, "added_ms": {"type": "integer"}, "cursor": {"type": "integer"}}},
"DocumentList": {"type": "object", "required": ["object", "total", "data"], "properties": {"object": {"const": "list"}, "total": {"type": "integer"}, "data": {
  "type": "array", "items": {"$ref": "#/components/schemas/DocumentInfo"}}}},
"DocumentText": {"type": "object", "required": ["document", "media_type", "bytes", "text_bytes", "chunks", "tokens", "added_ms", "cursor", "before", "passage", "after", "is_cut"], "properties": {
  "document": {"type": "string"}, "media_type": {"type": "string"}, "bytes": {"type": "integer"}, "text_bytes": {"type": "integer"}, "chunks": {"type": "integer"},
  "tokens": {"type": "integer"}, "added_ms": {"type": "integer"}, "cursor": {"type": "integer"},
  "before": {"type": "string"}, "passage": {"type": "string"}, "after": {"type": "string"}, "is_cut": {"type": "boolean"}}},
"NameCount": {"type": "object", "required": ["name", "chunks"], "properties": {"name": {"type": "string"}, "chunks": {"type": "integer"}}},
"NameList": {"type": "object", "required": ["names"], "properties": {"names": {"type": "array", "items": {"$ref": "#/components/schemas/NameCount"}}}},
"FoundNames": {"description": "The graph if the request names an entity.", "anyOf": [{"$ref": "#/components/schemas/NameGraph"}, {"$ref": "#/components/schemas/NameList"}]},
"NameGraph": {"type": "object", "required": ["name", "title_of", "other_name_in", "mentioned_in", "chunks", "names"], "properties": {
  "name": {"type": "string"}, "title_of": {"type": "array", "items": {"type": "string"}}, "other_name_in": {"type": "array", "items": {"type": "string"}},
  "mentioned_in": {"type": "array", "items": {"type": "string"}}, "chunks": {"type": "integer"}, "names": {"type": "array", "items": {"$ref": "#/components/schemas/NameCount"}}}},
"EvaluationInfo": {"type": "object", "required": ["run_id", "status", "collection_id", "llm_model", "questions", "done", "created_ms"], "properties": {
  "run_id": {"type": "string"}, "status": {"$ref": "#/components/schemas/RunStatus"}, "collection_id": {"type": "string"}, "llm_model": {"type": "string"},
  "questions": {"type": "integer"}, "done": {"type": "integer"}, "created_ms": {"type": "integer"}}},
"RunStatus": {"enum": ["running", "done", "failed", "interrupted"]},
"EvaluationList": {"type": "object", "required": ["object", "data"], "properties": {"object": {"const": "list"}, "data": {
  "type": "array", "items": {"$ref": "#/components/schemas/EvaluationInfo"}}}},
"Memory": {"type": "object", "required": ["id", "text", "session", "importance", "trust", "created_ms", "updated_ms", "source"], "properties": {
  "id": {"type": "string"}, "text": {"type": "string"}, "session": {"type": ["string", "null"]}, "importance": {"type": "number"},
  "trust": {"type": "number", "minimum": 0, "maximum": 1}, "created_ms": {"type": "integer"}, "updated_ms": {"type": "integer"}, "source": {"type": "string"}}},
"Memories": {"type": "object", "required": ["object", "data"], "properties": {"object": {"const": "list"}, "data": {
  "type": "array", "items": {"$ref": "#/components/schemas/Memory"}}}},
"Models": {"type": "object", "required": ["object", "data"], "properties": {"object": {"const": "list"}, "data": {
  "type": "array", "items": {"$ref": "#/components/schemas/ModelInfo"}}}},
"FoundPassage": {"type": "object", "required": ["document", "start", "end", "text", "tokens", "score", "reason", "heading"], "properties": {
  "document": {"type": "string"}, "start": {"type": "integer"}, "end": {"type": "integer"}, "text": {"type": "string"}, "tokens": {"type": "integer"},
  "score": {"type": "number"}, "reason": {"type": "string"}, "heading": {"type": "string"}, "lead": {"type": "string"}, "page": {"type": "integer"},
  "last_page": {"type": "integer"}, "first_line": {"type": "integer"}, "last_line": {"type": "integer"}}},
"Found": {"type": "object", "required": ["index", "passages", "tokens", "budget", "tokenizer", "candidates", "notes"], "properties": {
  "index": {"type": "string"}, "passages": {"type": "array", "items": {"$ref": "#/components/schemas/FoundPassage"}}, "tokens": {"type": "integer"},
  "budget": {"type": "integer"}, "tokenizer": {"type": "string"}, "candidates": {"type": "integer"}, "notes": {"type": "array", "items": {"type": "string"}}}},
"UploadJob": {"type": "object", "required": ["job_id", "status", "index", "stage", "document", "documents", "chunks", "sentences", "warnings", "errors"], "properties": {
  "job_id": {"type": "string"}, "status": {"enum": ["queued", "running", "done", "failed", "interrupted"]}, "index": {"type": "string"},
  "stage": {"type": ["string", "null"]}, "document": {"type": ["string", "null"]},
  "documents": {"type": "object", "required": ["total", "done", "added", "updated", "unchanged", "failed"], "properties": {
    "total": {"type": "integer"}, "done": {"type": "integer"}, "added": {"type": "integer"}, "updated": {"type": "integer"}, "unchanged": {"type": "integer"}, "failed": {"type": "integer"}}},
  "chunks": {"type": "integer"}, "sentences": {"type": "integer"},
  "warnings": {"type": "array", "items": {"type": "object", "properties": {"document": {"type": "string"}, "warning": {"type": "string"}}}},
  "errors": {"type": "array", "items": {"type": "object", "properties": {"document": {"type": ["string", "null"]}, "error": {"type": "string"}}}}}},
"EvaluationResult": {"type": "object", "required": ["question", "answer", "passages", "error", "trace", "seconds"], "properties": {
  "question": {"type": "string"}, "answer": {"type": ["string", "null"]}, "passages": {"type": ["array", "null"], "items": {"type": "object"}},
  "error": {"type": ["string", "null"]}, "trace": {"type": "string"}, "seconds": {"type": "number"}}},
"EvaluationRun": {"type": "object", "required": ["run_id", "status", "answered", "failed", "results"], "properties": {
  "run_id": {"type": "string"}, "status": {"$ref": "#/components/schemas/RunStatus"}, "answered": {"type": "integer"}, "failed": {"type": "integer"},
  "results": {"type": "array", "items": {"$ref": "#/components/schemas/EvaluationResult"}}}},
"CheckedSentence": {"type": "object", "required": ["text", "verdict", "passages", "reason"], "properties": {
  "text": {"type": "string"}, "verdict": {"type": "string"}, "passages": {"type": "array", "items": {"type": "integer"}}, "reason": {"type": ["string", "null"]}}},
"SentPassage": {"type": "object", "required": ["number", "document", "start", "end", "path", "tokens", "score", "reason", "text"], "properties": {
  "number": {"type": "integer"}, "document": {"type": "string"}, "start": {"type": "integer"}, "end": {"type": "integer"}, "page": {"type": "integer"}, "last_page": {"type": "integer"},
  "first_line": {"type": "integer"}, "last_line": {"type": "integer"}, "path": {"type": "string"}, "tokens": {"type": "integer"}, "score": {"type": "number"},
  "reason": {"type": "string"}, "text": {"type": "string"}}},
"Report": {"type": "object", "description": "The field `plimsoll` of an answer.", "required": ["trace", "model", "upstream", "window", "input_tokens", "thinking_tokens", "answer_tokens", "margin",
  "exactness", "changed", "upstream_cut_tokens"], "properties": {
  "trace": {"type": "string"}, "model": {"type": "string"}, "upstream": {"type": "string"}, "window": {"type": "integer"}, "input_tokens": {"type": "integer"},
  "thinking_tokens": {"type": "integer"}, "answer_tokens": {"type": "integer"}, "margin": {"type": "integer"}, "exactness": {"$ref": "#/components/schemas/Exactness"},
  "changed": {"type": "boolean"}, "drift": {"type": "integer"}, "upstream_cut_tokens": {"type": "integer"}, "strategy": {"type": "string"},
  "passages": {"type": "array", "items": {"$ref": "#/components/schemas/SentPassage"}},
  "check": {"type": "object", "required": ["supported", "unsupported", "sentences"], "properties": {
    "supported": {"type": "integer"}, "unsupported": {"type": "integer"}, "sentences": {"type": "array", "items": {"$ref": "#/components/schemas/CheckedSentence"}}}},
  "without_documents": {"type": "string"}, "warnings": {"type": "array", "items": {"type": "string"}}, "plan": {"$ref": "#/components/schemas/Plan"}}}
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
  all.update(base::parse_json(console_replies));
  return all;
}

Json openapi_parameters() {
  return base::parse_json(parameters);
}

}  // namespace plimsoll::gateway
