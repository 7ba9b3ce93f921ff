import type { Rule, RuleAction } from "@tandem/protocol";
import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { addServer, nothingImported, type Imported } from "./imported.ts";
import { readAgentFile } from "./read-agent-file.ts";

const lists = z.array(z.string()).default([]);
const settings = z.looseObject({
  permissions: z.looseObject({ allow: lists, ask: lists, deny: lists }).prefault({}),
  hooks: z.record(z.string(), z.unknown()).optional(),
  env: z.record(z.string(), z.unknown()).optional(),
});
const servers = z.looseObject({
  mcpServers: z
    .record(
      z.string(),
      z.looseObject({
        command: z.string().optional(),
        args: z.array(z.string()).optional(),
        env: z.record(z.string(), z.string()).optional(),
        url: z.string().optional(),
        headers: z.record(z.string(), z.string()).optional(),
      }),
    )
    .default({}),
});

/** Imports a folder's Claude Code settings: permissions, MCP servers and agents. Sessions read its commands directly. */
export async function fromClaude(folder: string, model: string): Promise<Imported> {
  const into = nothingImported();
  for (const name of ["settings.json", "settings.local.json"]) {
    const read = await readJson(into, join(folder, ".claude", name), `.claude/${name}`, settings);
    if (!read) continue;
    for (const action of ["deny", "ask", "allow"] as const) {
      for (const text of read.permissions[action]) addRule(into, text, action);
    }
    const left = (["hooks", "env"] as const).filter((key) => Object.keys(read[key] ?? {}).length > 0);
    if (left.length > 0) {
      into.skipped.push({
        what: `${left.join(" and ")} of .claude/${name}`,
        why: "trusted folders load them automatically (tandem trust --folder)",
      });
    }
  }
  const mcp = await readJson(into, join(folder, ".mcp.json"), ".mcp.json", servers);
  for (const [name, { command, args, env, url, headers }] of Object.entries(mcp?.mcpServers ?? {})) {
    addServer(into, name, {
      ...(command !== undefined && { command, ...(args && { args }), ...(env && { env }) }),
      ...(command === undefined && url !== undefined && { url, ...(headers && { headers }) }),
    });
  }
  for await (const file of glob(".claude/agents/**/*.md", { cwd: folder })) {
    into.files.push(file);
    readAgentFile(into, file, await readFile(join(folder, file), "utf8"), model);
  }
  return into;
}

/** `Bash(npm run test:*)`, `Read(./.env)`, `WebFetch(domain:example.com)`, `mcp__github__*`, `Edit`. */
function addRule(into: Imported, text: string, action: RuleAction): void {
  const [, tool, inner] = /^([\w*]+)(?:\((.*)\))?$/s.exec(text.trim()) ?? [];
  if (tool === undefined) {
    into.skipped.push({ what: `the permission ${text}`, why: "unknown format" });
    return;
  }
  const pattern = inner === undefined || inner === "" || inner === "*" ? undefined : patternOf(tool, inner);
  into.rules.push({ tool, ...(pattern !== undefined && { pattern }), action } satisfies Rule);
}

function patternOf(tool: string, inner: string): string {
  if (tool === "Bash") return inner.replace(/:\*$/, " *");
  if (tool === "WebFetch") return inner.replace(/^domain:/, "");
  // In Claude Code, `//` is the file system root and `/` is the folder of the settings.
  if (inner.startsWith("//")) return inner.slice(1);
  return inner.replace(/^\.?\//, "");
}

export async function readJson<T>(
  into: Imported,
  path: string,
  displayPath: string,
  schema: z.ZodType<T>,
  parse: (text: string) => unknown = JSON.parse,
): Promise<T | undefined> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  into.files.push(displayPath);
  try {
    return schema.parse(parse(text));
  } catch (error) {
    const why = error instanceof z.ZodError ? "unexpected format" : (error as Error).message;
    into.skipped.push({ what: displayPath, why });
    return undefined;
  }
}
