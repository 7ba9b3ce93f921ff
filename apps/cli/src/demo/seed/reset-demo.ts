import { TandemError } from "@tandem/protocol";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Invocation } from "../../invocation.ts";
import { runningDemo } from "../../sessions/open-client.ts";
import { write } from "../../terminal.ts";
import { demoFolder } from "./demo-home.ts";
import { STATE, unpackSeed } from "./unpack-seed.ts";

/** Deletes the demo's folder and creates it again. */
export async function resetDemo(invocation: Invocation): Promise<void> {
  const server = await runningDemo(invocation);
  if (server) {
    throw new TandemError("already_running", `The demo is running at ${server.url} (pid ${server.pid}).`, {
      fix: "Stop it with Ctrl-C, then run `tandem demo reset` again.",
    });
  }
  const folder = demoFolder(invocation.env);
  if (existsSync(folder) && !existsSync(join(folder, STATE, "tandem.db"))) {
    throw new TandemError("usage", `${folder} does not look like the demo's folder, so it was not deleted.`, {
      fix: "Move it away, then run `tandem demo reset` again.",
    });
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  await unpackSeed(folder);
  await write(invocation.stdout, `The demo is restored in ${folder}. Start it with \`tandem up --demo\`.\n`);
}
