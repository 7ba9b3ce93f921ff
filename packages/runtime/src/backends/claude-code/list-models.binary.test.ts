import { configSchema } from "@tandem/protocol";
import { startRehearsal } from "@tandem/rehearsal";
import { expect, it } from "vitest";
import { claudeCodeFixture } from "../../contract/claude-code-fixture.ts";
import { findModel } from "../../models.ts";
import { anthropic } from "../ai-sdk/anthropic.ts";

const signal = new AbortController().signal;

it("has the usual aliases, and the service as it is rehearsed has what they stand for", async () => {
  await using rehearsal = await startRehearsal([], claudeCodeFixture.rehearsal);
  const backend = await claudeCodeFixture.make(rehearsal, configSchema.parse({}).llm);
  try {
    const listed = await backend.listModels(signal);
    expect(listed.flatMap(({ aliases }) => aliases)).toEqual(expect.arrayContaining(["sonnet", "opus", "haiku"]));
    const offered = await anthropic({ apiKey: "made-up", baseUrl: rehearsal.url }).listModels(signal);
    expect(listed.filter(({ id }) => !findModel(offered, id))).toEqual([]);
  } finally {
    await backend.close();
  }
});
