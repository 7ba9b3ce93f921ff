import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Variables } from "../config/tandem-home.ts";

const REASONS: Record<string, string> = {
  ENOTFOUND: "unknown host name",
  EAI_AGAIN: "DNS lookup failed",
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  ETIMEDOUT: "no answer",
  EHOSTUNREACH: "no route to host",
  ENETUNREACH: "network unreachable",
};

/** Connects to `origin`, through the user's proxy if there is one, without a credential. Returns the reason of a failure. */
export async function probeOrigin(origin: string, env: Variables, signal: AbortSignal): Promise<string | undefined> {
  const secure = origin.startsWith("https:");
  const agent = secure ? new HttpsAgent({ proxyEnv: env }) : new HttpAgent({ proxyEnv: env });
  try {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      // A request that waits for the proxy ignores its signal.
      signal.addEventListener("abort", reject, { once: true });
      const request = (secure ? httpsRequest : httpRequest)(origin, { method: "HEAD", agent, signal }, (response) => {
        response.resume();
        resolve();
      });
      request.on("error", reject).end();
    });
    return undefined;
  } catch (error) {
    if (signal.aborted) return "timeout";
    const { code = "", message } = error as NodeJS.ErrnoException;
    return REASONS[code] ?? message;
  } finally {
    agent.destroy();
  }
}
