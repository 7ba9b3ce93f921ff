import { always, type ModelRequest, type Reply, type Rule, text, toolUse, when } from "@tandem/rehearsal";

type Turn = (request: ModelRequest) => Reply;

/** Identifies the agent by its instructions. */
export const isUnit = ({ system }: ModelRequest): boolean => system.includes("You read documents closely");
export const isCurator = ({ system }: ModelRequest): boolean => system.includes("You are the curator");
export const isReconciler = ({ system }: ModelRequest): boolean => system.includes("Several agents have changed");
export const isRepair = ({ system }: ModelRequest): boolean => system.includes("You fix one file");

/** The first message of the conversation. */
export const taskOf = ({ messages }: ModelRequest): string =>
  messages
    .filter(({ role }) => role === "user")
    .map(({ content }) => content.map(({ text: said }) => (typeof said === "string" ? said : "")).join("\n"))
    .join("\n");

/** Matches the unit that reads this document of the source `docs`. */
export const reads =
  (path: string) =>
  (request: ModelRequest): boolean =>
    isUnit(request) && taskOf(request).includes(`"docs/${path}" (`);

/** The file that a repair agent has just read. */
export const fileRead = (request: ModelRequest): string =>
  /<file-\w+[^>]*>\n([\s\S]*?)\n<\/file-/.exec(request.toolResults[0]?.text ?? "")?.[1] ?? "";

/** An agent that performs these turns in order, then stops. */
export const agent = (isMine: (request: ModelRequest) => boolean, ...turns: Turn[]): Rule =>
  always(
    when(isMine, (request) => {
      const turn = request.messages.filter(({ role }) => role === "assistant").length;
      return turns[turn]?.(request) ?? text("Done.");
    }),
  );

/** A tool by its own name, whatever prefix the backend adds. */
export const use =
  (name: string, input: object | ((request: ModelRequest) => object) = {}): Turn =>
  (request) =>
    toolUse(
      request.toolNames.find((each) => each === name || each.endsWith(`__${name}`)) ?? name,
      typeof input === "function" ? input(request) : input,
    );

export const plainTools = ({ toolNames }: ModelRequest): string[] =>
  toolNames.map((name) => name.replace(/^mcp__.*?__/, "")).toSorted();

export const verify = use("record_verification", { summary: "Read.", verified: ["policy"], unverified: [] });

export const writePage = (key: string, body: string, more: object = {}): Turn =>
  use("wiki_write", { key, title: "Refunds", summary: "How refunds go.", tags: ["billing"], refs: [], body, ...more });

/** A page as in a person's own wiki. */
export const PAGE = (citation: string, sentence: string, path = "a.md"): string =>
  `---\nsummary: Old.\ntags: []\nrefs: []\nsources:\n  - citation: ${citation}\n    path: ${path}\n    sha256: "0"\n---\n\n# Old\n\n${sentence} [^${citation}]\n`;
