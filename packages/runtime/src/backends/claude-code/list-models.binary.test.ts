import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { configSchema } from "@tandem/protocol";
import { startRehearsal } from "@tandem/rehearsal";
import { expect, inject, it } from "vitest";
import { claudeCodeFixture } from "../../contract/claude-code-fixture.ts";
import { findModel } from "../../models.ts";
import { anthropic } from "../ai-sdk/anthropic.ts";
import { createClaudeCodeBackend } from "./create-claude-code-backend.ts";

const signal = new AbortController().signal;

it("lists the usual aliases with their ids", async () => {
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

it("stops at the caller's signal, even if Claude Code never answers", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tandem-mute-"));
  const executable = join(folder, "mute");
  writeFileSync(executable, "#!/bin/sh\nexec sleep 600\n", { mode: 0o755 });
  const config = configSchema.parse({ llm: { claudeCode: { executable } } }).llm;
  const hostVariables = { PATH: process.env["PATH"], HOME: folder };
  const backend = createClaudeCodeBackend(config, {
    credential: { type: "login" },
    stateFolder: folder,
    hostVariables,
  });
  try {
    const since = performance.now();
    await expect(backend.listModels(AbortSignal.timeout(300))).rejects.toMatchObject({ code: "aborted" });
    expect(performance.now() - since).toBeLessThan(1_500 * inject("slowness"));
  } finally {
    await backend.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
});
