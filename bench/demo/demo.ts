import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";
import { browserPath } from "../../apps/web/src/browser/testing/page-stage.ts";
import { buildPackage } from "../../scripts/build-package.ts";

/** The bounds of the demo's first minute. */
const BOUNDS = { page: 5_000, answer: 2_000 };
const RUNS = 3;

/** From the installed command without a login to the visible page, and from a message to the first word of its answer. */
export async function run(): Promise<void> {
  if (browserPath === undefined) throw new Error("No Chromium found. Name one in TANDEM_CHROMIUM.");
  const base = mkdtempSync(join(tmpdir(), "tandem-bench-demo-"));
  try {
    // Below the repository, so that the package finds its dependencies.
    const folder = join(import.meta.dirname, "..", "..", "node_modules", ".cache", "tandem", "bench-package");
    await buildPackage(folder);
    for (let index = 0; index < RUNS; index += 1) {
      const { page, answer } = await measure(join(folder, "bin", "tandem.mjs"), join(base, String(index)));
      console.log(`page visible ${page} ms (bound ${BOUNDS.page}), first word ${answer} ms (bound ${BOUNDS.answer})`);
    }
    console.log(`load average ${loadavg()[0]!.toFixed(1)}`);
  } finally {
    rmSync(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

async function measure(tandem: string, home: string): Promise<{ page: number; answer: number }> {
  const env = { PATH: process.env["PATH"], HOME: home, TANDEM_HOME: join(home, "tandem"), NO_PROXY: "127.0.0.1" };
  await using browser = await chromium.launch({
    executablePath: browserPath!,
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"],
  });
  const tab = await browser.newPage();
  const began = performance.now();
  const server = spawn(process.execPath, [tandem, "up", "--demo", "if-needed", "--port", "0", "--no-open"], {
    env,
    cwd: tmpdir(),
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    const link = await linkOf(server.stdout);
    await tab.goto(link);
    await tab.getByRole("heading", { name: /^Needs you/ }).waitFor();
    const page = Math.round(performance.now() - began);
    return { page, answer: await firstWord(new URL(link).origin, join(home, "tandem", "token")) };
  } finally {
    server.kill("SIGTERM");
    if (server.exitCode === null) await once(server, "exit");
  }
}

async function linkOf(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const link = /https?:\/\/\S+#code=\S+/.exec(line)?.[0];
    if (link !== undefined) return link;
  }
  throw new Error("The demo did not start.");
}

/** Sends a message as the page does, and waits for the first delta or text of the answer. */
async function firstWord(url: string, tokenFile: string): Promise<number> {
  const headers = {
    authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}`,
    "content-type": "application/json",
  };
  const agents = (await (await fetch(`${url}/v1/agents`, { headers })).json()) as { data: { id: string }[] };
  const body = JSON.stringify({ agent: agents.data[0]!.id, environment_id: "env_local" });
  const created = await fetch(`${url}/v1/sessions`, { method: "POST", headers, body });
  const { id } = (await created.json()) as { id: string };
  const stream = await fetch(`${url}/v1/sessions/${id}/events/stream?event_deltas[]=agent.message`, { headers });
  const began = performance.now();
  const content = [{ type: "text", text: "What is in this folder?" }];
  await fetch(`${url}/v1/sessions/${id}/events`, {
    method: "POST",
    headers,
    body: JSON.stringify({ events: [{ type: "user.message", content }] }),
  });
  const decoder = new TextDecoder();
  for await (const chunk of stream.body!) {
    if (/event_delta|"agent\.message"/.test(decoder.decode(chunk, { stream: true }))) break;
  }
  return Math.round(performance.now() - began);
}
