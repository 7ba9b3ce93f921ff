import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { text, toolUse } from "@tandem/rehearsal";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { setJudgeStage, type JudgeStage } from "../../testing/judge-stage.ts";
import type { SessionInfo } from "../projection/session-info.ts";
import { installedSdk, NOT_INSTALLED } from "../testing/installed-opencode.ts";
import { OpencodeClient } from "../testing/opencode-client.ts";
import type { WireEvent } from "../projection/wire-event.ts";
import { claimOf, misfits, type Claim } from "./answers-fit.ts";
import { sdkMethods, type SdkMethod, type SdkResult } from "./sdk-methods.ts";
import { sweepTable, type SdkOutcome } from "./sweep-table.ts";

const CHECKPOINTS = { maxFiles: 1_000, maxFileBytes: 1024 * 1024, maxTotalBytes: 1024 ** 3, keepMs: 3_600_000 };
const WAIT_MS = 600_000;

let stage: JudgeStage;
let client: OpencodeClient;
/** A session with one turn, which most methods get a fork of. */
let session: string;
const outcomes: SdkOutcome[] = [];

describe.skipIf(installedSdk === undefined)(`the SDK (${NOT_INSTALLED})`, () => {
  beforeAll(async () => {
    stage = await setJudgeStage({ opencode: true, engine: () => ({ checkpoints: CHECKPOINTS }) });
    client = await new OpencodeClient(stage.server.opencodeUrl!, stage.server.secret).connect();
    await writeFile(join(stage.folder, "note.md"), "remember the milk\n");
    session = (await client.create()).id;
    stage.rehearsal.use([text("Hello.")]);
    await client.prompt(session, "Hello?");
    const module = (await import(pathToFileURL(join(installedSdk!, "dist/v2/index.js")).href)) as {
      createOpencodeClient(config: object): object;
    };
    const sdk = module.createOpencodeClient({
      baseUrl: stage.server.opencodeUrl,
      headers: { authorization: `Bearer ${stage.server.secret}` },
    });
    for (const method of sdkMethods(sdk, installedSdk!)) outcomes.push(await outcomeOf(method));
  }, WAIT_MS);
  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await stage[Symbol.asyncDispose]();
  });

  // `vitest run -u` rewrites it.
  test("docs/reference/opencode.md has the outcome of every method", async () => {
    await expect(sweepTable(outcomes)).toMatchFileSnapshot("../../../../../docs/reference/opencode.md");
  });

  test("every error is deliberate", () => {
    const accidents = outcomes.filter(({ status, sentence }) => sentence !== undefined && status !== 501);
    expect(accidents.map(({ name, status, sentence }) => ({ name, status, sentence }))).toEqual([]);
  });

  test("the answers and the events have the SDK's types", { timeout: WAIT_MS }, async () => {
    const events = client.events
      .filter(({ type }) => type !== "server.heartbeat")
      .map((event): Claim => ({ name: event.type, type: "Sdk.Event", value: { id: "evt_1", ...event } }));
    expect(await misfits([...outcomes.flatMap(claimOf), ...events], installedSdk!)).toEqual([]);
  });
});

async function outcomeOf(method: SdkMethod): Promise<SdkOutcome> {
  const { name, address, responses } = method;
  const isRefused = /^(v2|pty|tui|experimental|sync|worktree)\./.test(name);
  const own = isRefused ? session : (await client.call<SessionInfo>("POST", `/session/${session}/fork`, {})).id;
  const from = client.events.length;
  const parameters = { ...(await parametersOf(own)), ...(await PREPARED[name]?.(own)) };
  const end = new AbortController();
  const result = await method.call(parameters, { signal: end.signal, sseMaxRetryAttempts: 1 });
  try {
    const outcome = { name, address, responses, ...(await settle(result, address)) };
    // The next method's script must not answer this turn.
    const isIdle = (event: WireEvent) => event.type === "session.idle" && event.properties.sessionID === own;
    if (STARTS_TURN.has(name)) await client.until(isIdle, from);
    return outcome;
  } finally {
    end.abort();
  }
}

