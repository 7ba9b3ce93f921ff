import type { Credential } from "@tandem/claude-code";
import {
  startRehearsal,
  type ModelRequest,
  slowly,
  text,
  toolUse,
  type MessageReply,
  type Pace,
  type Reply,
} from "@tandem/rehearsal";
import { playSkill } from "./demo-skills.ts";
import { readTurn } from "./demo-turn.ts";
import { generateSample } from "./generate-sample.ts";
import { playScene } from "./story/scenes.ts";

/** Drop recorded requests regularly: a demo may run for days. */
const FORGET_MS = 10 * 60_000;
/** Slow enough to make streaming visible. */
const TOKEN_MS = 12;

/** Starts a scripted model API on loopback and returns a credential that reaches only this API. */
export async function startDemo(tokenMs = TOKEN_MS): Promise<AsyncDisposable & { credential: Credential }> {
  const agent = (request: ModelRequest) => demoAgent(request, { tokenMs });
  const rehearsal = await startRehearsal(agent);
  const timer = setInterval(() => rehearsal.use(agent), FORGET_MS).unref();
  return {
    credential: { type: "api_key", key: "sk-ant-rehearsed", baseUrl: rehearsal.url, isFree: true },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await rehearsal.close();
    },
  };
}

const OUTPUT_TOOL = "StructuredOutput";

const NOTE = "*Scripted answer: no model was called and nothing was billed.*";

/** The scripted model of demo sessions. Claude Code, its tools, approvals and files are real. */
function demoAgent(request: ModelRequest, pace: Pace): Reply {
  return slowly(answer(request), pace);
}

function answer(request: ModelRequest): MessageReply {
  const schema = request.tools.find(({ name }) => name === OUTPUT_TOOL)?.inputSchema;
  const turn = readTurn(request);
  if (schema !== undefined && turn.steps.length === 0) return toolUse(OUTPUT_TOOL, generateSample(schema) as object);
  const scene = playScene(turn);
  if (scene) return scene;
  const played = playSkill(turn);
  const words = played.content.map((block) => (block.type === "text" ? block.text : undefined));
  return words.includes(undefined) ? played : text([...words, NOTE].join("\n\n"));
}
