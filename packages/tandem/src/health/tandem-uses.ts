import type { CredentialReport } from "@tandem/claude-code";
import type { Payer } from "@tandem/protocol";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Project } from "../config/load-project.ts";
import type { Variables } from "../config/tandem-home.ts";
import { credentialOf, payerOf, sessionPayerOf, shownSecret } from "../project/describe-project.ts";

/** What one part of Tandem runs on, by the config's choice. */
export interface TandemUse {
  /** Single calls of the runtime, or sessions of agents. */
  for: "calls" | "sessions";
  backend: string;
  /** Where the credential is kept; null where none is needed, or none is there. */
  source: string | null;
  /** `unknown`: only asking would tell. `expired`: a login that has ended and does not renew itself. */
  state: "found" | "absent" | "expired" | "unknown" | "none_needed";
  payer: Payer;
  /** The setting that decides. */
  because: string;
}

/** What Tandem uses and why. No other credential ever reaches what it starts. */
export function tandemUses(project: Project, report: CredentialReport, env: Variables): TandemUse[] {
  const { llm } = project.config;
  const { backend } = llm.provider;
  const chosen = (path: string, value: string): string => {
    const setting = project.settings.find((each) => each.path === path);
    return setting
      ? `${path}: ${value}, line ${setting.line} of ${project.shownFile}`
      : `${path}: ${value}, the default`;
  };
  const onClaudeCode = { ...llm, provider: { ...llm.provider, backend: "claude-code" as const } };
  const auth = chosen("llm.claudeCode.auth", llm.claudeCode.auth);
  const sessions: TandemUse = {
    for: "sessions",
    backend: "claude-code",
    payer: sessionPayerOf(llm),
    because: auth,
    ...placeOf(credentialOf(onClaudeCode), llm.claudeCode.auth === "login"),
  };
  const calls: TandemUse = {
    for: "calls",
    backend,
    payer: payerOf(llm),
    because: backend === "claude-code" ? auth : chosen("llm.provider.backend", backend),
    ...placeOf(credentialOf(llm), backend === "claude-code" && llm.claudeCode.auth === "login"),
  };
  return [backend === "none" ? { ...calls, source: null, state: "none_needed" } : calls, sessions];

  function placeOf(reference: string | undefined, isLogin: boolean): Pick<TandemUse, "source" | "state"> {
    if (isLogin) {
      const { place } = report.login;
      if (place === undefined) return { source: null, state: "absent" };
      const { login } = report.places.find(({ id }) => id === place) ?? {};
      return { source: place, state: login?.expired && !login.renewable ? "expired" : "found" };
    }
    // Google's own defaults: its library looks for them.
    if (reference === undefined) return { source: "Google's application default credentials", state: "unknown" };
    return { source: shownSecret(reference), state: stateOf(reference) };
  }

  function stateOf(reference: string): TandemUse["state"] {
    const [kind, rest] = [reference.slice(0, reference.indexOf(":")), reference.slice(reference.indexOf(":") + 1)];
    if (kind === "env") return env[rest]?.trim() ? "found" : "absent";
    if (kind === "file") return existsSync(resolve(project.folder, rest)) ? "found" : "absent";
    // A program is run only when its answer is needed.
    return "unknown";
  }
}
