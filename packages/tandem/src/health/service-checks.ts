import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { LlmConfig } from "@tandem/protocol";
import { checkClaudeCode } from "../project/find-claude-code.ts";
import { listModels } from "../models/list-models.ts";
import { type AuthCheck, isPresent } from "../models/check-auth.ts";
import { type Check, failure, ok, warning } from "./check.ts";
import type { Variables } from "../config/tandem-home.ts";

const binary: Check = {
  name: "claude code",
  async run({ host: { env }, here: project, trusted }, signal) {
    if (!project || !trusted) return undefined;
    const { provider, claudeCode } = project.config.llm;
    if (provider.backend !== "claude-code" && claudeCode.executable === undefined) return undefined;
    const { path, version, bundled, warning: newer } = await checkClaudeCode({ env, signal }, project);
    if (newer) return warning(`${newer} ${path}.`, "Update Tandem, or omit --claude-path.");
    return ok(`${version}${bundled ? "" : ", from --claude-path"}, ${path}.`);
  },
};

/** The detail of a credential that is present. A login on this machine proves nothing about the service. */
export const describePresent = ({ state, detail }: AuthCheck): string =>
  state === "found"
    ? `Found: ${detail} Only a call shows whether the service accepts it (tandem doctor --probe).`
    : detail;

const credential: Check = {
  name: "credential",
  async run({ project, trusted, auth }) {
    if (!project || !trusted || project.config.llm.provider.backend === "none") return undefined;
    const found = await auth();
    return isPresent(found) ? ok(describePresent(found)) : failure(found.detail, found.fix);
  },
};

// Shorter than the timeout of a check, so that the check can report the cause.
const REACH_MS = 10_000;
const LIST_MS = 15_000;

const network: Check = {
  name: "network",
  async run({ host, project, trusted }, signal) {
    const url = project && trusted ? serviceUrl(project.config.llm) : undefined;
    if (!url) return undefined;
    const { origin, protocol, hostname } = new URL(url);
    const reason = await probeOrigin(origin, host.env, AbortSignal.any([signal, AbortSignal.timeout(REACH_MS)]));
    if (reason)
      return failure(`${origin} is unreachable: ${reason}.`, "Check the network and the proxy (HTTPS_PROXY).");
    if (protocol === "http:" && !/^(localhost|127\.|\[::1\])/.test(hostname)) {
      return warning(
        `${origin} answers without encryption: credentials are sent in plain text.`,
        "Use an https:// URL.",
      );
    }
    return ok(`${origin} answers.`);
  },
};

const models: Check = {
  name: "models",
  async run({ host, project, trusted, auth }) {
    if (!project || !trusted) return undefined;
    const { llm } = project.config;
    const { backend } = llm.provider;
    if (backend === "none") return undefined;
    const { checkModel, findModel, resolveModel, roleModels } = await import("@tandem/runtime");
    const roles = roleModels(llm.models).filter(({ fallsBack }) => !fallsBack);
    // Asking Claude Code for its list also proves that it starts with the isolation of a real call.
    const offered = backend === "claude-code" ? await listModels(host, project, LIST_MS) : (await auth()).models;
    const problems = roles.flatMap(({ role, model }) => {
      const error = checkModel(backend, model, offered);
      return error ? [{ role, error }] : [];
    });
    const [first] = problems;
    if (first) {
      const names = problems.map(({ role, error }) => `llm.models.${role}: ${error.message}`).join(" ");
      return failure(names, first.error.fix);
    }
    const names = roles.map(({ role, model }) => `${role} ${model}`).join(", ");
    const listed = offered && roles.every(({ model }) => findModel(offered, resolveModel(backend, model)));
    return ok(listed ? `Offered by the service: ${names}.` : `Valid names: ${names}.`);
  },
};

/** The endpoint of the service. */
function serviceUrl({ provider, claudeCode }: LlmConfig): string | undefined {
  switch (provider.backend) {
    case "none":
      return undefined;
    case "anthropic":
      return provider.anthropic.baseUrl ?? "https://api.anthropic.com";
    case "vertex":
      return provider.vertex.baseUrl ?? "https://aiplatform.googleapis.com";
    case "gateway":
      return provider.gateway.baseUrl ?? "https://ai-gateway.vercel.sh";
    case "claude-code":
      return (claudeCode.auth === "api_key" ? claudeCode.baseUrl : undefined) ?? "https://api.anthropic.com";
  }
}

export const serviceChecks: readonly Check[] = [binary, credential, network, models];

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
async function probeOrigin(origin: string, env: Variables, signal: AbortSignal): Promise<string | undefined> {
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
