import { PassThrough, Readable, Writable } from "node:stream";
import { client, ndJsonStream, type ClientConnection } from "@agentclientprotocol/sdk";
import { TandemError } from "@tandem/protocol";
import { expect, test } from "vitest";
import { MemoryEngine } from "../../testing/memory-engine.ts";
import { startTestServer, type TestServer } from "../../testing/start-test-server.ts";
import { thinAcpAgents } from "../../testing/thin-acp-agent.ts";
import { pipeAcp } from "./pipe-acp.ts";

const engine = new MemoryEngine();
const agents = thinAcpAgents(engine);
const start = () => startTestServer({ engine: engine.engine, acp: agents.connect });

interface Editor {
  connection: ClientConnection;
  texts: string[];
  /** The permission requests that arrived, with functions to answer them. */
  questions: { requestId: unknown; signal: AbortSignal; answer: (option: string) => void }[];
  /** Closes the editor's side and resolves when the pipe has ended. */
  leave(): Promise<void>;
}

/** An editor that talks to a pipe as to a program that it started. */
function edit(find: () => TestServer | undefined): Editor {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const piping = pipeAcp({
    input,
    output,
    find: async () => {
      const server = find();
      if (!server) throw new TandemError("network", "No server is up.", { fix: "Start one." });
      return { url: server.url, token: server.secret };
    },
    signal: new AbortController().signal,
  });
  const texts: string[] = [];
  const questions: Editor["questions"] = [];
  const app = client({ name: "editor" })
    .onNotification("session/update", ({ params: { update } }) => {
      if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text")
        texts.push(update.content.text);
    })
    .onRequest(
      "session/request_permission",
      ({ requestId, signal }) =>
        new Promise((resolve) => {
          const answer = (optionId: string): void => resolve({ outcome: { outcome: "selected", optionId } });
          questions.push({ requestId, signal, answer });
        }),
    );
  const connection = app.connect(
    ndJsonStream(Writable.toWeb(input), Readable.toWeb(output) as ReadableStream<Uint8Array>),
  );
  return {
    connection,
    texts,
    questions,
    async leave() {
      input.end();
      await piping;
    },
  };
}

const initialize = ({ connection }: Editor) => connection.agent.request("initialize", { protocolVersion: 1 });
const begin = async ({ connection }: Editor): Promise<string> =>
  (await connection.agent.request("session/new", { cwd: "/", mcpServers: [] })).sessionId;
const say = ({ connection }: Editor, sessionId: string, text: string) =>
  connection.agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });

test("a conversation passes through, and the connection ends with the editor", async () => {
  await using server = await start();
  const editor = edit(() => server);
  await initialize(editor);
  const session = await begin(editor);
  expect(await say(editor, session, "count 100")).toEqual({ stopReason: "end_turn" });
  expect(editor.texts.length).toBe(100);
  const asked = say(editor, session, "ask");
  await expect.poll(() => editor.questions.length).toBe(1);
  editor.questions[0]!.answer("yes");
  await asked;
  expect(editor.texts.at(-1)).toBe("yes");
  await say(editor, session, "withdraw");
  await expect.poll(() => editor.questions[1]?.signal.aborted).toBe(true);
  await say(editor, session, "long");
  expect(editor.texts.at(-1)!.length).toBe(1_024 * 1_024);
  await editor.leave();
  await expect.poll(() => agents.over).toBe(agents.begun);
});

test("unanswered requests fail when the server goes away, and the next server resumes the sessions", async () => {
  let server: TestServer | undefined = await start();
  const editor = edit(() => server);
  await initialize(editor);
  const session = await begin(editor);
  const asked = say(editor, session, "ask").catch((error: unknown) => error);
  await expect.poll(() => editor.questions.length).toBe(1);
  await server[Symbol.asyncDispose]();
  server = undefined;
  expect(await asked).toMatchObject({ code: -32_603, message: expect.stringContaining("server has gone away") });
  // The server's request is withdrawn.
  await expect.poll(() => editor.questions[0]!.signal.aborted).toBe(true);
  await expect(say(editor, session, "count 1")).rejects.toMatchObject({ message: "No server is up. Start one." });

  await using next = await start();
  server = next;
  const again = say(editor, session, "ask");
  await expect.poll(() => editor.questions.length).toBe(2);
  expect(agents.resumed).toContain(session);
  // A late answer must not answer the new server's request, which may have the same id.
  editor.questions[0]!.answer("late");
  editor.questions[1]!.answer("yes");
  await again;
  expect(editor.texts).toEqual(["yes"]);
  expect(editor.questions[0]!.requestId).not.toBe(editor.questions[1]!.requestId);
  await editor.leave();
});

test("invalid messages are answered, and requests without a server are refused with a reason", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const piping = pipeAcp({
    input,
    output,
    find: () => Promise.reject(new TandemError("network", "No server is up.")),
    signal: new AbortController().signal,
  });
  input.end('no JSON\n[]\n\n{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}\n');
  await piping;
  const lines = (output.read() as Buffer).toString().trim().split("\n");
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { id: null, error: { code: -32_600 } },
    { id: null, error: { code: -32_600 } },
    { id: 7, error: { code: -32_603, message: "No server is up." } },
  ]);
});
