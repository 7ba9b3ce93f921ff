import type { Credential } from "@tandem/claude-code";
import type { SharedQuotas } from "@tandem/runtime";
import type { Records } from "@tandem/storage";
import { holderName, loadClaudeCode, loadSessions, secretReader } from "../compose.ts";
import type { Project } from "../config/load-project.ts";
import type { Host } from "../host.ts";

/**
 * What sessions and jobs of all processes on the store know about the quotas of the account that single calls run on.
 * Undefined for services that say nothing of the kind.
 */
export async function sharedQuotas(
  context: Host,
  project: Project,
  records: Records,
): Promise<SharedQuotas | undefined> {
  const { provider, claudeCode } = project.config.llm;
  const { backend, anthropic } = provider;
  if (backend !== "claude-code" && backend !== "anthropic") return undefined;
  const readSecret = secretReader(context, project);
  const { AccountLimits } = await loadSessions();
  const limits = new AccountLimits(records);
  const account = async (): Promise<string> => {
    const { accountOf, readCredential } = await loadClaudeCode();
    const key = async (): Promise<Credential> => {
      const { apiKey, baseUrl } = anthropic;
      return { type: "api_key", key: await readSecret(apiKey), ...(baseUrl && { baseUrl }) };
    };
    const hostVariables = context.env;
    const credential = backend === "anthropic" ? key() : readCredential(claudeCode, { readSecret, hostVariables });
    return accountOf(await credential, hostVariables);
  };
  // A key may be a program's answer: it is asked once for a process, which is as long as a backend keeps it.
  let known: Promise<string> | undefined;
  const name = (): Promise<string> => (known ??= account());
  return {
    async until(model) {
      const limit = await limits.find(await name(), model);
      return limit && new Date(limit.resetsAt);
    },
    async learned(resetsAt) {
      const limit = { kind: "quota", resetsAt: resetsAt.toISOString() };
      await limits.learn(await name(), limit, holderName("a job"));
    },
  };
}
