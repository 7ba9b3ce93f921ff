import type { Credential } from "@tandem/claude-code";
import { startRehearsal, type ModelRequest } from "@tandem/rehearsal";
import { demoAgent } from "./demo-agent.ts";

/** Drop recorded requests regularly: a demo may run for days. */
const FORGET_MS = 10 * 60_000;
/** Slow enough to make streaming visible. */
const TOKEN_MS = 12;

/** Starts a scripted model API on loopback and returns a credential that reaches only this API. */
export async function startDemo(tokenMs = TOKEN_MS): Promise<AsyncDisposable & { credential: Credential }> {
  const agent = (request: ModelRequest) => demoAgent(request, { tokenMs });
  const rehearsal = await startRehearsal(agent);
  const timer = setInterval(() => rehearsal.use(agent), FORGET_MS).unref();
  return {
    credential: { type: "api_key", key: "sk-ant-rehearsed", baseUrl: rehearsal.url, isFree: true },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await rehearsal.close();
    },
  };
}