async function settle(result: SdkResult, address: string): Promise<Pick<SdkOutcome, "status" | "answer" | "sentence">> {
  if (result.stream) {
    // The SDK connects again and again, so the server is asked without it first.
    const [method, path] = address.split(" ") as [string, string];
    const asked = await client.fetch(method, path);
    if (asked.ok) {
      await asked.body?.cancel();
      return { status: asked.status, answer: ((await result.stream.next()) as { value: unknown }).value };
    }
    return { status: asked.status, answer: undefined, sentence: sentenceOf(await asked.json()) };
  }
  const status = result.response!.status;
  if (result.response!.ok) return { status, answer: status === 204 ? undefined : result.data };
  return { status, answer: undefined, sentence: sentenceOf(result.error) };
}

const sentenceOf = (error: unknown): string =>
  (error as { data?: { message?: string } }).data?.message ?? JSON.stringify(error);

/** One set for all methods: each takes the fields that it knows. */
async function parametersOf(sessionID: string): Promise<object> {
  const [message] = await client.messages(sessionID);
  return {
    sessionID,
    messageID: message?.info.id,
    partID: message?.parts[0]?.id,
    providerID: "tandem",
    projectID: "tandem",
    requestID: "per_000000000000_none",
    permissionID: "per_000000000000_none",
    ptyID: "pty_none",
    name: "none",
    path: "note.md",
    pattern: "milk",
    query: "note",
    title: "Title",
    agent: "build",
    command: "true",
    arguments: "",
    reply: "once",
    response: "once",
    answers: [["A"]],
    parts: [{ type: "text", text: "Hello?" }],
  };
}

const answers = async (): Promise<object> => {
  stage.rehearsal.use([text("Hello.")]);
  return { messageID: undefined };
};

/** Resources that the call needs. */
const PREPARED: Readonly<Record<string, (session: string) => Promise<object>>> = {
  "session.create": async () => ({ permission: undefined, model: undefined }),
  "session.update": async () => ({ time: undefined }),
  "session.prompt": answers,
  "session.promptAsync": answers,
  "session.command": async () => ({ ...(await answers()), command: "init", parts: [] }),
  "session.summarize": answers,
  "session.list": async () => ({ path: undefined }),
  "session.messages": async () => ({ limit: 10 }),
  "session.revert": answered,
  "session.unrevert": async () => {
    const { sessionID, messageID } = await answered();
    await client.call("POST", `/session/${sessionID}/revert`, { messageID });
    return { sessionID };
  },
  "file.list": async () => ({ path: "" }),
  "permission.reply": asks,
  "permission.respond": asks,
  "question.reply": questions,
  "question.reject": questions,
};

const STARTS_TURN: ReadonlySet<string> = new Set(
  Object.keys(PREPARED).filter((name) => /^(permission|question)|prompt|command|summarize/.test(name)),
);

/** A session with a turn of its own: a fork has no checkpoints of the turns before it. */
async function answered(): Promise<{ sessionID: string; messageID: string }> {
  const { id } = await client.create();
  stage.rehearsal.use([text("Hello.")]);
  await client.prompt(id, "Hello?");
  const [message] = await client.messages(id);
  return { sessionID: id, messageID: message!.info.id };
}

async function asks(id: string): Promise<object> {
  stage.rehearsal.use([toolUse("Write", { file_path: join(stage.folder, "asked.txt"), content: "?" }), text("Done.")]);
  await client.call("POST", `/session/${id}/prompt_async`, { parts: [{ type: "text", text: "Write." }] });
  const { id: requestID } = await client.asked(id);
  return { sessionID: id, requestID, permissionID: requestID };
}

async function questions(id: string): Promise<object> {
  const options = ["A", "B"].map((label) => ({ label, description: label }));
  const asked = [{ question: "Which?", header: "Which", options, multiSelect: false }];
  stage.rehearsal.use([toolUse("AskUserQuestion", { questions: asked }), text("Done.")]);
  await client.call("POST", `/session/${id}/prompt_async`, { parts: [{ type: "text", text: "Ask." }] });
  const isAsked = (event: WireEvent): event is Extract<WireEvent, { type: "question.asked" }> =>
    event.type === "question.asked" && event.properties.sessionID === id;
  return { requestID: (await client.until(isAsked)).properties.id };
}
