import { type LlmConfig, TandemError } from "@tandem/protocol";
import type { ModelInfo } from "@tandem/runtime";
import { createBackend, probeLogin } from "../compose.ts";
import type { Project } from "../config/load-project.ts";
import type { Host } from "../config/host.ts";
import { listModels } from "./list-models.ts";

export interface AuthCheck {
  /**
   * `usable`: confirmed by the service. `found`: this machine has a login that has not expired; the service may still
   * reject it. `unverified`: another credential exists. Only a billed call could confirm the last two.
   */
  state:
    | "usable"
    | "found"
    | "unverified"
    | "missing"
    | "expired"
    | "rejected"
    | "unreachable"
    | "not_configured"
    | "untrusted"
    | "failed";
  detail: string;
  fix: string;
  account?: { kind: string; plan?: string; email?: string; organization?: string };
  /** The service's models, if the check listed them. */
  models?: readonly ModelInfo[];
}

/** Whether a call may work: nothing is known to be wrong with the credential. */
export const isPresent = ({ state }: AuthCheck): boolean =>
  state === "usable" || state === "found" || state === "unverified";

const LOG_IN = "Log in with `tandem login` and try again.";

/** For output: the list of models would hide the rest. */
export function withoutModels(auth: AuthCheck): Omit<AuthCheck, "models"> {
  const { models: _, ...rest } = auth;
  return rest;
}

/** Checks the configured credential without spending tokens. */
export async function checkAuth(host: Host, project: Project, deadlineMs: number): Promise<AuthCheck> {
  const { provider, claudeCode } = project.config.llm;
  if (provider.backend === "none") {
    return { state: "not_configured", detail: "No model backend is configured.", fix: "Run `tandem setup`." };
  }
  try {
    if (provider.backend === "claude-code" && claudeCode.auth === "login")
      return await checkLogin(host, project, deadlineMs);
    return await checkKey(host, project, deadlineMs);
  } catch (error) {
    if (host.signal.aborted) throw error;
    return toCheck(error);
  }
}

async function checkLogin(host: Host, project: Project, deadlineMs: number): Promise<AuthCheck> {
  const { state, detail, account } = await probeLogin(host, project, deadlineMs);
  switch (state) {
    case "logged_in":
      return { state: "found", detail, fix: "", account };
    case "logged_out":
      return { state: "missing", detail, fix: LOG_IN };
    case "expired":
      return { state, detail, fix: LOG_IN, account };
    case "unreachable":
      return { state, detail, fix: "Check the network and the proxy (HTTPS_PROXY).", account };
  }
}

/** Verifies a key with the free list of models. Without such a list, checks only that the key exists. */
async function checkKey(host: Host, project: Project, deadlineMs: number): Promise<AuthCheck> {
  const { provider, claudeCode } = project.config.llm;
  if (provider.backend === "vertex" || (provider.backend === "claude-code" && claudeCode.auth === "oauth_token")) {
    // Proves at least that the key can be read.
    await (await createBackend(host, project)).close();
    const isGooglesOwn = provider.backend === "vertex" && provider.vertex.credentials === undefined;
    const what = isGooglesOwn ? "Google's default credentials are used" : "The credential was found";
    const they = isGooglesOwn ? "they are" : "it is";
    return { state: "unverified", detail: `${what}; the first call shows whether ${they} accepted.`, fix: "" };
  }
  const asked = provider.backend === "claude-code" ? withAnthropicKey(project) : project;
  const models = await listModels(host, asked, deadlineMs);
  // A gateway may serve its list without a key, so the list proves nothing.
  if (provider.backend === "gateway") {
    return {
      state: "unverified",
      detail: "The gateway answers; the first call shows whether the key is accepted.",
      fix: "",
      models,
    };
  }
  return { state: "usable", detail: "The key is accepted.", fix: "", models };
}

/** Uses the key with Anthropic's API: Claude Code's list of models does not verify it. */
export function withAnthropicKey(project: Project): Project {
  const { llm } = project.config;
  if (llm.claudeCode.auth !== "api_key") return project;
  const { apiKey, baseUrl } = llm.claudeCode;
  const direct: LlmConfig = {
    ...llm,
    provider: { ...llm.provider, backend: "anthropic", anthropic: { apiKey, baseUrl } },
  };
  return { ...project, config: { ...project.config, llm: direct } };
}

const STATES: Record<string, AuthCheck["state"]> = {
  not_configured: "not_configured",
  untrusted_folder: "untrusted",
  secret_unavailable: "missing",
  not_logged_in: "missing",
  auth_rejected: "rejected",
  billing: "rejected",
  network: "unreachable",
  timeout: "unreachable",
};

function toCheck(error: unknown): AuthCheck {
  if (!(error instanceof TandemError)) throw error;
  return { state: STATES[error.code] ?? "failed", detail: error.message, fix: error.fix };
}
