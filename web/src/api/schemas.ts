// Made by `python3 tools/web.py types` from /openapi.json of the gateway. A test compares the two.

export interface Message {
  role: string;
  // Text, or a list of parts.
  content?: string | object[] | null;
}

export type Given = {
  text: string;
  id?: string | null;
  importance?: number | null;
  score?: number | null;
}[];

// Options for the planner.
export interface Wishes {
  policy?: "balanced" | "history" | "documents" | "answer" | "strict" | "document-chat" | null;
  order?: "document" | "best-first" | "best-last" | "both-ends" | null;
  // What to do with the documents of an index; by rule if not given.
  strategy?: "STUFF" | "HYBRID" | "RAG" | "RAG+GRAPH" | null;
  // Most tokens of passages.
  budget?: number | null;
  // Tokens reserved for thinking.
  thinking?: number | null;
  explain?: boolean | null;
  check?: boolean | null;
  memory?: boolean | null;
  recall?: boolean | null;
  compress?: boolean | null;
  session?: string | null;
  passages?: Given | null;
  memories?: Given | null;
  // Whether a larger model may answer, or which ones.
  fallback?: boolean | null | string[];
}

export interface Chat {
  // MODEL, UPSTREAM/MODEL or MODEL+INDEX
  model?: string;
  messages: Message[];
  max_tokens?: number;
  stream?: boolean;
  // Index to search for passages.
  index_name?: string;
  context_token_ratio?: number;
  plimsoll?: Wishes;
}

export interface Completion {
  model?: string;
  prompt: string;
  max_tokens?: number;
  stream?: boolean;
}

export interface Responses {
  // MODEL, UPSTREAM/MODEL or MODEL+INDEX
  model?: string;
  // Text, or a list of items.
  input: string | object[];
  instructions?: string | null;
  previous_response_id?: string | null;
  max_output_tokens?: number | null;
  store?: boolean | null;
  stream?: boolean | null;
  // Index to search for passages.
  index_name?: string;
  plimsoll?: Wishes;
}

export interface Messages {
  // MODEL, UPSTREAM/MODEL or MODEL+INDEX
  model?: string;
  max_tokens: number;
  system?: string | object[];
  messages: Message[];
  stream?: boolean;
  // Index to search for passages.
  index_name?: string;
  plimsoll?: Wishes;
}

export interface MessagesCount {
  model?: string;
  messages: Message[];
}

export interface Embedding {
  model?: string;
  input: string | string[];
  encoding_format?: "float" | "base64";
}

export interface Count {
  model?: string;
  tokenizer?: string;
  text?: string;
  messages?: Message[];
}

export interface Strategy {
  query: string;
  model?: string;
  char_count?: number;
}

export interface Document {
  text: string;
  metadata?: object;
}

export interface Index {
  index_name: string;
  documents: Document[];
}

export interface Updates {
  documents: {
    doc_id: string;
    text: string;
    metadata?: object;
  }[];
}

export interface Deletions {
  doc_ids: string[];
}

export interface Retrieve {
  index_name: string;
  query: string;
  max_node_count?: number;
  metadata_filter?: object;
}

export interface OllamaChat {
  model: string;
  messages?: Message[];
  stream?: boolean;
  options?: object;
}

export interface OllamaGenerate {
  model: string;
  prompt?: string;
  stream?: boolean;
  options?: object;
}

export interface OllamaEmbed {
  model: string;
  input?: string | string[];
}

export interface OllamaModel {
  model: string;
}

// A JSON-RPC 2.0 message of MCP.
export interface Rpc {
  jsonrpc: "2.0";
  id?: number | string;
  method: string;
  params?: object;
}

export interface ChatMessage {
  message: string;
  collection_id?: string;
  model_name?: string;
  session_id?: string;
  top_k?: number;
  stream?: boolean;
  system_prompt?: string;
  chat_history?: object[];
  plimsoll?: {
    // What to do with the documents of the collection; by rule if not given.
    strategy?: "STUFF" | "HYBRID" | "RAG" | "RAG+GRAPH" | null;
  };
}

export interface Search {
  query: string;
  collection_id: string;
  model_name?: string;
  top_k?: number;
  system_prompt?: string;
  chat_history?: object[];
}

export interface Evaluation {
  collection_id: string;
  questions: string[];
  llm_model?: string;
  user_id?: string;
}

export interface NewMemory {
  text: string;
  session?: string;
  importance?: number;
  trust?: number;
  source?: string;
}

export interface BudgetSearch {
  index: string;
  query: string;
  // Most tokens of passages.
  budget?: number;
  filter?: object;
}

export interface MemoryFeedback {
  helpful: boolean;
}

export interface Upload {
  collection_id?: string;
  // A JSON object.
  metadata?: string;
  file?: string[];
}

// OpenAI's `error`, RAGEngine's `detail`, Ollama's `error`: by the route.
export type Error = object;

export interface Answer {
  plimsoll?: Report;
  source_nodes?: object[] | null;
}

export type MessageAnswer = object;

export interface Response {
  id?: string;
  object?: string;
  output?: object[];
}

export type OllamaAnswer = object;

export interface Counted {
  tokens: number;
}

