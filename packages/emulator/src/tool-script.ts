/** The answer of a tool: text, or text with an error mark. */
export type ToolOutcome = string | { text: string; isError?: boolean };

/** The answers of tools, by name. They replace the emulator's own, and may change between calls. */
export type ToolScript = Record<
  string,
  (input: Record<string, unknown>, call: { id: string; folder: string }) => ToolOutcome | Promise<ToolOutcome>
>;
