import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Variables } from "../config/tandem-home.ts";

const REASONS: Record<string, string> = {
  ENOTFOUND: "the name is not known",
  EAI_AGAIN: "names cannot be looked up",
  ECONNREFUSED: "the connection is refused",
  ECONNRESET: "the connection breaks",
  ETIMEDOUT: "no answer",
  EHOSTUNREACH: "there is no way to it",
  ENETUNREACH: "there is no network",
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
    if (signal.aborted) return "no answer in time";
    const { code = "", message } = error as NodeJS.ErrnoException;
    return REASONS[code] ?? message;
  } finally {
    agent.destroy();
  }
}
