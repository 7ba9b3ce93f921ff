import { ClaudeCode, type ClaudeCodeSettings } from "../claude-code.ts";
import { call } from "./stage.ts";

/** A program of its own that makes calls and then does whatever its parent wants to see: end, or be killed. */
const { settings, prompts } = JSON.parse(process.argv[2] ?? "") as { settings: ClaudeCodeSettings; prompts: string[] };
const room = new ClaudeCode(settings);
const answers = await Promise.all(prompts.map((prompt) => room.text(call({ prompt }))));
console.log(JSON.stringify(answers));