export type Names = string[];

export type Documents = object[];

export interface DocumentPage {
  documents: object[];
  count: number;
  total_items: number;
}

export interface Retrieved {
  results: object[];
}

// A list if a list of messages was sent.
export type RpcReply = object | object[];

export interface Said {
  message: string;
}

export interface SectionShare {
  name: string;
  grant: number;
  used: number;
}

export interface PlanSection {
  name: string;
  basis: number;
  min: number;
  max: number;
  grow: number;
  shrink: number;
  grant: number;
  used: number;
  exactness: Exactness;
}

export type Exactness = "exact" | "calibrated" | "estimated";

export interface Piece {
  section: string;
  id: string;
  tokens: number;
  fate: "kept" | "dropped";
  reason: string;
}

export interface Window {
  tokens: number;
  source: string;
  confidence: string;
  served_now?: number;
  tried?: {
    way: string;
    result: string;
  }[];
}

export interface PlanSummary {
  id?: string;
  how: string;
  known?: boolean;
  model?: string;
  turns: number;
  messages: number;
  replaces: string[];
  tokens_before: number;
  tokens_after: number;
}

export interface Plan {
  model: string;
  window: Window;
  policy: string;
  fits: boolean;
  // That would do, if the request does not fit.
  least_window?: number;
  input_tokens: number;
  thinking_tokens: number;
  answer_tokens: number;
  margin: number;
  left: number;
  pressure: number;
  exactness: Exactness;
  why: string;
  sections: PlanSection[];
  pieces: Piece[];
  summary?: PlanSummary;
  strategy: {
    strategy: string;
    reasoning: string;
  };
  fallback: {
    from: string;
    to: string | null;
    reason: string;
  };
  rendered?: RenderedPrompt;
  warnings: string[];
}

// The prompt as the model reads it; without text where its template is not known.
export interface RenderedPrompt {
  text: string | null;
  end?: string;
  bytes?: number;
  left_out_bytes?: number;
  template?: string;
  exactness?: Exactness;
  why: string | null;
}

// By the list price; null with the reason if it is not known.
export interface Cost {
  // Billionths of a US dollar.
  nano_usd: number | null;
  why?: string;
}

export interface ReportedUsage {
  input: number | null;
  answer: number | null;
  thinking?: number | null;
  cached: number | null;
  written?: number | null;
}

// Microseconds.
export interface Times {
  plan: number;
  retrieve: number;
  first_byte: number;
  total: number;
}

// The event `begun`.
export interface BegunRequest {
  id: string;
  at_ms: number;
  session: string;
  route: string;
  asked_model: string;
}

export interface TraceSummary {
  id: string;
  at_ms: number;
  session: string;
  route: string;
  asked_model: string;
  model: string;
  upstream: string;
  index: string;
  stream: boolean;
  changed: boolean;
  status: number;
  error?: string;
  finish_reason: string;
  window: number;
  input_tokens: number;
  thinking_tokens: number;
  answer_tokens: number;
  margin: number;
  exactness: Exactness;
  usage: ReportedUsage;
  cost?: Cost;
  drift: number | null;
  upstream_cut_tokens: number;
  us: Times;
  attempts: number;
  has_plan: boolean;
  left: number;
  pressure: number;
  policy: string;
  strategy: string;
  sections: SectionShare[];
  kept_pieces: number;
  dropped_pieces: number;
  summarised_messages: number;
}

export interface Traces {
  object: "list";
  data: TraceSummary[];
}

export interface TracePassage {
  document: string;
  start: number;
  end: number;
  page?: number;
  last_page?: number;
  first_line?: number;
  last_line?: number;
  tokens: number;
  score: number;
  distance: number;
  reason: string;
  text?: string;
}

export interface LeftOutDocument {
  document: string;
  score: number;
  relevance: number;
  reason: string;
}

export interface Attempt {
  upstream: string;
  model: string;
  status: number;
  outcome: string;
  window: number;
  took_us: number;
}

export interface Trace {
  schema: 1;
  id: string;
  at_ms: number;
  owner: string;
  session: string;
  route: string;
  asked_model: string;
  model: string;
  upstream: string;
  index: string;
  stream: boolean;
  changed: boolean;
  status: number;
  error: string;
  finish_reason: string;
  window: number;
  input_tokens: number;
  thinking_tokens: number;
  answer_tokens: number;
  margin: number;
  exactness: Exactness;
  usage: ReportedUsage;
  cost: Cost | null;
  drift: number | null;
  upstream_cut_tokens: number;
  us: Times;
  attempts: Attempt[];
  passages: TracePassage[];
  left_out?: LeftOutDocument[];
  left_out_documents?: number;
  warnings: string[];
  plan: Plan | null;
  prompt?: string;
}

export interface KeyLimits {
  requests_per_minute: number | null;
  tokens_per_minute: number | null;
  tokens_per_day: number | null;
}

export interface Key {
  name: string;
  created_ms: number;
  private_indexes: boolean;
  limits: KeyLimits;
}

export interface Account {
  version: string;
  owner: string;
  keeps_prompts: boolean;
  key: Key | null;
}

