import { ClaudeCode, type ClaudeCodeSettings } from "../calls/claude-code.ts";
import { call } from "./claude-stage.ts";

/** A separate program that makes calls until it exits or its parent kills it. */
const { settings, prompts } = JSON.parse(process.argv[2] ?? "") as { settings: ClaudeCodeSettings; prompts: string[] };
const claude = new ClaudeCode(settings);
const answers = await Promise.all(prompts.map((prompt) => claude.text(call({ prompt }))));
console.log(JSON.stringify(answers));
