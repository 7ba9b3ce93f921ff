// The model's replies for the browser tests. `tandem rehearse serve` plays them to the real Claude Code. The user's
// message selects a scene, and each model request plays its next step. Replies are plain data.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { HOSTILE_COMMAND, HOSTILE_TEXT } from "./hostile.ts";

interface Request {
  body: unknown;
  messages: readonly { role: string; content: readonly { type: string; text?: unknown }[] }[];
}
type Block =
  | { type: "text"; text: string }
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string }
  | { type: "tool_use"; name: string; input: object };
interface Reply {
  type: "message";
  content: readonly Block[];
  options: { pace?: { tokenMs: number } };
}
interface Fault {
  type: "error";
  status: number;
  errorType: string;
  message: string;
  headers: object;
}
type Step = Reply | ((request: Request) => Reply | Fault | Promise<Reply>);

const project = process.env["TANDEM_TEST_PROJECT"] ?? "";
const gates = process.env["TANDEM_TEST_GATES"] ?? "";
const DEADLINE_MS = 300_000;

const reply = (...content: Block[]): Reply => ({ type: "message", content, options: {} });
const words = (text: string): Block => ({ type: "text", text });
const thought = (thinking: string): Block => ({ type: "thinking", thinking, signature: "made-up" });
const call = (name: string, input: object): Block => ({ type: "tool_use", name, input });
const refused = (message: string): Fault => ({
  type: "error",
  status: 400,
  errorType: "invalid_request_error",
  headers: {},
  message,
});
const says = (text: string): Reply => reply(words(text));
const runs = (command: string, description = "Try it"): Reply => reply(call("Bash", { command, description }));
const slowly = (step: Reply, tokenMs: number): Reply => ({ ...step, options: { pace: { tokenMs } } });
const file = (name: string): string => join(project, name);

/** Waits until the test opens the gate. */
const held =
  (gate: string, step: Reply): Step =>
  async () => {
    const deadline = Date.now() + DEADLINE_MS;
    while (!existsSync(join(gates, gate)) && Date.now() < deadline) await pause(20);
    return step;
  };

const edits = (name: string, before: string, after: string): Reply =>
  reply(call("Edit", { file_path: file(name), old_string: before, new_string: after }));
const reads = (name: string): Reply => reply(call("Read", { file_path: file(name) }));

