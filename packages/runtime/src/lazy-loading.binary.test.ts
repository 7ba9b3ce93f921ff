import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

/** Loads the package in a process of its own, makes a backend, and prints which packages were resolved for it. */
const SCRIPT = `
  import { registerHooks } from "node:module";
  const resolved = new Set();
  registerHooks({
    resolve(specifier, context, next) {
      resolved.add(specifier);
      return next(specifier, context);
    },
  });
  const { createBackend } = await import(process.argv[1]);
  const { configSchema } = await import("@tandem/protocol");
  const { llm } = configSchema.parse({ llm: { provider: { backend: process.argv[2] } } });
  await createBackend(llm, { readSecret: async () => "made-up" });
  console.log(JSON.stringify([...resolved]));
`;

async function packagesLoadedFor(backend: string): Promise<string[]> {
  const index = new URL("index.ts", import.meta.url).href;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module", "--eval", SCRIPT, index, backend],
    { cwd: import.meta.dirname, env: { PATH: process.env["PATH"] }, timeout: 30_000 },
  );
  return JSON.parse(stdout) as string[];
}

it("loads no engine where none is used", async () => {
  const loaded = await packagesLoadedFor("none");
  expect(loaded).toContain("zod");
  expect(loaded.filter((name) => /@ai-sdk|agent-sdk|claude-code/.test(name))).toEqual([]);
});

it("loads the AI SDK's provider, and that one alone, for an API backend", async () => {
  const loaded = await packagesLoadedFor("anthropic");
  expect(loaded).toContain("@ai-sdk/anthropic");
  expect(loaded.filter((name) => /@ai-sdk\/g|agent-sdk|claude-code/.test(name))).toEqual([]);
});
