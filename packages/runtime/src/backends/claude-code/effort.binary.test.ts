import { configSchema } from "@tandem/protocol";
import { always, startRehearsal, text } from "@tandem/rehearsal";
import { expect, inject, it } from "vitest";
import { z } from "zod";
import { claudeCodeFixture } from "../../contract/claude-code-fixture.ts";
import { createRuntime } from "../../create-runtime.ts";

const withEffort = z.object({ output_config: z.object({ effort: z.string().optional() }).optional() });

/** Efforts sent by three calls in one process: the same model twice, then another. */
async function effortsSent(effort: string): Promise<(string | undefined)[]> {
  await using rehearsal = await startRehearsal([always(text("Bern."))], claudeCodeFixture.rehearsal);
  const config = configSchema.parse({
    llm: { claudeCode: { effort }, models: { triage: "opus" }, pool: { size: 1 } },
  }).llm;
  const backend = await claudeCodeFixture.make(rehearsal, config);
  const runtime = createRuntime({ config, backend, sink: () => undefined });
  try {
    for (const role of ["default", "default", "triage"] as const)
      await runtime.generateText({ role, prompt: "Where?" });
  } finally {
    await runtime.close();
  }
  return rehearsal.modelRequests.map(({ body }) => withEffort.parse(body).output_config?.effort);
}

it.each(inject("soak") ? ["low", "high"] : ["high"])("sends an effort of %s with every request", async (effort) => {
  expect(await effortsSent(effort)).toEqual([effort, effort, effort]);
});
