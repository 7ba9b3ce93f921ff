import { slowly, text, toolUse, type MessageReply, type ModelRequest, type Reply } from "@tandem/rehearsal";
import { playSkill } from "./demo-skills.ts";
import { readTurn } from "./demo-turn.ts";
import { generateSample } from "./generate-sample.ts";

/** Slow enough to make streaming visible. */
const PACE = { tokenMs: 12 };
const OUTPUT_TOOL = "StructuredOutput";

const NOTE =
  "This answer is scripted: no model was asked and nothing was spent. `tandem setup` connects your Claude login.";

/** The scripted model of demo sessions. Claude Code, its tools, approvals and files are real. */
export function demoAgent(request: ModelRequest): Reply {
  return slowly(answer(request), PACE);
}

function answer(request: ModelRequest): MessageReply {
  const schema = request.tools.find(({ name }) => name === OUTPUT_TOOL)?.inputSchema;
  const turn = readTurn(request);
  if (schema !== undefined && turn.steps.length === 0) return toolUse(OUTPUT_TOOL, generateSample(schema) as object);
  const played = playSkill(turn);
  const words = played.content.map((block) => (block.type === "text" ? block.text : undefined));
  return words.includes(undefined) ? played : text([...words, NOTE].join("\n\n"));
}
