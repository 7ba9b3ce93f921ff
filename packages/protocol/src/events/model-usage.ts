/** Tokens of one model request, in Anthropic's words. */
export interface ModelUsage {
  input_tokens: number;
  output_tokens: number;
  cache_read_input_tokens: number;
  cache_creation_input_tokens: number;
  /** Only on requests that ran in fast mode. */
  speed?: "standard" | "fast" | null;
}
