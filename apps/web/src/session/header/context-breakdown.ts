import type { Message, Part } from "@tandem/protocol";

/** An estimate of the contents of the context window. The parts add up to the measured total. */
export interface ContextBreakdown {
  said: number;
  answered: number;
  tools: number;
  /** System prompt, tool descriptions and everything not counted otherwise. */
  rest: number;
}

/** Rough average for English and code. */
const SIGNS_PER_TOKEN = 4;
const TOKENS_PER_FILE = 1_500;

/** Counts the main thread since its last compaction. Thinking is not sent again. */
export function contextBreakdown(messages: readonly Message[], measured: number): ContextBreakdown {
  const from = messages.findLastIndex(({ thread, parts }) => thread === null && parts.some(isCompaction));
  const known = { said: 0, answered: 0, tools: 0 };
  for (const { role, thread, rewound, parts } of messages.slice(from === -1 ? 0 : from)) {
    if (thread !== null || rewound !== undefined) continue;
    for (const part of parts.slice(parts.findLastIndex(isCompaction) + 1)) {
      if (part.type === "tool")
        known.tools += tokensOf(part.input) + tokensOf("output" in part.state && part.state.output);
      if (part.type === "text") known[role === "user" ? "said" : "answered"] += part.text.length / SIGNS_PER_TOKEN;
      if (part.type === "file") known.said += TOKENS_PER_FILE;
    }
  }
  const sum = known.said + known.answered + known.tools;
  // Scale down an estimate that exceeds the measured total.
  const scale = sum > measured ? measured / sum : 1;
  const [said, answered, tools] = [known.said, known.answered, known.tools].map((tokens) => Math.round(tokens * scale));
  return { said: said!, answered: answered!, tools: tools!, rest: Math.max(0, measured - said! - answered! - tools!) };
}

const isCompaction = ({ type }: Part): boolean => type === "compaction";

const tokensOf = (value: unknown): number => (value ? JSON.stringify(value).length / SIGNS_PER_TOKEN : 0);
