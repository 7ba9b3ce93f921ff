import { mkdir, readdir, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import Anthropic, {
  AuthenticationError,
  BadRequestError,
  ConflictError,
  ContentTooLargeError,
  NotFoundError,
  PermissionDeniedError,
} from "@anthropic-ai/sdk";
import type { SessionId } from "@tandem/protocol";
import { openStore } from "@tandem/storage";
import { afterAll, expect, test } from "vitest";
import { setJudgeStage } from "../testing/judge-stage.ts";

// The error for each kind of bad input, as the official client shows it, from the real engine and store.

const stage = await setJudgeStage();
const session = await stage.session();
afterAll(() => stage[Symbol.asyncDispose]());

type Call = () => PromiseLike<unknown>;

async function refusal(call: Call, kind: abstract new (...args: never[]) => Error): Promise<string> {
  const error = await Promise.resolve(call()).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(kind);
  return (error as Error).message;
}

test("an unknown id is not found, for every kind of id", async () => {
  const { agents, environments, sessions, files } = stage.client.beta;
  const calls: Call[] = [
    () => agents.retrieve("agent_none"),
    () => environments.retrieve("env_none"),
    () => sessions.retrieve("sesn_none"),
    () => sessions.events.list("sesn_none"),
    () => sessions.events.stream("sesn_none"),
    () => sessions.threads.retrieve("sthr_none", { session_id: session }),
    () => sessions.resources.retrieve("file_none", { session_id: session }),
    () => files.retrieveMetadata("file_none"),
    () => files.download("file_none"),
    () => sessions.create({ agent: "agent_none", environment_id: "env_local" }),
  ];
  for (const call of calls) expect(await refusal(call, NotFoundError)).toContain("_none");
});

test("a stale cursor is refused with a fix", async () => {
  const { agents, sessions } = stage.client.beta;
  await stage.session();
  const { next_page: page } = await sessions.list({ limit: 1 });
  expect(await refusal(() => agents.list({ page: page! }), BadRequestError)).toContain("without a cursor");
  expect(await refusal(() => sessions.list({ page: page!.slice(1) }), BadRequestError)).toContain("without a cursor");
  expect(await refusal(() => sessions.events.list(session, { page: page! }), BadRequestError)).toContain("begin again");
});

test("a body that is too large gets its own error", async () => {
  const system = "x".repeat(33 * 1024 * 1024);
  const call = () => stage.client.beta.agents.create({ name: "large", model: "sonnet", system });
  expect(await refusal(call, ContentTooLargeError)).toContain("larger than");
});

test("a bad token is refused without saying which part was wrong", async () => {
  const { secret, url } = stage.server;
  const messages = [`${secret}x`, secret.slice(0, -1), secret.toLowerCase(), "x"].map(async (apiKey) => {
    const client = new Anthropic({ apiKey, baseURL: url });
    return (await refusal(() => client.beta.agents.list(), AuthenticationError)).replace(/req_\w+/, "…");
  });
  expect(new Set(await Promise.all(messages)).size).toBe(1);
});

test("a second writer gets the name of the session's holder", async () => {
  const held = await stage.session();
  await using store = await openStore(stage.database);
  const lease = await store.leases.take(held as SessionId, "tandem up on elsewhere (pid 1)", 60_000);
  const { sessions } = stage.client.beta;
  const calls: Call[] = [
    () => sessions.update(held, { title: "Mine" }),
    () => sessions.archive(held),
    () => sessions.delete(held),
  ];
  for (const call of calls) expect(await refusal(call, ConflictError)).toContain("tandem up on elsewhere (pid 1)");
  await store.leases.release(lease!);
  expect((await sessions.update(held, { title: "Mine" })).title).toBe("Mine");
});

test("an agent with an unknown model gets the list of known ones", async () => {
  const call = () => stage.client.beta.agents.create({ name: "a", model: "gpt-2" });
  expect(await refusal(call, BadRequestError)).toContain("claude-sonnet-5-5, claude-haiku-5-5");
});

test("a folder outside the roots is forbidden", async () => {
  const call = () => stage.client.beta.environments.create({ name: "e", metadata: { "tandem.path": "/etc" } });
  expect(await refusal(call, PermissionDeniedError)).toContain(stage.folder);
});

test("a database outage is reported as unavailable, and requests work again afterwards", async () => {
  const folder = dirname(stage.database);
  const away = join(folder, "away");
  await mkdir(away);
  const move = async (from: string, to: string): Promise<void> => {
    const names = (await readdir(from)).filter((name) => name.startsWith(basename(stage.database)));
    for (const name of names) await rename(join(from, name), join(to, name));
  };
  await stage.client.beta.sessions.retrieve(session);
  await move(folder, away);
  const client = stage.client.withOptions({ maxRetries: 0 });
  const message = { type: "user.message" as const, content: [{ type: "text" as const, text: "Lost?" }] };
  await expect(client.beta.sessions.retrieve(session)).rejects.toMatchObject({ status: 503 });
  await expect(client.beta.sessions.events.send(session, { events: [message] })).rejects.toMatchObject({ status: 503 });
  expect((await fetch(`${stage.server.url}/readyz`)).status).toBe(503);
  await move(away, folder);
  await expect.poll(async () => (await fetch(`${stage.server.url}/readyz`)).status).toBe(204);
  const { data } = await client.beta.sessions.events.send(session, { events: [message] });
  const { data: listed } = await client.beta.sessions.events.list(session, { types: ["user.message"] });
  expect(listed.map(({ id }) => id)).toEqual(data!.map(({ id }) => id));
});
