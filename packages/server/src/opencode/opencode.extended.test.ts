import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { reply, slowly, stallMidStream, text, thinking, toolUse } from "@tandem/rehearsal";
import { afterAll, describe, expect, test } from "vitest";
import { setJudgeStage } from "../testing/judge-stage.ts";
import { sessionIdOf } from "./projection/opencode-id.ts";
import { OpencodeClient } from "./testing/opencode-client.ts";
import type { PermissionRequest, QuestionRequest } from "./projection/permission-request.ts";
import type { SessionInfo } from "./projection/session-info.ts";
import type { WireEvent } from "./projection/wire-event.ts";

const CHECKPOINTS = { maxFiles: 1_000, maxFileBytes: 1024 * 1024, maxTotalBytes: 1024 ** 3, keepMs: 3_600_000 };

const stage = await setJudgeStage({ opencode: true, engine: () => ({ checkpoints: CHECKPOINTS }) });
const client = await new OpencodeClient(stage.server.opencodeUrl!, stage.server.secret).connect();
const session = (await client.create()).id;
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await stage[Symbol.asyncDispose]();
});

const at = (name: string): string => join(stage.folder, name);
const writes = (name: string, content: string) => toolUse("Write", { file_path: at(name), content });
const isOf = (type: WireEvent["type"]) => (event: WireEvent) => event.type === type;

describe("the entrance", () => {
  test("needs a token, the server's own name and no foreign origin", async () => {
    const url = `${stage.server.opencodeUrl}/session`;
    const refused = await fetch(url);
    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toContain("Basic");
    expect(await refused.json()).toMatchObject({ name: "UnauthorizedError", data: { message: expect.any(String) } });
    const headers = { authorization: `Bearer ${stage.server.secret}` };
    expect((await fetch(url, { headers })).status).toBe(200);
    expect((await fetch(url, { headers: { ...headers, origin: "http://evil.example" } })).status).toBe(403);
    expect((await fetch(`${url}?auth_token=${stage.server.secret}`)).status).toBe(401);
  });

  test("a token that may only read cannot act", async () => {
    const reader = new OpencodeClient(stage.server.opencodeUrl!, await stage.server.secretFor("read"));
    expect(await reader.call("GET", "/session")).toContainEqual(expect.objectContaining({ id: session }));
    await expect(reader.create()).rejects.toThrow("403");
    await expect(reader.prompt(session, "Hello")).rejects.toThrow("scope run");
  });

  test("a call that is not supported says why", async () => {
    await expect(client.call("POST", "/pty", {})).rejects.toThrow("501");
    await expect(client.call("POST", `/session/${session}/share`)).rejects.toThrow("Tandem publishes no sessions.");
    await expect(client.call("GET", "/no/such/call")).rejects.toThrow("404");
    await expect(client.call("GET", "/session/ses_none")).rejects.toThrow("There is no session");
    await expect(client.prompt(session, "Look.", { tools: { bash: false } })).rejects.toThrow("tools: Tandem does not");
  });
});

test("a prompt is answered with its parts, and two clients see them arrive", async () => {
  await using other = await new OpencodeClient(stage.server.opencodeUrl!, stage.server.secret).connect();
  // Long enough not to arrive all at once, also if Claude Code waits for the processor.
  const words = text("One two three four. ".repeat(8));
  stage.rehearsal.use([slowly(reply([thinking("Hm."), words]), { tokenMs: 100 })]);
  const answer = await client.prompt(session, "Count.");
  expect(answer.info).toMatchObject({
    role: "assistant",
    sessionID: session,
    modelID: "claude-sonnet-5-5",
    finish: "stop",
  });
  expect(answer.parts.map(({ type }) => type)).toEqual(["step-start", "reasoning", "text", "step-finish"]);
  for (const each of [client, other]) {
    await each.until((event) => event.type === "session.idle" && event.properties.sessionID === session);
    const deltas = each.events.flatMap((event) => (event.type === "message.part.delta" ? [event.properties] : []));
    const textPart = answer.parts.find(({ type }) => type === "text")!;
    expect(deltas.filter(({ partID }) => partID === textPart.id).length).toBeGreaterThan(0);
    const states = each.events.flatMap((event) =>
      event.type === "session.status" ? [event.properties.status.type] : [],
    );
    expect(states.slice(-2)).toEqual(["busy", "idle"]);
  }
  const [question, first] = await client.messages(session);
  expect(question).toMatchObject({ info: { role: "user", agent: "build" }, parts: [{ type: "text", text: "Count." }] });
  expect(first).toEqual(answer);
  expect(await client.call<SessionInfo>("GET", `/session/${session}`)).toMatchObject({
    title: "Count.",
    directory: stage.folder,
  });
});

