import type { CredentialReport } from "@tandem/claude-code";
import type { CredentialsReport } from "@tandem/protocol";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Project } from "../config/load-project.ts";
import type { Variables } from "../config/tandem-home.ts";
import { credentialOf, payerOf, sessionPayerOf, describeSecret } from "../project/describe-project.ts";

type TandemUse = CredentialsReport["tandem"][number];

/** Lists the credentials that Tandem uses and the reason. Processes started by Tandem get no other credential. */
export function tandemUses(project: Project, report: CredentialReport, env: Variables): TandemUse[] {
  const { llm } = project.config;
  const { backend } = llm.provider;
  const chosen = (path: string, value: string): string => {
    const setting = project.settings.find((each) => each.path === path);
    return setting
      ? `${path}: ${value}, line ${setting.line} of ${project.displayPath}`
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
    // Google's library looks up the application default credentials itself.
    if (reference === undefined) return { source: "Google's application default credentials", state: "unknown" };
    return { source: describeSecret(reference), state: stateOf(reference) };
  }

  function stateOf(reference: string): TandemUse["state"] {
    const [kind, rest] = [reference.slice(0, reference.indexOf(":")), reference.slice(reference.indexOf(":") + 1)];
    if (kind === "env") return env[rest]?.trim() ? "found" : "absent";
    if (kind === "file") return existsSync(resolve(project.folder, rest)) ? "found" : "absent";
    // Do not run the program for a report.
    return "unknown";
  }
}
