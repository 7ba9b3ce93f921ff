import type { Credential } from "@tandem/claude-code";
import { startRehearsal } from "@tandem/rehearsal";
import { demoAgent } from "./demo-agent.ts";

/** Drop recorded requests regularly: a demo may run for days. */
const FORGET_MS = 10 * 60_000;

/** Starts a scripted model API on loopback and returns a credential that reaches only this API. */
export async function startDemo(): Promise<AsyncDisposable & { credential: Credential }> {
  const rehearsal = await startRehearsal(demoAgent);
  const timer = setInterval(() => rehearsal.use(demoAgent), FORGET_MS).unref();
  return {
    credential: { type: "api_key", key: "sk-ant-rehearsed", baseUrl: rehearsal.url },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await rehearsal.close();
    },
  };
}
