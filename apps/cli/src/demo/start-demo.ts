import type { Credential } from "@tandem/claude-code";
import { startRehearsal } from "@tandem/rehearsal";
import { demoAgent } from "./demo-agent.ts";

/** A rehearsal keeps every request for whoever wants to look; a demo may run for days. */
const FORGET_MS = 10 * 60_000;

/** A stand-in for the model's API on loopback, and the credential that leads sessions to it and to nowhere else. */
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