describe("permissions", () => {
  test("once: the call waits, shows its diff and then runs", async () => {
    const from = client.events.length;
    stage.rehearsal.use([writes("once.txt", "hello\n"), text("Written.")]);
    const answered = client.prompt(session, "Write it.");
    const asked = await client.asked(session, from);
    expect(asked).toMatchObject({
      permission: "edit",
      metadata: { filepath: "once.txt", diff: expect.stringContaining("+hello") },
    });
    const message = await client.call<{ parts: unknown[] }>(
      "GET",
      `/session/${session}/message/${asked.tool!.messageID}`,
    );
    expect(message.parts).toContainEqual(expect.objectContaining({ callID: asked.tool!.callID, tool: "write" }));
    expect(await client.call<PermissionRequest[]>("GET", "/permission")).toContainEqual(asked);
    // A client that connects now learns of it, too.
    await using late = await new OpencodeClient(stage.server.opencodeUrl!, stage.server.secret).connect();
    expect(await late.asked(session)).toEqual(asked);
    await client.call("POST", `/permission/${asked.id}/reply`, { reply: "once" });
    await answered;
    expect(await readFile(at("once.txt"), "utf8")).toBe("hello\n");
    await late.until(isOf("permission.replied"));
    await expect(client.call("POST", `/permission/${asked.id}/reply`, { reply: "once" })).rejects.toThrow("409");
  });

  test("reject: the model gets the reason", async () => {
    const from = client.events.length;
    stage.rehearsal.use([writes("no.txt", "?"), text("Well.")]);
    const answered = client.prompt(session, "Write it.");
    const asked = await client.asked(session, from);
    await client.call("POST", `/permission/${asked.id}/reply`, { reply: "reject", message: "Not on a Sunday." });
    await answered;
    expect(JSON.stringify(stage.rehearsal.modelRequests.at(-1)?.body)).toContain("Not on a Sunday.");
  });

  test("always: the next call of the session is not asked about", async () => {
    const from = client.events.length;
    const pushes = (name: string) => toolUse("Bash", { command: `touch ${name}` });
    stage.rehearsal.use([pushes("a"), pushes("a"), text("Done.")]);
    const answered = client.prompt(session, "Touch.");
    const asked = await client.asked(session, from);
    expect(asked.always).toHaveLength(1);
    await client.call("POST", `/session/${session}/permissions/${asked.id}`, { response: "always" });
    const { info } = await answered;
    expect(info).toMatchObject({ finish: "stop" });
    expect(client.events.slice(from).filter(isOf("permission.asked"))).toHaveLength(1);
  });
});

test("a question is answered with labels", async () => {
  const from = client.events.length;
  const questions = [
    {
      question: "Which?",
      header: "Which",
      options: [
        { label: "A", description: "" },
        { label: "B", description: "" },
      ],
      multiSelect: false,
    },
  ];
  stage.rehearsal.use([toolUse("AskUserQuestion", { questions }), text("B it is.")]);
  const answered = client.prompt(session, "Ask me.");
  const isAsked = (event: WireEvent): event is Extract<WireEvent, { type: "question.asked" }> =>
    event.type === "question.asked";
  const { properties } = await client.until(isAsked, from);
  expect(properties.questions).toMatchObject([{ question: "Which?", options: [{ label: "A" }, { label: "B" }] }]);
  expect(await client.call<QuestionRequest[]>("GET", "/question")).toEqual([properties]);
  await client.call("POST", `/question/${properties.id}/reply`, { answers: [["B"]] });
  await answered;
  await client.until(isOf("question.replied"), from);
});

test("a turn's files have a diff, are reverted and restored", async () => {
  const { id } = await client.create({ agent: "accept-edits" });
  await writeFile(at("kept.txt"), "before\n");
  stage.rehearsal.use([
    toolUse("Read", { file_path: at("kept.txt") }),
    writes("kept.txt", "after\n"),
    text("Changed."),
  ]);
  const answer = await client.prompt(id, "Change it.", { agent: "accept-edits" });
  const diff = await client.call("GET", `/session/${id}/diff`);
  expect(diff).toMatchObject([
    { file: "kept.txt", additions: 1, deletions: 1, status: "modified", patch: expect.stringContaining("+after") },
  ]);
  const [question] = await client.messages(id);
  const reverted = await client.call<SessionInfo>("POST", `/session/${id}/revert`, { messageID: question!.info.id });
  expect(reverted.revert).toEqual({ messageID: question!.info.id });
  expect(await readFile(at("kept.txt"), "utf8")).toBe("before\n");
  // Clients show the messages as reverted, so they are still listed.
  expect(await client.messages(id)).toHaveLength(4);
  const restored = await client.call<SessionInfo>("POST", `/session/${id}/unrevert`);
  expect(restored.revert).toBeUndefined();
  expect(await readFile(at("kept.txt"), "utf8")).toBe("after\n");
  await client.call("POST", `/session/${id}/revert`, { messageID: answer.info.id });
  stage.rehearsal.use([text("Fresh.")]);
  await client.prompt(id, "Again.");
  expect((await client.messages(id)).map(({ parts }) => parts.find(({ type }) => type === "text"))).toMatchObject([
    { text: "Again." },
    { text: "Fresh." },
  ]);
});

