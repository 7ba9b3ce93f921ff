import { slowly, text, toolUse, type MessageReply, type ModelRequest, type Pace, type Reply } from "@tandem/rehearsal";
import { playSkill } from "./demo-skills.ts";
import { readTurn } from "./demo-turn.ts";
import { generateSample } from "./generate-sample.ts";
import { playScene } from "./story/scenes.ts";

const OUTPUT_TOOL = "StructuredOutput";

const NOTE = "*Scripted answer: no model was called and nothing was billed.*";

/** The scripted model of demo sessions. Claude Code, its tools, approvals and files are real. */
export function demoAgent(request: ModelRequest, pace: Pace): Reply {
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
