import type { Backend } from "@tandem/protocol";
import { configSchema } from "@tandem/protocol";
import { startRehearsal } from "@tandem/rehearsal";
import { describe, expect, it } from "vitest";
import { createBackend } from "./create-backend.ts";
import { createRuntime } from "./create-runtime.ts";
import { checkModel } from "./models.ts";

const signal = new AbortController().signal;
const configOf = (provider: object) => configSchema.parse({ llm: { provider } }).llm;

/** Keeps which secrets were asked for. */
function surroundings() {
  const asked: string[] = [];
  const readSecret = async (reference: string) => (asked.push(reference), "made-up");
  return { asked, readSecret, stateFolder: "/nowhere", hostVariables: {} };
}

describe("createBackend", () => {
  it("reads the one secret that the chosen backend needs", async () => {
    const { asked, ...around } = surroundings();
    const backend = await createBackend(configOf({ backend: "gateway", gateway: { apiKey: "env:MY_KEY" } }), around);
    expect(backend).toMatchObject({ name: "gateway", payer: "gateway_key" });
    expect(asked).toEqual(["env:MY_KEY"]);
  });

  it("passes on why a secret could not be read", async () => {
    const around = { ...surroundings(), readSecret: async () => Promise.reject(new Error("env:MY_KEY is not set")) };
    await expect(createBackend(configOf({ backend: "anthropic" }), around)).rejects.toThrow("env:MY_KEY is not set");
  });

  it("says what vertex lacks", async () => {
    const around = surroundings();
    await expect(createBackend(configOf({ backend: "vertex" }), around)).rejects.toMatchObject({
      code: "not_configured",
      fix: expect.stringContaining("llm.provider.vertex.project"),
    });
    const vertex = { project: "p", credentials: "env:GOOGLE" };
    await expect(createBackend(configOf({ backend: "vertex", vertex }), around)).rejects.toMatchObject({
      code: "not_configured",
      message: expect.not.stringContaining("made-up"),
    });
  });

  it("takes no other backend for one that does not exist", async () => {
    const around = surroundings();
    const config = configOf({ backend: "none" });
    config.provider.backend = "antropic" as Backend;
    await expect(createBackend(config, around)).rejects.toMatchObject({
      code: "not_configured",
      fix: expect.stringContaining('"anthropic"'),
    });
  });
});

it("without a backend every operation says what it lacks, and is reported", async () => {
  const config = configOf({ backend: "none" });
  const outcomes: string[] = [];
  const backend = await createBackend(config, surroundings());
  const runtime = createRuntime({ config, backend, sink: ({ outcome }) => void outcomes.push(outcome) });
  const ask = { role: "default", prompt: "Hello?" } as const;
  await expect(runtime.generateText(ask)).rejects.toMatchObject({
    code: "not_configured",
    fix: expect.stringContaining("tandem setup"),
  });
  expect(await runtime.runAgentLoop({ ...ask, tools: [], stepBudget: 1 })).toMatchObject({
    stopReason: "error",
    error: { code: "not_configured" },
  });
  expect(outcomes).toEqual(["not_configured", "not_configured"]);
});

describe("listModels", () => {
  it.each([
    ["anthropic", "claude-x"],
    ["gateway", "anthropic/claude-x"],
  ])("asks %s what it offers", async (backend, id) => {
    await using rehearsal = await startRehearsal([], { models: [{ id: "claude-x", displayName: "Claude X" }] });
    const provider = {
      backend,
      anthropic: { baseUrl: rehearsal.url },
      gateway: { baseUrl: rehearsal.providerUrls.gateway },
    };
    const made = await createBackend(configOf(provider), surroundings());
    expect(await made.listModels(signal)).toMatchObject([{ id, name: "Claude X" }]);
  });

  it.each(["anthropic", "gateway"] as const)("rehearsed as it is, has what the aliases mean on %s", async (backend) => {
    await using rehearsal = await startRehearsal();
    const baseUrl = backend === "gateway" ? rehearsal.providerUrls.gateway : rehearsal.url;
    const made = await createBackend(configOf({ backend, [backend]: { baseUrl } }), surroundings());
    const offered = await made.listModels(signal);
    for (const alias of ["sonnet", "opus", "haiku"]) expect(checkModel(backend, alias, offered)).toBeUndefined();
  });

  it("is a typed failure where the service cannot be reached", async () => {
    const rehearsal = await startRehearsal();
    const { url } = rehearsal;
    await rehearsal.close();
    const made = await createBackend(configOf({ backend: "anthropic", anthropic: { baseUrl: url } }), surroundings());
    await expect(made.listModels(signal)).rejects.toMatchObject({ code: "network" });
  });

  it("is a typed failure on vertex, which has no such list", async () => {
    const made = await createBackend(configOf({ backend: "vertex", vertex: { project: "p" } }), surroundings());
    await expect(made.listModels(signal)).rejects.toMatchObject({ code: "invalid_request" });
  });
});
