import { RULE_ACTIONS, type Rule } from "@tandem/protocol";
import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { z } from "zod";
import { readJson } from "./from-claude.ts";
import { addServer, nothingImported, type Imported } from "./imported.ts";
import { addAgent, modelOf, otherKeys, readAgentFile, UNKNOWN_HERE } from "./read-agent-file.ts";

const action = z.enum(RULE_ACTIONS);
const agentSettings = z.looseObject({
  description: z.string().optional(),
  prompt: z.string().optional(),
  model: z.string().optional(),
  mode: z.string().optional(),
  tools: z.record(z.string(), z.boolean()).optional(),
  disable: z.boolean().optional(),
});
const config = z.looseObject({
  $schema: z.string().optional(),
  model: z.string().optional(),
  instructions: z.array(z.string()).default([]),
  permission: z.union([action, z.record(z.string(), z.union([action, z.record(z.string(), action)]))]).default({}),
  mcp: z
    .record(
      z.string(),
      z.looseObject({
        type: z.string().optional(),
        command: z.array(z.string()).optional(),
        environment: z.record(z.string(), z.string()).optional(),
        url: z.string().optional(),
        headers: z.record(z.string(), z.string()).optional(),
        enabled: z.boolean().optional(),
      }),
    )
    .default({}),
  agent: z.record(z.string(), agentSettings).default({}),
  command: z
    .record(
      z.string(),
      z.looseObject({
        template: z.string(),
        description: z.string().optional(),
        agent: z.string().optional(),
        model: z.string().optional(),
      }),
    )
    .default({}),
});

/** Maps opencode's permissions to our tools. */
const TOOLS: Readonly<Record<string, string>> = {
  "*": "*",
  bash: "Bash",
  edit: "edit",
  read: "Read",
  glob: "Glob",
  grep: "Grep",
  webfetch: "WebFetch",
  websearch: "WebSearch",
};

/** Imports a folder's opencode settings. Sessions read command files directly. */
export async function fromOpencode(folder: string, model: string): Promise<Imported> {
  const into = nothingImported();
  for (const name of ["opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"]) {
    const read = await readJson(into, join(folder, name), name, config, (text) => JSON.parse(withoutComments(text)));
    if (read) take(into, read, name, model);
  }
  for await (const file of glob(".opencode/{agent,agents}/**/*.md", { cwd: folder })) {
    into.files.push(file);
    readAgentFile(into, file, await readFile(join(folder, file), "utf8"), into.model ?? model);
  }
  return into;
}

function take(into: Imported, read: z.output<typeof config>, file: string, fallback: string): void {
  const others = otherKeys(read, config);
  if (others.length > 0) into.skipped.push({ what: `${others.join(", ")} of ${file}`, why: UNKNOWN_HERE });
  if (read.instructions.length > 0) {
    into.skipped.push({
      what: `the instructions ${read.instructions.join(", ")}`,
      why: "sessions read CLAUDE.md: add them there",
    });
  }
  const model = modelOf(read.model);
  if (model !== undefined) into.model ??= model;
  else if (read.model !== undefined) into.skipped.push({ what: `the model ${read.model}`, why: "not a Claude model" });
  const permission = typeof read.permission === "string" ? { "*": read.permission } : read.permission;
  for (const [kind, said] of Object.entries(permission)) {
    const tool = TOOLS[kind];
    if (tool === undefined) {
      into.skipped.push({ what: `the permission ${kind}`, why: UNKNOWN_HERE });
      continue;
    }
    const rules = typeof said === "string" ? { "*": said } : said;
    for (const [pattern, each] of Object.entries(rules)) {
      into.rules.push({ tool, ...(pattern !== "*" && { pattern }), action: each } satisfies Rule);
    }
  }
  for (const [name, { command, environment, url, headers, enabled }] of Object.entries(read.mcp)) {
    if (enabled === false) {
      into.skipped.push({ what: `MCP server ${name}`, why: "disabled there" });
      continue;
    }
    const [program, ...args] = command ?? [];
    addServer(into, name, {
      ...(program !== undefined && { command: program, args, ...(environment && { env: environment }) }),
      ...(program === undefined && url !== undefined && { url, ...(headers && { headers }) }),
    });
  }
  for (const [name, { disable, prompt, ...agent }] of Object.entries(read.agent)) {
    if (disable) continue;
    const isElsewhere = prompt?.startsWith("{file:") ?? false;
    if (isElsewhere) into.skipped.push({ what: `the prompt of the agent ${name}`, why: "it is in a separate file" });
    const { description, model: named, tools, mode } = agent;
    const system = isElsewhere ? "" : (prompt ?? "");
    const unknown = otherKeys(agent, agentSettings);
    addAgent(into, { name, description, model: named, tools, mode, system }, into.model ?? fallback, unknown);
  }
  for (const [name, { template, ...head }] of Object.entries(read.command)) {
    const { description, agent, model: named } = head;
    const fields = Object.entries({ description, agent, model: named }).filter(([, value]) => value !== undefined);
    const front = fields.length > 0 ? `---\n${stringify(Object.fromEntries(fields))}---\n` : "";
    into.commands[name] = `${front}${template.trim()}\n`;
  }
}

/** Removes comments and trailing commas, which opencode allows. */
function withoutComments(text: string): string {
  const kept = text.replaceAll(/"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (match) =>
    match.startsWith('"') ? match : "",
  );
  return kept.replaceAll(/"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])/g, (match) => (match.startsWith('"') ? match : ""));
}