test("files and images go to the model; files outside of the folder do not", async () => {
  await writeFile(at("note.md"), "remember the milk");
  const image = `data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==`;
  const file = (url: string, mime: string) => ({ type: "file", url, mime, filename: "x" });
  stage.rehearsal.use([text("Seen.")]);
  const parts = [
    { type: "text", text: "Look." },
    file(pathToFileURL(at("note.md")).href, "text/plain"),
    file(image, "image/png"),
  ];
  await client.call("POST", `/session/${session}/message`, { parts });
  const sent = JSON.stringify(stage.rehearsal.modelRequests.at(-1)?.body);
  expect(sent).toContain("remember the milk");
  expect(sent).toContain("image/png");
  const outside = [{ type: "text", text: "Look." }, file("file:///etc/passwd", "text/plain")];
  await expect(client.call("POST", `/session/${session}/message`, { parts: outside })).rejects.toThrow(/40[034]/);
});

test("abort ends the turn, and the message says so", async () => {
  stage.rehearsal.use([stallMidStream("A very long answer that is")]);
  const from = client.events.length;
  const answered = client.prompt(session, "Talk.");
  // Words that come together are in the part from its beginning.
  const hasWords = (event: WireEvent): boolean =>
    event.type === "message.part.delta" ||
    (event.type === "message.part.updated" &&
      event.properties.part.type === "text" &&
      event.properties.part.text.startsWith("A very"));
  await client.until(hasWords, from);
  expect(await client.call("POST", `/session/${session}/abort`)).toBe(true);
  expect((await answered).info).toMatchObject({ error: { name: "MessageAbortedError" } });
});

test("shell, rename, fork, delete, and a client's own message id", async () => {
  const ran = await client.call<{ parts: unknown[] }>("POST", `/session/${session}/shell`, {
    agent: "build",
    command: "echo by-hand",
  });
  expect(ran.parts).toMatchObject([
    { type: "tool", tool: "bash", state: { status: "completed", output: expect.stringContaining("by-hand") } },
  ]);
  await client.call("PATCH", `/session/${session}`, { title: "Renamed" });
  const isRenamed = (event: WireEvent) => event.type === "session.updated" && event.properties.info.title === "Renamed";
  await client.until(isRenamed);
  const messageID = "msg_1f0000000000aZ09aZ09aZ09aZ";
  stage.rehearsal.use([text("Yes.")]);
  const from = client.events.length;
  await client.call("POST", `/session/${session}/prompt_async`, {
    messageID,
    parts: [{ type: "text", text: "Own id." }],
  });
  await client.until((event) => event.type === "message.updated" && event.properties.info.id === messageID);
  const isAnswered = (event: WireEvent) => event.type === "session.idle" && event.properties.sessionID === session;
  await client.until(isAnswered, from);
  const forked = await client.call<SessionInfo>("POST", `/session/${session}/fork`, {});
  expect(forked.id).not.toBe(session);
  expect(await client.call("DELETE", `/session/${forked.id}`)).toBe(true);
  await client.until((event) => event.type === "session.deleted" && event.properties.info.id === forked.id);
});

test("a session of another client of Tandem appears with its messages", async () => {
  const from = client.events.length;
  const own = await stage.session();
  stage.rehearsal.use([text("From the API.")]);
  await stage.say(own, "Hello?");
  const id = sessionIdOf(own);
  await client.until((event) => event.type === "session.created" && event.properties.info.id === id, from);
  const isText = (event: WireEvent) =>
    event.type === "message.part.updated" &&
    event.properties.part.type === "text" &&
    event.properties.part.text === "From the API.";
  await client.until(isText, from);
  expect(await client.call("GET", "/session")).toContainEqual(expect.objectContaining({ id }));
});
