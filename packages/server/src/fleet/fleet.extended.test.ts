import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { createPageKey } from "@tandem/client";
import { always, slowly, stallBeforeFirstByte, text, toolUse } from "@tandem/rehearsal";
import { whyNoPostgres } from "@tandem/storage/testing";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { WebSocket } from "ws";
import { pageBrowser } from "../testing/page-browser.ts";
import { setFleetStage, type FleetStage, type StageMember } from "../testing/fleet-stage.ts";

const without = whyNoPostgres();
/** Far more than needed, for a busy machine. */
const WAIT_MS = 60_000 * inject("slowness");

describe.skipIf(without !== undefined)(`a fleet${without ? ` (${without})` : ""}`, () => {
  let stage: FleetStage;
  let first: StageMember;
  let second: StageMember;
  let worker: StageMember;
  beforeAll(async () => {
    stage = await setFleetStage();
    [first, second, worker] = await Promise.all([
      stage.join("server", { machine: "front" }),
      stage.join("server", { machine: "front" }),
      stage.join("worker", { machine: "back" }),
    ]);
  }, 3 * WAIT_MS);
  afterAll(() => stage?.[Symbol.asyncDispose]());

  const clientOf = ({ server }: StageMember) =>
    new Anthropic({ apiKey: first.server.secret, baseURL: server.url, maxRetries: 0 });
  const at = (
    member: StageMember,
    path: string,
    init: Omit<RequestInit, "headers"> & { headers?: Record<string, string> } = {},
  ) =>
    fetch(`${member.server.url}${path}`, {
      ...init,
      headers: {
        authorization: `Bearer ${first.server.secret}`,
        ...(init.body ? { "content-type": "application/json" } : {}),
        ...init.headers,
      },
    });
  const post = (member: StageMember, path: string, body: unknown = {}, headers: Record<string, string> = {}) =>
    at(member, path, { method: "POST", body: JSON.stringify(body), headers });

  async function newSession(member: StageMember, tools: unknown[] = []): Promise<string> {
    const agent = await clientOf(member).beta.agents.create({
      name: "a",
      model: "claude-sonnet-5-5",
      tools: tools as never,
    });
    const session = await clientOf(member).beta.sessions.create({ agent: agent.id, environment_id: "env_local" });
    return session.id;
  }
  const say = (member: StageMember, session: string, words: string) =>
    clientOf(member).beta.sessions.events.send(session, {
      events: [{ type: "user.message", content: [{ type: "text", text: words }] }],
    });
  const types = async (member: StageMember, session: string): Promise<string[]> =>
    (await clientOf(member).beta.sessions.events.list(session, { limit: 100 })).data.map(({ type }) => type);
  const idle = async (member: StageMember, session: string): Promise<void> => {
    await expect.poll(() => types(member, session), { timeout: WAIT_MS }).toContain("session.status_idle");
  };

  test("a server creates a session on the worker, in the worker's folder, and every process can read it", async () => {
    await writeFile(join(stage.folderOf("back"), "here.txt"), "of the worker");
    const session = await newSession(first);
    expect((await worker.store.sessions.get(session))?.folder).toBe(stage.folderOf("back"));
    const read = await at(second, `/v1/sessions/${session}/files/content?path=here.txt`);
    expect(await read.json()).toMatchObject({ text: "of the worker" });
    expect(read.headers.get("request-id")).toMatch(/^req_/);
    const lines = worker.server.log.filter((line) => line["request_id"] === read.headers.get("request-id"));
    expect(lines).toMatchObject([{ path: `/v1/sessions/${session}/files/content`, status: 200 }]);
    const models = (await (await at(first, "/v1/models")).json()) as { data: { display_name: string }[] };
    expect(models.data[0]?.display_name).toBe("Sonnet of back");
  });

  test("errors of the worker are passed on unchanged, with the client's request id", async () => {
    const session = await newSession(first);
    const answer = await at(first, `/v1/sessions/${session}/files/content?path=nowhere.txt`);
    const body = (await answer.json()) as { request_id: string };
    expect([answer.status, body]).toMatchObject([404, { type: "error", error: { type: "not_found_error" } }]);
    expect(body.request_id).toBe(answer.headers.get("request-id"));
    // The internal route needs a token, too.
    const path = `/v1/fleet/previews/${session}`;
    const open = await fetch(`${worker.server.url}${path}`, {
      headers: { "tandem-passed-on": `req_${"0".repeat(24)}` },
    });
    expect(open.status).toBe(401);
  });

  test("both servers stream a turn with its previews, in order, and no preview after its event", async () => {
    const words = "A long story, word by word. ".repeat(8);
    stage.rehearsal.use([slowly(text(words), { tokenMs: 100 })]);
    const session = await newSession(first);
    const listen = async (member: StageMember) => {
      const seen: { type: string; id?: string }[] = [];
      let shown = "";
      const stream = await clientOf(member).beta.sessions.events.stream(session, { event_deltas: ["agent.message"] });
      const read = async () => {
        for await (const event of stream) {
          const of =
            event.type === "event_start" ? event.event.id : event.type === "event_delta" ? event.event_id : event.id;
          seen.push({ type: event.type, id: of });
          if (event.type === "event_delta") shown += (event.delta as { content: { text: string } }).content.text;
          if (event.type === "session.status_idle") return { seen, shown };
        }
        throw new Error("the stream ended");
      };
      return read;
    };
    const open = await Promise.all([listen(first), listen(second)]);
    await say(second, session, "Count.");
    for (const { seen, shown } of await Promise.all(open.map((read) => read()))) {
      const message = seen.findIndex(({ type }) => type === "agent.message");
      const deltas = seen.flatMap(({ type, id }, index) =>
        type === "event_delta" && id === seen[message]!.id ? [index] : [],
      );
      expect(deltas.length).toBeGreaterThan(0);
      expect(Math.max(...deltas)).toBeLessThan(message);
      expect(seen.findIndex(({ type }) => type === "span.model_request_start")).toBeLessThan(Math.min(...deltas));
      expect(words.startsWith(shown)).toBe(true);
    }
  });

  test("an approval and a custom tool result sent to any server continue the turn on the worker at once", async () => {
    stage.rehearsal.use([
      toolUse("mcp__tandem__weather", { city: "Bern" }),
      toolUse("Bash", { command: "echo hi" }),
      text("Done."),
    ]);
    const session = await newSession(first, [
      { type: "custom", name: "weather", description: "w", input_schema: { type: "object" } },
      { type: "agent_toolset_20260401", default_config: { permission_policy: { type: "always_ask" } } },
    ]);
    await say(first, session, "Weather, then greet.");
    const waiting = async () => {
      const row = await second.store.sessions.get(session);
      return row?.waitingFor.map(({ type }) => type);
    };
    await expect.poll(waiting, { timeout: WAIT_MS }).toEqual(["custom_tool_result"]);
    const use = (await second.store.sessions.get(session))!.waitingFor[0]!.event_id;
    await clientOf(second).beta.sessions.events.send(session, {
      events: [{ type: "user.custom_tool_result", custom_tool_use_id: use, content: [{ type: "text", text: "rain" }] }],
    });
    await expect.poll(waiting, { timeout: WAIT_MS }).toEqual(["tool_confirmation"]);
    const listed = (await (await at(second, "/v1/approvals")).json()) as { data: { id: string; session_id: string }[] };
    const approval = listed.data.find(({ session_id: of }) => of === session)!;
    expect((await post(second, `/v1/approvals/${approval.id}`, { result: "allow" })).status).toBe(200);
    await expect.poll(() => types(first, session), { timeout: WAIT_MS }).toContain("agent.message");
  });

  test("changes go to the process that writes the session, and the feed of one server shows all of them", async () => {
    const hasRun = Promise.withResolvers<void>();
    stage.rehearsal.use(async () => {
      await hasRun.promise;
      return text("Yes.");
    });
    const end = new AbortController();
    const feed = first.engine.sessions.feed(end.signal)[Symbol.asyncIterator]();
    expect((await feed.next()).value?.type).toBe("snapshot");
    const session = await newSession(second);
    await say(first, session, "Go.");
    await expect
      .poll(async () => (await worker.store.leases.holder(session as never))?.holder, { timeout: WAIT_MS })
      .toBe(worker.holder);
    const renamed = await post(second, `/v1/sessions/${session}`, { title: "Renamed" });
    expect([renamed.status, await renamed.json()]).toMatchObject([200, { title: "Renamed" }]);
    const tasks = await at(first, `/v1/sessions/${session}/tasks`);
    expect(tasks.status).toBe(200);
    const seen: string[] = [];
    for (let item = await feed.next(); !item.done; item = await feed.next()) {
      if (item.value.type === "changed" && item.value.session.id === session) seen.push(item.value.session.status);
      // The feed tells the present state only: the turn must not end before.
      if (seen.includes("running")) hasRun.resolve();
      if (seen.includes("running") && seen.at(-1) === "idle") break;
    }
    await idle(second, session);
    expect((await at(second, `/v1/sessions/${session}`, { method: "DELETE" })).status).toBe(200);
    for (let item = await feed.next(); !item.done; item = await feed.next()) {
      if (item.value.type === "removed" && item.value.id === session) break;
    }
    end.abort();
    expect((await at(first, `/v1/sessions/${session}`)).status).toBe(404);
  });

  test("a sign-in link of one server is valid once at another, and the browser's key at all of them", async () => {
    const code = new URL(await first.server.signInLink()).hash.slice("#code=".length);
    const keys = [await createPageKey(), await createPageKey()];
    const tries = await Promise.all(
      [second, worker].map((member, index) => post(member, "/v1/sign_in", { code, key: keys[index]!.publicKey })),
    );
    expect(tries.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401]);
    const browser = pageBrowser(first.server.url, keys[tries.findIndex(({ status }) => status === 200)]!);
    const session = await newSession(first);
    // Also for a forwarded request, and for one that is sent to all processes.
    const renamed = await browser.fetch(`/v1/sessions/${session}`, { json: { title: "By hand" } });
    expect([renamed.status, await renamed.json()]).toMatchObject([200, { title: "By hand" }]);
    expect((await browser.fetch("/v1/fleet")).status).toBe(200);
  });

  test("the kill switch stops every process, whichever server is called", async () => {
    stage.rehearsal.use([stallBeforeFirstByte(), always(text("Yes."))]);
    const session = await newSession(first);
    await say(first, session, "Go.");
    await expect.poll(() => types(second, session), { timeout: WAIT_MS }).toContain("span.model_request_start");
    const stopped = await post(first, "/v1/stop", { reason: "a test" });
    expect([stopped.status, await stopped.json()]).toMatchObject([
      200,
      { interrupted: 1, stopped: { reason: "a test" } },
    ]);
    expect(await types(second, session)).toContain("session.status_idle");
    const notes = (await worker.engine.audit.list({ limit: 50 })).data.filter(({ kind }) => kind === "switch.stopped");
    expect(notes).toHaveLength(1);
    expect((await post(second, "/v1/resume")).status).toBe(200);
    expect(await (await at(first, "/v1/stop")).json()).toEqual({ stopped: null });
  });

  test("a retried send waits for the first try at another server, and is stored once, also after a crash", async () => {
    const session = await newSession(first);
    stage.rehearsal.use([always(text("Yes."))]);
    const dying = await stage.join("server");
    /** The tries of one client, at any server. */
    const attempt = async (at: StageMember, words: string, tryNumber: number): Promise<string[]> => {
      const body = { events: [{ type: "user.message", content: [{ type: "text", text: words }] }] };
      const answer = await post(at, `/v1/sessions/${session}/events`, body, {
        "x-stainless-retry-count": String(tryNumber),
        "x-stainless-timeout": "600",
      });
      return ((await answer.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
    };
    /** Resolves when the events are about to be stored; `held` keeps them from it. */
    const hold = (at: StageMember, held: Promise<void>): Promise<void> => {
      const { inputQueue } = at.store;
      const put = inputQueue.put.bind(inputQueue);
      const { promise, resolve } = Promise.withResolvers<void>();
      inputQueue.put = async (...args) => {
        inputQueue.put = put;
        resolve();
        await held;
        return put(...args);
      };
      return promise;
    };
    const running = Promise.withResolvers<void>();
    const began = hold(first, running.promise);
    const one = attempt(first, "Once.", 0);
    await began;
    const two = attempt(second, "Once.", 1);
    running.resolve();
    expect(await two).toEqual(await one);

    const create = async (at: StageMember, tryNumber: number): Promise<string> => {
      const body = { name: "retried", model: "claude-sonnet-5-5" };
      const answer = await post(at, "/v1/agents", body, { "x-stainless-retry-count": String(tryNumber) });
      return ((await answer.json()) as { id: string }).id;
    };
    const created = await create(first, 0);
    expect(await create(second, 1), "creates, too").toBe(created);

    // Stored at a server that dies before it answers; the retry comes to another one.
    const { inputQueue } = dying.store;
    const put = inputQueue.put.bind(inputQueue);
    const stored = Promise.withResolvers<string[]>();
    inputQueue.put = async (...args) => {
      await put(...args);
      stored.resolve(args[1].map(({ id }) => id));
      return new Promise(() => undefined);
    };
    const lost = attempt(dying, "After a crash.", 0).catch(() => "lost");
    const ids = await stored.promise;
    await dying.vanish();
    expect(await lost).toBe("lost");
    expect(await attempt(second, "After a crash.", 1)).toEqual(ids);
    await idle(first, session);
    expect((await types(first, session)).filter((type) => type === "user.message")).toHaveLength(2);
  });

  test("an editor reaches the worker through any server, over WebSocket and over HTTP", async () => {
    stage.rehearsal.use([always(text("Hello, editor."))]);
    const initialize = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: 1, clientCapabilities: {} },
    };
    const socket = new WebSocket(`${first.server.url.replace("http", "ws")}/acp`, {
      headers: { authorization: `Bearer ${first.server.secret}` },
    });
    await once(socket, "open");
    const answers: { id?: number; method?: string; result?: Record<string, unknown>; error?: unknown }[] = [];
    socket.on("message", (data: Buffer) => answers.push(JSON.parse(data.toString()) as (typeof answers)[number]));
    const ask = async (message: { id: number }) => {
      socket.send(JSON.stringify(message));
      await expect.poll(() => answers.find(({ id }) => id === message.id), { timeout: WAIT_MS }).toBeDefined();
      return answers.find(({ id }) => id === message.id)!;
    };
    await ask(initialize);
    const params = { cwd: stage.folderOf("back"), mcpServers: [] };
    const { result } = await ask({ jsonrpc: "2.0", id: 2, method: "session/new", params } as { id: number });
    const prompt = { sessionId: result!["sessionId"], prompt: [{ type: "text", text: "Hi." }] };
    const ended = await ask({ jsonrpc: "2.0", id: 3, method: "session/prompt", params: prompt } as { id: number });
    expect(ended.result).toMatchObject({ stopReason: "end_turn" });
    expect(JSON.stringify(answers.filter(({ method }) => method === "session/update"))).toContain(" editor.");
    socket.close();

    const begun = await post(first, "/acp", initialize);
    const connection = begun.headers.get("acp-connection-id") ?? "";
    expect([begun.status, connection]).toEqual([200, expect.stringMatching(/.+/)]);
    // The other server does not know this connection yet.
    const list = { jsonrpc: "2.0", id: 4, method: "session/list", params: {} };
    expect((await post(second, "/acp", list, { "acp-connection-id": connection })).status).toBe(202);
    expect((await post(second, "/acp", list, { "acp-connection-id": "nobodys" })).status).toBe(404);
  });

  test("an unreachable machine is named; requests that need no folder work without it", async () => {
    const other = await stage.join("worker", { machine: "gone" });
    const folder = stage.folderOf("gone");
    const made = await post(first, "/v1/environments", { name: "gone", metadata: { "tandem.path": folder } });
    expect(made.status).toBe(200);
    const { id: environment } = (await made.json()) as { id: string };
    const agent = await clientOf(first).beta.agents.create({ name: "a", model: "claude-sonnet-5-5" });
    const session = await clientOf(first).beta.sessions.create({ agent: agent.id, environment_id: environment });
    expect((await first.store.sessions.get(session.id))?.place).toBe("machine:gone");
    await other.vanish();
    // The roster still lists the dead process; after a failed attempt another one is chosen.
    expect(await Promise.all([newSession(first), newSession(second)])).toHaveLength(2);
    const inVain = await at(first, `/v1/sessions/${session.id}/files`);
    expect([inVain.status, await inVain.text()]).toEqual([503, expect.stringContaining("on gone, at http://")]);
    const id = (await first.store.workers.list()).find(({ holder }) => holder === other.holder)!.id;
    await first.store.workers.remove(id);
    // The roster is cached for a moment.
    const files = async () => (await at(first, `/v1/sessions/${session.id}/files`)).text();
    await expect.poll(files, { timeout: WAIT_MS }).toContain("needs a worker on gone");
    const renamed = await post(first, `/v1/sessions/${session.id}`, { title: "Alone" });
    expect([renamed.status, await renamed.json()]).toMatchObject([200, { title: "Alone" }]);
  });

  test("audit entries of all processes form one chain", async () => {
    const verdict = await second.engine.audit.verify([]);
    expect(verdict).toMatchObject({ ok: true, broken: null });
    expect(verdict.entries).toBeGreaterThan(5);
  });
});
