import { spawn, type ChildProcess } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { PassThrough, Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
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
import { startRehearsal, type Rehearsal, type Script } from "@tandem/rehearsal";
import { AcpSchema } from "./acp-schema.ts";

/** `npm test` builds the package once and tests that: it starts in half the time, and it is what users run. */
export const TANDEM =
  process.env["TANDEM_TEST_COMMAND"] ??
  fileURLToPath(new URL("../../../../../apps/cli/bin/tandem.mjs", import.meta.url));

interface EditorOptions {
  capabilities?: ClientCapabilities;
  args?: readonly string[];
  /** Without it, every permission request is cancelled. */
  onPermission?: (request: RequestPermissionRequest, signal: AbortSignal) => Promise<RequestPermissionResponse>;
  onForm?: (request: CreateElicitationRequest) => Promise<CreateElicitationResponse>;
}

/** An editor with `tandem acp` as its agent: the SDK's own client, with every line validated against the schema. */
interface Editor extends AsyncDisposable {
  child: ChildProcess;
  agent: ClientContext;
  schema: AcpSchema;
  /** All received updates, in order, of all sessions. */
  updates: { sessionId: string; update: SessionUpdate }[];
  stderr: () => string;
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
  /** Pids of Claude Code processes and MCP servers in the ledger. */
  processes(): Promise<number[]>;
  editor(options?: EditorOptions): Promise<Editor>;
}

/** A scratch machine with the real command, the real Claude Code and a rehearsal. */
export async function setAcpStage(script: Script): Promise<AcpStage> {
  const root = await mkdtemp(join(tmpdir(), "tandem-acp-"));
  const rehearsal = await startRehearsal(script);
  const [home, project, folder, tmp] = ["home", "project", "work", "tmp"].map((name) => join(root, name)) as [
    string,
    string,
    string,
    string,
  ];
  await Promise.all([home, project, folder, tmp].map((path) => mkdir(path)));
  await writeFile(
    join(project, "tandem.yaml"),
    `llm:\n  claudeCode: { auth: api_key, apiKey: "env:SESSION_KEY", baseUrl: "${rehearsal.url}" }\n`,
  );
  const variables: Record<string, string> = {
    PATH: [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(delimiter),
    HOME: home,
    TANDEM_HOME: join(home, ".tandem"),
    CLAUDE_CONFIG_DIR: join(home, ".claude"),
    TMPDIR: tmp,
    HTTPS_PROXY: "http://127.0.0.1:9",
    NO_PROXY: "127.0.0.1",
    SESSION_KEY: "sk-ant-made-up",
    NODE_COMPILE_CACHE: join(tmpdir(), `tandem-test-cache-${process.getuid?.() ?? 0}`),
  };
  const start = (args: readonly string[]): ChildProcess =>
    spawn(process.execPath, [TANDEM, ...args], { cwd: project, env: variables, stdio: ["pipe", "pipe", "pipe"] });
  await ended(start(["trust"]));
  const editors: Editor[] = [];
  return {
    rehearsal,
    folder,
    variables,
    project,
    async processes() {
      const names = await readdir(join(home, ".tandem", "processes")).catch(() => []);
      return names.map((name) => Number.parseInt(name, 10));
    },
    async editor(options = {}) {
      const editor = await openEditor(start(["acp", ...(options.args ?? [])]), folder, options);
      editors.push(editor);
      return editor;
    },
    async [Symbol.asyncDispose]() {
      for (const editor of editors) await editor[Symbol.asyncDispose]();
      await rehearsal.close();
      await rm(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

async function openEditor(child: ChildProcess, folder: string, options: EditorOptions): Promise<Editor> {
  const schema = new AcpSchema();
  const updates: Editor["updates"] = [];
  const waiting = new Set<() => void>();
  let stderr = "";
  child.stderr!.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  child.stdin!.on("error", () => undefined);
  const toAgent = new PassThrough();
  toAgent.pipe(child.stdin!);
  eachLine(toAgent, (line) => schema.sent(line));
  const fromAgent = new PassThrough();
  child.stdout!.pipe(fromAgent);
  eachLine(child.stdout!, (line) => schema.received(line));
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
    child,
    agent,
    schema,
    updates,
    stderr: () => stderr,
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
      if (child.exitCode !== null || child.signalCode !== null) return;
      toAgent.end();
      await ended(child);
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

async function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  child.stdout?.resume();
  return new Promise((resolve) => child.once("exit", resolve));
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
