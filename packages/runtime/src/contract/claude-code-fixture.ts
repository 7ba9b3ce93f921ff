import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { madeUpLogin } from "@tandem/rehearsal";
import { createClaudeCodeBackend } from "../backends/claude-code/create-claude-code-backend.ts";
import type { BackendFixture } from "./runtime-stage.ts";

/** The real Claude Code with a fake login, simulated by the rehearsal, in a scratch home. */
export const claudeCodeFixture: BackendFixture = {
  name: "claude-code",
  rehearsal: { proxy: true },
  make: async (rehearsal, config) => {
    const home = mkdtempSync(join(tmpdir(), "tandem-contract-"));
    const configDir = join(home, ".claude");
    await madeUpLogin(configDir);
    // One process for each system prompt, which serves all calls: each start takes a second of processor time.
    const pool = { ...config.pool, size: 2, maxCalls: 1_000, maxMemoryMb: 2_000 };
    const backend = createClaudeCodeBackend(
      { ...config, pool },
      {
        credential: { type: "login", configDir },
        stateFolder: join(home, "tandem"),
        hostVariables: {
          PATH: process.env["PATH"],
          HOME: home,
          TMPDIR: home,
          ...rehearsal.proxy.variables,
          NO_PROXY: "127.0.0.1",
        },
      },
    );
    return {
      ...backend,
      close: async () => {
        await backend.close();
        rmSync(home, { recursive: true, force: true, maxRetries: 5 });
      },
    };
  },
  wireName: (tool) => `mcp__tandem__${tool}`,
  wireModel: (id) => id,
};
