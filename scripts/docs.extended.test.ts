import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { text, toolUse } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import { sessionMachine } from "../apps/cli/src/testing/session-machine.ts";
import { runExample } from "./follow-docs/run-example.ts";

// Imported so that their types are checked.
export type * from "../docs/examples/custom-tool.ts";
export type * from "../docs/examples/embed-server.ts";
export type * from "../docs/examples/emulated-session.ts";
export type * from "../docs/examples/managed-agent.ts";
export type * from "../docs/examples/webhook-receiver.ts";

const root = join(import.meta.dirname, "..");

test("the example with a custom tool runs with only two variables set", async () => {
  await using machine = await sessionMachine(({ toolResults: [result] }) =>
    result ? text(`Take one: ${result.text}.`) : toolUse("mcp__tandem__weather", { city: "Bern" }),
  );
  await using server = await machine.up();
  const variables = { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: server.token };
  expect(await runExample("custom-tool.ts", { ...machine.variables, ...variables })).toEqual([
    "ran weather",
    expect.stringContaining("Take one: 8 degrees and rain in Bern."),
  ]);
});

test("the assertions of the emulator's example hold", async () => {
  await using machine = await sessionMachine([]);
  expect(await runExample("emulated-session.ts", machine.variables)).toEqual([""]);
});

test("the example that receives webhooks verifies them, and refuses forged ones", async () => {
  await using machine = await sessionMachine(() => text("Done."));
  await using server = await machine.up();
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  const url = `http://127.0.0.1:${port}/`;
  const client = new Anthropic({ baseURL: server.url, apiKey: server.token });
  const { signing_secret: key } = await client.beta.organization.webhooks.create({
    url,
    enabled_events: ["session.status_idled"] as never,
  });
  const variables = { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: server.token };
  const env = { ...machine.variables, ...variables, ANTHROPIC_WEBHOOK_SIGNING_KEY: key, PORT: String(port) };
  const child = spawn(process.execPath, [join(root, "docs/examples/webhook-receiver.ts")], { env });
  try {
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
    await expect.poll(() => said).toContain("listening");
    const headers = { "webhook-id": "whe_1", "webhook-timestamp": "1", "webhook-signature": "v1,Zm9yZ2Vk" };
    expect((await fetch(url, { method: "POST", headers, body: "{}" })).status).toBe(400);
    const agent = await client.beta.agents.create({ name: "a", model: "sonnet" });
    await client.beta.sessions.create({
      agent: agent.id,
      environment_id: "env_local",
      title: "A task",
      initial_events: [{ type: "user.message", content: [{ type: "text", text: "Go." }] }],
    });
    await expect.poll(() => said).toContain("A task: idle");
  } finally {
    child.kill();
    await once(child, "exit");
  }
});
