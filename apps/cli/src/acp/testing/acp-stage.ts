import { mkdir, readdir } from "node:fs/promises";
import { PassThrough, Readable, Writable } from "node:stream";
import {
  client,
  methods,
  ndJsonStream,
  type ClientCapabilities,
  type ClientContext,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  type PromptRequest,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from "@agentclientprotocol/sdk/unstable";
import type { Rehearsal, Script } from "@tandem/rehearsal";
import { AcpSchema } from "@tandem/server/testing";
import type { PipedCommand } from "../../testing/open-command.ts";
import { sessionMachine } from "../../testing/session-machine.ts";

export interface EditorOptions {
  capabilities?: ClientCapabilities;
  args?: readonly string[];
  /** Without it, every permission request is cancelled. */
  onPermission?: (request: RequestPermissionRequest, signal: AbortSignal) => Promise<RequestPermissionResponse>;
  onForm?: (request: CreateElicitationRequest) => Promise<CreateElicitationResponse>;
}

/** An editor with `tandem acp` as its agent: the SDK's own client, with every line validated against the schema. */
export interface Editor extends AsyncDisposable {
  agent: ClientContext;
  schema: AcpSchema;
  /** All received updates, in order, of all sessions. */
  updates: { sessionId: string; update: SessionUpdate }[];
  begin(): Promise<string>;
  say(sessionId: string, text: string): Promise<string>;
  /** Resolves with the first matching update, past or future. */
  until(fits: (update: SessionUpdate) => boolean): Promise<SessionUpdate>;
}

export interface AcpStage extends AsyncDisposable {
  rehearsal: Rehearsal;
  /** The folder of the editor's sessions; it is not in a project. */
  folder: string;
  variables: Record<string, string>;
  project: string;
  /** Runs a command and returns its output. */
  run(...args: string[]): Promise<string>;
  /** Pids of Claude Code processes and MCP servers in the ledger. */
  processes(): Promise<number[]>;
  editor(options?: EditorOptions): Promise<Editor>;
}

/** A scratch machine with the real command, the real Claude Code and a rehearsal. */
export async function setAcpStage(script: Script): Promise<AcpStage> {
  const machine = await sessionMachine(script);
  const { rehearsal, project } = machine;
  const folder = machine.folder.join("work");
  await mkdir(folder);
  const editors: Editor[] = [];
  return {
    rehearsal,
    folder,
    variables: { ...machine.variables, SESSION_KEY: "sk-ant-made-up" },
    project,
    async run(...args) {
      const { code, stdout, stderr } = await machine.run(args);
      if (code !== 0) throw new Error(stderr);
      return stdout;
    },
    async processes() {
      const names = await readdir(machine.folder.join("home", ".tandem", "processes")).catch(() => []);
      return names.map((name) => Number.parseInt(name, 10));
    },
    async editor(options = {}) {
      const editor = await openEditor(machine.open(["acp", ...(options.args ?? [])]), folder, options);
      editors.push(editor);
      return editor;
    },
    async [Symbol.asyncDispose]() {
      for (const editor of editors) await editor[Symbol.asyncDispose]();
      await machine[Symbol.asyncDispose]();
    },
  };
}

async function openEditor(command: PipedCommand, folder: string, options: EditorOptions): Promise<Editor> {
  const schema = new AcpSchema();
  const updates: Editor["updates"] = [];
  const waiting = new Set<() => void>();
  const toAgent = new PassThrough();
  toAgent.pipe(command.stdin);
  eachLine(toAgent, (line) => schema.sent(line));
  const fromAgent = new PassThrough();
  command.stdout.pipe(fromAgent);
  eachLine(command.stdout, (line) => schema.received(line));
  const connection = client({ name: "editor" })
    .onNotification(methods.client.session.update, ({ params }) => {
      updates.push(params);
      for (const look of waiting) look();
    })
    .onRequest(methods.client.session.requestPermission, async ({ params, signal }) =>
      options.onPermission ? options.onPermission(params, signal) : { outcome: { outcome: "cancelled" } },
    )
    .onRequest(methods.client.elicitation.create, async ({ params }) =>
      options.onForm ? options.onForm(params) : { action: "cancel" },
    )
    .connect(ndJsonStream(Writable.toWeb(toAgent) as never, Readable.toWeb(fromAgent) as never));
  const { agent } = connection;
  await agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientCapabilities: options.capabilities ?? {},
    clientInfo: { name: "test", version: "1.0.0" },
  });
  return {
    agent,
    schema,
    updates,
    async begin() {
      return (await agent.request(methods.agent.session.new, { cwd: folder, mcpServers: [] })).sessionId;
    },
    async say(sessionId, text) {
      const params: PromptRequest = { sessionId, prompt: [{ type: "text", text }] };
      return (await agent.request(methods.agent.session.prompt, params)).stopReason;
    },
    until(fits) {
      const { promise, resolve } = Promise.withResolvers<SessionUpdate>();
      const look = (): void => {
        const found = updates.find(({ update }) => fits(update));
        if (!found) return;
        waiting.delete(look);
        resolve(found.update);
      };
      waiting.add(look);
      look();
      return promise;
    },
    async [Symbol.asyncDispose]() {
      toAgent.end();
      await command.outcome;
    },
  };
}

function eachLine(stream: Readable, take: (line: string) => void): void {
  let rest = "";
  stream.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") take(line);
  });
}

/** Joins updates by id: chunks concatenated, calls in their final state. */
export function foldUpdates(updates: readonly SessionUpdate[]): {
  messages: string[];
  calls: Record<string, unknown>[];
} {
  const messages = new Map<string, string>();
  const calls = new Map<string, Record<string, unknown>>();
  for (const update of updates) {
    if (update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update") {
      const { sessionUpdate: _, ...fields } = update;
      calls.set(update.toolCallId, { ...calls.get(update.toolCallId), ...fields });
    } else if (update.sessionUpdate.endsWith("_chunk") && "content" in update && "messageId" in update) {
      const content = update.content as { type: string; text?: string };
      const key = `${update.sessionUpdate} ${update.messageId}`;
      messages.set(key, (messages.get(key) ?? "") + (content.text ?? `[${content.type}]`));
    }
  }
  return { messages: [...messages].map(([key, text]) => `${key}: ${text}`), calls: [...calls.values()] };
}
