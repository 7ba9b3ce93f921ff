/** One way of making LLM calls through Claude Code. All of them get the same work, the same binary and the same model API. */
export interface Contender {
  text(prompt: string): Promise<string>;
  object(prompt: string): Promise<unknown>;
  /** Two turns: one tool call, then an answer. */
  loop(prompt: string): Promise<string>;
  close(): Promise<void>;
}

export const OPERATIONS = ["text", "object", "loop"] as const;
export type Operation = (typeof OPERATIONS)[number];

export interface Surroundings {
  /** Base URL of the rehearsal. */
  url: string;
  /** A scratch folder for this contender alone. */
  folder: string;
  /** Most calls at once. */
  concurrency: number;
}

export const MODEL = "claude-sonnet-5-5";
export const SYSTEM = "You are terse.";
export const TOOL = { name: "look_up", description: "Looks a word up.", answer: "found" };

/** Variables for contenders that start the binary themselves: the same that this project gives it, where they may. */
export const childVariables = ({ url, folder }: Surroundings): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "",
  HOME: folder,
  CLAUDE_CONFIG_DIR: `${folder}/claude`,
  ANTHROPIC_API_KEY: "sk-ant-made-up",
  ANTHROPIC_BASE_URL: url,
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
});