const planFile = ({ body }: Request): string => /[^"\\ ]*plans\/[\w-]+\.md/.exec(JSON.stringify(body))?.[0] ?? "";

const QUESTIONS = [
  {
    question: "Which colours?",
    header: "Colours",
    multiSelect: true,
    options: [
      { label: "Red", description: "Like a rose." },
      { label: "Blue", description: "Like the sea." },
    ],
  },
  {
    question: "Which name?",
    header: "Name",
    multiSelect: false,
    options: [
      { label: "Ada", description: "Short." },
      { label: "Augusta", description: "Long." },
    ],
  },
];

/** Numbered words make lost and repeated text visible. */
const COUNTED = Array.from({ length: 120 }, (_, at) => `word${at + 1}`).join(" ");

const WORKFLOW = `export const meta = { name: "review", description: "Reviews parts", phases: [{ title: "Scan" }, { title: "Judge" }] };
phase("Scan");
await parallel(["LEAF-ONE", "LEAF-TWO"].map((name) => () => agent(name, { label: name.toLowerCase() })));
phase("Judge");
return await agent("LEAF-JUDGE", { label: "judge" });`;

const SCENES: Readonly<Record<string, readonly Step[]>> = {
  "Reach a host": [runs("curl -sS -m 20 https://refused.example.com/; true"), says("It was refused.")],
  "Say hello": [says("Hello from the agent.")],
  "Look around": [
    reply(
      thought("First I see what there is."),
      words("I look first."),
      call("Read", { file_path: file("notes.md") }),
      call("Glob", { pattern: "*" }),
    ),
    reply(
      call("TaskCreate", { subject: "Read the notes", description: "All of them.", activeForm: "Reading the notes" }),
      call("TaskCreate", { subject: "Write a summary", description: "A short one." }),
    ),
    reply(call("TaskUpdate", { taskId: "1", status: "completed" })),
    slowly(
      says("There is **one file**:\n\n| name | lines |\n| --- | --- |\n| notes.md | 3 |\n\n```ts\nconst one = 1;\n```"),
      5,
    ),
  ],
  "Run something": [runs("echo first-run"), says("It ran.")],
  "Try the forbidden": [runs("echo forbidden-run"), says("Then not.")],
  "Run the edited": [runs("echo unedited"), says("The edited one ran.")],
  "Run it in spite of all": [runs("echo after-all"), says("It ran after all.")],
  "Run it twice": [runs("echo again-1"), runs("echo again-1"), says("Twice it ran.")],
  "Run the same later": [runs("echo again-3"), says("Once more it ran.")],
  "Change the notes": [
    reads("notes.md"),
    edits("notes.md", "One, two, three.", "One, two, three, four."),
    says("Four."),
  ],
  "Change them more": [
    reads("notes.md"),
    edits("notes.md", "One, two, three, four.", "One, two, three, four, five."),
    reply(call("Write", { file_path: file("more.md"), content: "# More\n\nSix.\n" })),
    says("Five, and six."),
  ],
  "A comment on your changes": [says("I have read your comment.")],
  "Send a scout": [
    reply(
      words("I send a scout."),
      call("Agent", {
        description: "Look at the river",
        prompt: "Scout the river.",
        subagent_type: "scout",
        run_in_background: false,
      }),
    ),
    says("A river, it says."),
  ],
  "Scout the river": [runs("echo deep-water"), says("There is a river.")],
  "Ask me": [reply(call("AskUserQuestion", { questions: QUESTIONS })), says("Noted.")],
  "Make a plan": [
    (request) => reply(call("Write", { file_path: planFile(request), content: "# The plan\n\n1. Touch a file." })),
    reply(call("ExitPlanMode", { allowedPrompts: [{ tool: "Bash", prompt: "touch files" }] })),
    reply(call("Write", { file_path: file("planned.md"), content: "Planned.\n" })),
    says("Carried out."),
  ],
  "Take your time": [held("time", says("I took my time.")), says("And then some.")],
  "Work for long": [runs("tail -F notes.md", "Wait"), says("It ended.")],
  "Work until it is there": [
    runs(`until test -e '${gates}/there'; do read -t 0.1 <> <(:) || :; done`, "Wait for it"),
    says("It is there."),
  ],
  "Do that instead": [says("Then I do that.")],
  "Run a long line": [runs(`echo ${"long ".repeat(60)}| cat`), says("It was long.")],
  "Go wrong at first": [
    () =>
      existsSync(join(gates, "credit"))
        ? says("It went well this time.")
        : refused("Your credit balance is too low to access the Anthropic API."),
  ],
  "And after that": [says("That came after.")],
  "Commit it here": [
    runs("git add -A && git -c user.name=A -c user.email=a@example.com commit -qm Here"),
    says("It is committed."),
  ],
  "What do you see": [
    ({ body, messages }) => {
      const pictures = messages.flatMap(({ content }) => content).filter(({ type }) => type === "image").length;
      // A file arrives as its own document or inside the text.
      const text = /alpha and omega/.exec(JSON.stringify(body))?.[0] ?? "none";
      return says(`${pictures} ${pictures === 1 ? "picture" : "pictures"}, the words ${text}.`);
    },
  ],
  "Write it down here": [runs("echo Here. > here.md"), says("Written down.")],
  // The answer is held back at its 20th word.
  "Count the words": [slowly(says(COUNTED), 50)],
  "Use a workflow": [reply(call("Workflow", { script: WORKFLOW })), says("The workflow runs.")],
  "LEAF-ONE": [says("One is good.")],
  // Claude Code may retry.
  "LEAF-TWO": Array.from({ length: 5 }, (): Step => () => refused("No such part.")),
  "LEAF-JUDGE": [held("judge", says("All is well."))],
  "Be hostile": [
    reply(
      thought(HOSTILE_TEXT),
      { type: "redacted_thinking", data: "made-up" },
      words(HOSTILE_TEXT),
      call("Bash", { command: HOSTILE_COMMAND, description: HOSTILE_TEXT.slice(0, 200) }),
    ),
    says("That was all."),
  ],
};

const textOf = (content: Request["messages"][number]["content"]): string =>
  content
    .flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []))
    .join("\n")
    .replaceAll(/<system-reminder>.*?<\/system-reminder>/gs, "");

const sceneOf = (text: string): readonly Step[] | undefined =>
  Object.entries(SCENES).find(([name]) => text.includes(name))?.[1];

export default async function scriptedAgent(request: Request): Promise<Reply | Fault> {
  const { messages } = request;
  // Steering messages arrive with the role `system`.
  const from = messages.findLastIndex(
    ({ role, content }) => role !== "assistant" && sceneOf(textOf(content)) !== undefined,
  );
  if (from === -1) return says("Hello from the agent.");
  const at = messages.slice(from).filter(({ role }) => role === "assistant").length;
  const step = sceneOf(textOf(messages[from]!.content))![at] ?? says("That is all.");
  return typeof step === "function" ? step(request) : step;
}
