import { createServer } from "node:http";
import { BadRequestError, NotFoundError, PermissionDeniedError } from "@anthropic-ai/sdk";
import type Anthropic from "@anthropic-ai/sdk";
import { listenOnLoopback, text, toolUse } from "@tandem/rehearsal";
import { afterAll, expect, test } from "vitest";
import { setJudgeStage } from "../testing/judge-stage.ts";

interface Received {
  body: string;
  headers: Record<string, string>;
}

const receiver = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk: Buffer) => (body += chunk.toString()));
  request.on("end", () => {
    received.push({ body, headers: request.headers as Record<string, string> });
    response.writeHead(204).end();
  });
});
const stage = await setJudgeStage();
const received: Received[] = [];
const url = `${(await listenOnLoopback(receiver)).url}/hooks`;
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  receiver.close();
});

type Params = Parameters<Anthropic["beta"]["organization"]["webhooks"]["create"]>[0];
const webhooks = () => stage.client.beta.organization.webhooks;
/** The client's types have only the events of user profiles. */
const events = (...types: string[]) => types as Params["enabled_events"];

test("the signing secret verifies every delivery, and no other one does", async () => {
  const types = [
    "session.created",
    "session.status_run_started",
    "session.requires_action",
    "session.status_idled",
    "session.updated",
    "session.archived",
    "session.deleted",
    "agent.created",
    "agent.updated",
    "agent.archived",
    "environment.created",
    "environment.updated",
    "environment.archived",
    "environment.deleted",
    "tandem.approval_requested",
  ];
  const made = await webhooks().create({ url, enabled_events: events(...types), name: "judge" });
  const other = await webhooks().create({ url: `${url}/other`, enabled_events: events("vault.created") });
  const { beta } = stage.client;
  const agent = await stage.agent();
  await beta.agents.update(agent, { version: 1, system: "Be brief." });
  const environment = await beta.environments.create({ name: "scratch" });
  await beta.environments.update(environment.id, { description: "For a while." });
  await beta.environments.archive(environment.id);
  await beta.environments.delete(environment.id);
  stage.rehearsal.use([toolUse("Bash", { command: "touch a.txt" }), text("Done.")]);
  const session = await stage.session({ agent });
  await stage.say(session, "Go.");
  await expect.poll(async () => (await beta.sessions.retrieve(session)).status).toBe("idle");
  const asked = async () => {
    const all = [];
    for await (const event of beta.sessions.events.list(session)) all.push(event);
    return all.find((event) => event.type === "agent.tool_use");
  };
  await expect.poll(asked).toBeDefined();
  await expect.poll(() => typesOf(received)).toContain("session.requires_action");
  await beta.sessions.events.send(session, {
    events: [{ type: "user.tool_confirmation", tool_use_id: (await asked())!.id, result: "allow" }],
  });
  await expect.poll(() => typesOf(received).filter((type) => type === "session.status_idled").length).toBe(2);
  await beta.sessions.update(session, { title: "New" });
  await beta.sessions.archive(session);
  await beta.sessions.delete(session);
  await beta.agents.archive(agent);
  await expect.poll(() => new Set(typesOf(received))).toEqual(new Set(types));

  for (const { body, headers } of received) {
    const event = beta.webhooks.unwrap(body, { headers, key: made.signing_secret });
    expect(event).toMatchObject({
      type: "event",
      id: headers["webhook-id"],
      data: { id: expect.any(String) as string },
    });
    expect(() => beta.webhooks.unwrap(body, { headers, key: other.signing_secret })).toThrow("No matching signature");
    const forged = body.replace(event.data.id, "sesn_forged");
    expect(() => beta.webhooks.unwrap(forged, { headers, key: made.signing_secret })).toThrow("No matching signature");
    const late = { ...headers, "webhook-timestamp": String(Number(headers["webhook-timestamp"]) - 400) };
    expect(() => beta.webhooks.unwrap(body, { headers: late, key: made.signing_secret })).toThrow("too old");
  }
  expect(new Set(received.map(({ headers }) => headers["webhook-id"])).size).toBe(received.length);

  // Both secrets verify during a rotation.
  const { signing_secret: renewed } = await webhooks().regenerateSigningSecret(made.id);
  received.length = 0;
  await stage.agent();
  // A further event of the session may still be on its way.
  const created = () => received.find((each) => typesOf([each]).includes("agent.created"));
  await expect.poll(created).toBeDefined();
  const { body, headers } = created()!;
  for (const key of [renewed, made.signing_secret]) {
    expect(beta.webhooks.unwrap(body, { headers, key })).toMatchObject({ data: { type: "agent.created" } });
  }
  const shown = JSON.stringify([await webhooks().retrieve(made.id), (await webhooks().list()).data]);
  expect(shown).not.toMatch(/whsec_|signing_secret/);
  await webhooks().delete(made.id);
  await webhooks().delete(other.id);
});

const typesOf = (all: readonly Received[]) =>
  all.map(({ body }) => (JSON.parse(body) as { data: { type: string } }).data.type);

test("create, list by pages, update, disable and delete", async () => {
  const enabled_events = events("user_profile.enforcement_action_opened");
  const made = [];
  for (const name of ["a", "b", "c"]) made.push(await webhooks().create({ url, enabled_events, name }));
  expect(made[0]).toMatchObject({
    id: expect.stringMatching(/^whep_/) as string,
    url,
    name: "a",
    description: "",
    enabled_events,
    state: "enabled",
    disabled_reason: "",
    signing_secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) as string,
  });
  const names = async (query: object) => {
    const found = [];
    for await (const { name } of webhooks().list({ limit: 2, ...query })) found.push(name);
    return found;
  };
  expect(await names({})).toEqual(["c", "b", "a"]);
  expect(await names({ order: "asc" })).toEqual(["a", "b", "c"]);
  const { id } = made[0]!;
  const updated = await webhooks().update(id, { name: "d", enabled_events: [], state: "disabled" });
  expect(updated).toMatchObject({ name: "d", enabled_events, state: "disabled", disabled_reason: "" });
  for (const each of made)
    expect(await webhooks().delete(each.id)).toEqual({ id: each.id, type: "webhook_endpoint_deleted" });
  await expect(webhooks().retrieve(id)).rejects.toThrow(NotFoundError);
  for (const wrong of [
    { url: "ftp://example.com", enabled_events },
    { url: "https://user:pass@example.com/", enabled_events },
    { url, enabled_events: [] },
    { url, enabled_events: events("session.unheard_of") },
  ]) {
    await expect(webhooks().create(wrong)).rejects.toThrow(BadRequestError);
  }
});

test("only an admin sees and changes endpoints", async () => {
  const client = stage.client.withOptions({ apiKey: await stage.server.secretFor("run") });
  await expect(client.beta.organization.webhooks.list()).rejects.toThrow(PermissionDeniedError);
});
