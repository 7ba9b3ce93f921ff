import type { ScriptEntry } from "@tandem/rehearsal";
import { always, object, refusal, reply, text, toolUse } from "@tandem/rehearsal";
import { expect } from "vitest";
import { z } from "zod";
import { lookTool } from "./look-tool.ts";
import { type Stage, SYSTEM, type Behaviours } from "./runtime-stage.ts";

const city = z.object({
  name: z.string(),
  inhabitants: z.int().min(1),
  languages: z.array(z.string()).default(["de"]),
});
const ask = { role: "default", prompt: "Describe the capital of Switzerland.", schema: city } as const;
const BERN = { name: "Bern", inhabitants: 134_000 };
const INVALID = { name: "Bern", inhabitants: "many" };

export const verifyObjects: Behaviours = {
  // Prevents a bug of similar runtimes: each object took two requests.
  "A valid object takes one request and is parsed by the caller's schema": async (stage) => {
    const { runtime, reports } = await stage.play([answer(stage, BERN)]);
    expect(await runtime.generateObject({ ...ask, system: SYSTEM })).toEqual({ ...BERN, languages: ["de"] });
    const [request] = stage.rehearsal.modelRequests;
    expect(request?.lastUserText).toContain(ask.prompt);
    expect(request?.system).toContain(SYSTEM);
    expect(stage.rehearsal.modelRequests).toHaveLength(1);
    expect(reports).toMatchObject([{ operation: "object", outcome: "ok" }]);
  },

  "Returns an invalid object to the model once, with the errors": async (stage) => {
    const { runtime } = await stage.play([answer(stage, INVALID), answer(stage, BERN)]);
    expect(await runtime.generateObject(ask)).toMatchObject(BERN);
    expect(stage.rehearsal.modelRequests).toHaveLength(2);
    const [, second] = stage.rehearsal.modelRequests;
    const conversation = JSON.stringify(second?.messages);
    expect(conversation).toContain("Describe the capital");
    expect(conversation).toContain("inhabitants");
    expect(conversation).toMatch(/expected (number|int)/);
    stage.rehearsal.assertDone();
  },

  "A second invalid object is `structured_output`": async (stage) => {
    const { runtime, reports } = await stage.play([answer(stage, INVALID), answer(stage, INVALID)]);
    await expect(runtime.generateObject(ask)).rejects.toMatchObject({
      code: "structured_output",
      message: expect.stringContaining("inhabitants"),
    });
    expect(reports).toMatchObject([{ outcome: "structured_output" }]);
    stage.rehearsal.assertDone();
  },

  "Text instead of an object counts as an invalid object": async (stage) => {
    const { runtime } = await stage.play([text("Bern is lovely."), answer(stage, BERN)]);
    expect(await runtime.generateObject(ask)).toMatchObject(BERN);
    stage.rehearsal.assertDone();
  },

  "Text instead of an object, twice, is `structured_output`": async (stage) => {
    const { runtime } = await stage.play([text("Bern is lovely."), text("As I said.")]);
    await expect(runtime.generateObject(ask)).rejects.toMatchObject({ code: "structured_output" });
    stage.rehearsal.assertDone();
  },

  "Runs tools before an object, which is checked as without tools": async (stage) => {
    const { asked, look } = lookTool();
    const { runtime } = await stage.play([
      reply([toolUse(stage.tool("look"), { at: "the map" })]),
      answer(stage, INVALID),
      answer(stage, BERN),
    ]);
    expect(await runtime.generateObject({ ...ask, tools: [look] })).toMatchObject(BERN);
    expect(asked).toEqual(["the map"]);
    stage.rehearsal.assertDone();
  },

  "A model that spends its step budget on tools is `structured_output`": async (stage) => {
    const { asked, look } = lookTool();
    const { runtime } = await stage.play([always(reply([toolUse(stage.tool("look"), { at: "the map" })]))]);
    const call = runtime.generateObject({ ...ask, tools: [look], stepBudget: 2 });
    await expect(call).rejects.toMatchObject({ code: "structured_output", message: expect.stringContaining("budget") });
    expect(asked).toHaveLength(2);
  },

  "Refusing to return an object is `refused`": async (stage) => {
    const { runtime } = await stage.play([always(refusal("No."))]);
    await expect(runtime.generateObject(ask)).rejects.toMatchObject({ code: "refused" });
  },

  "Rejects a schema without an object at its root, or not expressible as JSON Schema, before anything is sent": async (
    stage,
  ) => {
    const { runtime, reports } = await stage.play([]);
    const schemas = [z.array(z.string()), z.string(), z.object({ founded: z.date() }), z.union([city, z.object({})])];
    for (const schema of schemas) {
      await expect(runtime.generateObject({ ...ask, schema })).rejects.toMatchObject({
        code: "bad_request",
        fix: expect.stringMatching(/\w/),
      });
    }
    expect(stage.rehearsal.modelRequests).toHaveLength(0);
    expect(reports).toHaveLength(0);
  },
};

/** An object, returned in the way the backend requests it. */
function answer(stage: Stage, value: object): ScriptEntry {
  return object(value, { tool: stage.tool("answer") });
}
