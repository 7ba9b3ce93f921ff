import type { HostServer, McpToolReply } from "@tandem/claude-code";
import type { SessionEventBody, ToolResultContent } from "@tandem/protocol";
import type { Store } from "@tandem/storage";
import { externalDeadline } from "../host/external-deadline.ts";
import type { OpenCall } from "../log/open-turn.ts";
import type { SessionWriter } from "../log/session-writer.ts";
import { hostServersOf } from "../mcp/host-servers-of.ts";
import type { ToolDefinitions } from "../mcp/tool-definitions.ts";
import type { Rules } from "../rules/kept-rules.ts";
import type { ProcessSettings } from "./process-settings.ts";
import { openProcessSetup } from "./process-setup.ts";
import { admitLateCall, sessionJudge } from "./session-judge.ts";
import { loadTranscripts } from "./transcript-store.ts";

interface CallDependencies {
  store: Store;
  settings: ProcessSettings;
  writer: SessionWriter;
  definitions: ToolDefinitions;
  rules: Rules;
}

interface ToolResult {
  content: ToolResultContent[];
  isError: boolean;
}

/**
 * Calls a tool of an MCP server for a process that has ended, with the input that the model gave or the one that a person
 * changed it to. The log may show the model's input with secrets redacted, so it is read from the transcript. `onRun` is
 * awaited right before the call.
 */
export async function callMcpTool(
  { store, settings, writer, definitions, rules }: CallDependencies,
  { use }: OpenCall,
  { changedTo, onRun }: { changedTo?: Record<string, unknown>; onRun: () => Promise<void> },
): Promise<ToolResult> {
  const { row } = writer;
  const name = use.type === "agent.mcp_tool_use" ? use.mcp_server_name : "";
  const input = changedTo ?? (await storedInput(store, writer, use.tandem.tool_use_id)) ?? use.input;
  const write = (events: SessionEventBody[]): void => void writer.write(events);
  const hide = (secret: string): void => writer.redactor.hide(secret);
  const around = { store, definitions, isFirst: false, write, hide, onLoginFailed: () => {} };
  await using processSetup = await openProcessSetup(row, settings, around);
  const hosted = await hostServersOf(row, settings);
  const server = processSetup.setup.connectedServers?.find((each) => each.name === name);
  const own = hosted.find((each) => each.name === name);
  const sessionRules = await rules.rulesOf({ id: row.id, agentId: row.agent.id, folder: row.folder });
  const judge = sessionJudge({
    writer,
    settings,
    sessionRules,
    processSetup,
    hostServers: hosted,
    plans: "",
    skillFolders: [],
  });
  const call = { eventId: use.id, toolUseId: use.tandem.tool_use_id, name: use.name, mcpServer: name, input };
  const made = (await admitLateCall(call, judge, processSetup.hooks)) ?? input;
  await onRun();
  try {
    if (server) return fromReply(await server.call(use.name, made, externalDeadline(server.timeoutMs)));
    if (own) return await callOwn(own, use.name, made);
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error));
  }
  return failed(`There is no MCP server ${name} any more. The call did not run.`);
}

async function callOwn({ tools, timeoutMs }: HostServer, name: string, input: unknown): Promise<ToolResult> {
  const tool = tools.find((each) => each.name === name);
  if (!tool) return failed(`There is no tool ${name}.`);
  const { text, isError } = await tool.run(input, externalDeadline(timeoutMs));
  return { content: [{ type: "text", text }], isError };
}

async function storedInput(
  store: Store,
  { row }: SessionWriter,
  toolUseId: string,
): Promise<Record<string, unknown> | undefined> {
  const { callsIn } = await import("@tandem/claude-code");
  const transcripts = await loadTranscripts(store.transcripts, row.id, row.claudeSession);
  return (transcripts.get("") ?? []).flatMap(callsIn).find(({ id }) => id === toolUseId)?.input;
}

const failed = (text: string): ToolResult => ({ content: [{ type: "text", text }], isError: true });

/** Blocks that have no equal in a result are kept as JSON. */
const fromReply = ({ content, isError = false }: McpToolReply): ToolResult => ({
  content: content.map((block): ToolResultContent => {
    if (block.type === "text") return { type: "text", text: block.text };
    if (block.type !== "image") return { type: "text", text: JSON.stringify(block) };
    return { type: "image", source: { type: "base64", media_type: block.mimeType, data: block.data } };
  }),
  isError,
});
