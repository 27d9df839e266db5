// What the gateway sends. Fields that the console does not read are left out; /openapi.json describes the routes.

export interface SectionShare {
  name: string;
  grant: number;
  used: number;
}

export interface BegunRequest {
  id: string;
  at_ms: number;
  session: string;
  route: string;
  asked_model: string;
}

export interface TraceSummary extends BegunRequest {
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
  exactness: string;
  usage: { input: number | null; answer: number | null; cached: number | null };
  drift: number | null;
  upstream_cut_tokens: number;
  us: { plan: number; retrieve: number; first_byte: number; total: number };
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

export interface PlanSection extends SectionShare {
  basis: number;
  min: number;
  max: number;
  exactness: string;
}

export interface Piece {
  section: string;
  id: string;
  tokens: number;
  fate: "kept" | "dropped";
  reason: string;
}

export interface Plan {
  model: string;
  window: { tokens: number; source: string; confidence: string };
  policy: string;
  fits: boolean;
  least_window?: number;
  input_tokens: number;
  thinking_tokens: number;
  answer_tokens: number;
  margin: number;
  left: number;
  pressure: number;
  exactness: string;
  why: string;
  sections: PlanSection[];
  pieces: Piece[];
  summary?: { how: string; turns: number; messages: number; tokens_before: number; tokens_after: number; replaces: string[] };
  strategy: { strategy: string; reasoning: string };
  fallback: { from: string; to: string | null; reason: string };
  warnings: string[];
}

export interface TracePassage {
  document: string;
  start: number;
  end: number;
  page?: number;
  first_line?: number;
  last_line?: number;
  tokens: number;
  score: number;
  distance: number;
  reason: string;
  text?: string;
}

export interface Attempt {
  upstream: string;
  model: string;
  status: number;
  outcome: string;
  window: number;
  took_us: number;
}

export interface Trace extends Omit<TraceSummary, "attempts" | "has_plan"> {
  attempts: Attempt[];
  passages: TracePassage[];
  left_out?: { document: string; score: number; relevance: number; reason: string }[];
  left_out_documents?: number;
  warnings: string[];
  plan: Plan | null;
  prompt?: string;
}

export interface Account {
  version: string;
  owner: string;
  keeps_prompts: boolean;
  key: {
    name: string;
    created_ms: number;
    private_indexes: boolean;
    limits: { requests_per_minute: number | null; tokens_per_minute: number | null; tokens_per_day: number | null };
  } | null;
}

export interface UsageRow {
  group: string;
  section: string;
  tokens: number;
  requests: number;
}

export interface Usage {
  by: string;
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
  exactness?: string;
  why?: string;
  margin?: number;
  parameters: string | null;
  quantization: string | null;
  family: string | null;
}

export interface UpstreamState {
  name: string;
  kind: string;
  models: number;
  problem: string | null;
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

export interface DocumentText extends DocumentInfo {
  before: string;
  passage: string;
  after: string;
  is_cut: boolean;
}

export interface FoundPassage extends TracePassage {
  text: string;
  heading: string;
  lead?: string;
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
  stage: string;
  document: string;
  documents: { total: number; done: number; added: number; updated: number; unchanged: number; failed: number };
  sentences: number;
  errors: { document?: string; error?: string; detail?: string }[] | string[];
  warnings: string[];
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

export interface EvaluationRun {
  status: "running" | "done" | "failed" | "interrupted";
  answered: number;
  failed: number;
  results: { question: string; answer: string | null; passages: object[] | null; error: string | null; trace: string; seconds: number }[];
}

export interface EvaluationInfo {
  run_id: string;
  status: EvaluationRun["status"];
  collection_id: string;
  llm_model: string;
  questions: number;
  done: number;
  created_ms: number;
}

export interface NameCount {
  name: string;
  chunks: number;
}

// What is around a name in an index.
export interface NameGraph {
  name: string;
  title_of: string[];
  other_name_in: string[];
  mentioned_in: string[];
  chunks: number;
  names: NameCount[];
}

export interface CheckedSentence {
  text: string;
  verdict: string;
  passages: number[];
  reason: string | null;
}

// The field `plimsoll` of an answer.
export interface Report {
  trace: string;
  model: string;
  upstream: string;
  window: number;
  input_tokens: number;
  answer_tokens: number;
  margin: number;
  changed: boolean;
  drift?: number;
  upstream_cut_tokens: number;
  strategy?: string;
  passages?: (TracePassage & { number: number; text: string; path: string })[];
  check?: { supported: number; unsupported: number; sentences: CheckedSentence[] };
  without_documents?: string;
  warnings?: string[];
  plan?: Plan;
}

export interface ChatMessage {
  role: "system" | "user" | "assistant";
  content: string;
}

// What is given to the planner.
export interface Wishes {
  policy?: string;
  strategy?: string;
  order?: string;
  budget?: number;
  check?: boolean;
  explain?: boolean;
  memory?: boolean;
  session?: string;
}

export interface ChatBody {
  model: string;
  messages: ChatMessage[];
  stream?: boolean;
  stream_options?: { include_usage: boolean };
  max_tokens?: number;
  index_name?: string;
  plimsoll?: Wishes;
}
