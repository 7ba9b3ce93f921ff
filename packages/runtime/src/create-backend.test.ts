import type { Backend } from "@tandem/protocol";
import { configSchema } from "@tandem/protocol";
import { startRehearsal } from "@tandem/rehearsal";
import { describe, expect, it } from "vitest";
import { createBackend } from "./create-backend.ts";
import { createRuntime } from "./create-runtime.ts";
import { checkModel } from "./models.ts";

const signal = new AbortController().signal;
const configOf = (provider: object) => configSchema.parse({ llm: { provider } }).llm;

/** Records the requested secrets. */
function environment() {
  const asked: string[] = [];
  const readSecret = async (reference: string) => (asked.push(reference), "made-up");
  return { asked, readSecret, stateFolder: "/nowhere", hostVariables: {} };
}

describe("createBackend", () => {
  it("reads only the secret of the chosen backend", async () => {
    const { asked, ...around } = environment();
    const backend = await createBackend(configOf({ backend: "gateway", gateway: { apiKey: "env:MY_KEY" } }), around);
    expect(backend).toMatchObject({ name: "gateway", payer: "gateway_key" });
    expect(asked).toEqual(["env:MY_KEY"]);
  });

  it("passes on the error of an unreadable secret", async () => {
    const around = { ...environment(), readSecret: async () => Promise.reject(new Error("env:MY_KEY is not set")) };
    await expect(createBackend(configOf({ backend: "anthropic" }), around)).rejects.toThrow("env:MY_KEY is not set");
  });

  it("reports missing settings of vertex", async () => {
    const around = environment();
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

  it("rejects an unknown backend", async () => {
    const around = environment();
    const config = configOf({ backend: "none" });
    config.provider.backend = "antropic" as Backend;
    await expect(createBackend(config, around)).rejects.toMatchObject({
      code: "not_configured",
      fix: expect.stringContaining('"anthropic"'),
    });
  });
});

it("without a backend every operation fails with a fix and is reported", async () => {
  const config = configOf({ backend: "none" });
  const outcomes: string[] = [];
  const backend = await createBackend(config, environment());
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
  ])("lists the models of %s", async (backend, id) => {
    await using rehearsal = await startRehearsal([], { models: [{ id: "claude-x", displayName: "Claude X" }] });
    const provider = {
      backend,
      anthropic: { baseUrl: rehearsal.url },
      gateway: { baseUrl: rehearsal.providerUrls.gateway },
    };
    const made = await createBackend(configOf(provider), environment());
    expect(await made.listModels(signal)).toMatchObject([{ id, name: "Claude X" }]);
  });

  it.each(["anthropic", "gateway"] as const)("rehearsed as it is, has what the aliases mean on %s", async (backend) => {
    await using rehearsal = await startRehearsal();
    const baseUrl = backend === "gateway" ? rehearsal.providerUrls.gateway : rehearsal.url;
    const made = await createBackend(configOf({ backend, [backend]: { baseUrl } }), environment());
    const offered = await made.listModels(signal);
    for (const alias of ["sonnet", "opus", "haiku"]) expect(checkModel(backend, alias, offered)).toBeUndefined();
  });

  it("fails with a typed error if the service is unreachable", async () => {
    const rehearsal = await startRehearsal();
    const { url } = rehearsal;
    await rehearsal.close();
    const made = await createBackend(configOf({ backend: "anthropic", anthropic: { baseUrl: url } }), environment());
    await expect(made.listModels(signal)).rejects.toMatchObject({ code: "network" });
  });

  it("fails with a typed error on vertex, which has no list", async () => {
    const made = await createBackend(configOf({ backend: "vertex", vertex: { project: "p" } }), environment());
    await expect(made.listModels(signal)).rejects.toMatchObject({ code: "invalid_request" });
  });
});