export interface UsageRow {
  group: string;
  // Empty: the requests themselves.
  section: string;
  tokens: number;
  requests: number;
  // Cost of `priced_requests` in billionths of a US dollar.
  nano_usd: number | null;
  priced_requests: number;
}

export interface Usage {
  by: string;
  // Days since 1970, UTC.
  first_day: number;
  last_day: number;
  data: UsageRow[];
}

export interface ModelInfo {
  id: string;
  owned_by: string;
  index?: string;
  kind?: string;
  context_window?: number;
  context_window_source?: string;
  context_window_confidence?: string;
  context_window_served?: number | null;
  tokenizer?: string;
  exactness?: Exactness;
  why?: string;
  margin?: number;
  // Place in the order of fallback models, from 1; absent: it is none.
  fallback_place?: number;
  parameters?: string | null;
  quantization?: string | null;
  family?: string | null;
}

export interface UpstreamState {
  name: string;
  kind: string;
  models: number;
  problem: string | null;
}

export interface Ready {
  status: "ready";
  version: string;
  upstreams: UpstreamState[];
}

export interface IndexInfo {
  name: string;
  documents: number;
  chunks: number;
  tokens: number;
  text_bytes: number;
  tokenizer: string;
  chunk_tokens: number;
  embedders: string[];
  created_ms: number;
  updated_ms: number;
}

export interface IndexList {
  object: "list";
  data: IndexInfo[];
}

export interface DocumentInfo {
  document: string;
  media_type: string;
  bytes: number;
  text_bytes: number;
  chunks: number;
  tokens: number;
  added_ms: number;
  cursor: number;
}

export interface DocumentList {
  object: "list";
  total: number;
  data: DocumentInfo[];
}

export interface DocumentText {
  document: string;
  media_type: string;
  bytes: number;
  text_bytes: number;
  chunks: number;
  tokens: number;
  added_ms: number;
  cursor: number;
  before: string;
  passage: string;
  after: string;
  is_cut: boolean;
}

export interface NameCount {
  name: string;
  chunks: number;
}

export interface NameList {
  names: NameCount[];
}

// The graph if the request names an entity.
export type FoundNames = NameGraph | NameList;

export interface NameGraph {
  name: string;
  title_of: string[];
  other_name_in: string[];
  mentioned_in: string[];
  chunks: number;
  names: NameCount[];
}

export interface EvaluationInfo {
  run_id: string;
  status: RunStatus;
  collection_id: string;
  llm_model: string;
  questions: number;
  done: number;
  created_ms: number;
}

export type RunStatus = "running" | "done" | "failed" | "interrupted";

export interface EvaluationList {
  object: "list";
  data: EvaluationInfo[];
}

export interface Memory {
  id: string;
  text: string;
  session: string | null;
  importance: number;
  trust: number;
  created_ms: number;
  updated_ms: number;
  source: string;
}

export interface Memories {
  object: "list";
  data: Memory[];
}

export interface Models {
  object: "list";
  data: ModelInfo[];
}

export interface FoundPassage {
  document: string;
  start: number;
  end: number;
  text: string;
  tokens: number;
  score: number;
  reason: string;
  heading: string;
  lead?: string;
  page?: number;
  last_page?: number;
  first_line?: number;
  last_line?: number;
}

export interface Found {
  index: string;
  passages: FoundPassage[];
  tokens: number;
  budget: number;
  tokenizer: string;
  candidates: number;
  notes: string[];
}

export interface UploadJob {
  job_id: string;
  status: "queued" | "running" | "done" | "failed" | "interrupted";
  index: string;
  stage: string | null;
  document: string | null;
  documents: {
    total: number;
    done: number;
    added: number;
    updated: number;
    unchanged: number;
    failed: number;
  };
  chunks: number;
  sentences: number;
  warnings: {
    document?: string;
    warning?: string;
  }[];
  errors: {
    document?: string | null;
    error?: string;
  }[];
}

export interface EvaluationResult {
  question: string;
  answer: string | null;
  passages: object[] | null;
  error: string | null;
  trace: string;
  seconds: number;
}

export interface EvaluationRun {
  run_id: string;
  status: RunStatus;
  answered: number;
  failed: number;
  results: EvaluationResult[];
}

export interface CheckedSentence {
  text: string;
  verdict: string;
  passages: number[];
  reason: string | null;
}

export interface SentPassage {
  number: number;
  document: string;
  start: number;
  end: number;
  page?: number;
  last_page?: number;
  first_line?: number;
  last_line?: number;
  path: string;
  tokens: number;
  score: number;
  reason: string;
  text: string;
}

// The field `plimsoll` of an answer.
export interface Report {
  trace: string;
  model: string;
  upstream: string;
  window: number;
  input_tokens: number;
  thinking_tokens: number;
  answer_tokens: number;
  margin: number;
  exactness: Exactness;
  changed: boolean;
  drift?: number;
  upstream_cut_tokens: number;
  strategy?: string;
  passages?: SentPassage[];
  check?: {
    supported: number;
    unsupported: number;
    sentences: CheckedSentence[];
  };
  without_documents?: string;
  warnings?: string[];
  plan?: Plan;
}
