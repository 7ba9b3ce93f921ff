import type { Credential } from "@tandem/claude-code";
import type { Clock } from "@tandem/protocol";
import type { SharedQuotas } from "@tandem/runtime";
import type { Records } from "@tandem/storage";
import { holderName, loadProcesses, loadSessions, secretReader } from "../compose.ts";
import type { Project } from "../config/load-project.ts";
import type { Host } from "../config/host.ts";

/**
 * The shared quota state of the account for single calls, used by all sessions and jobs on the store. Undefined for services
 * that report no quotas.
 */
export async function sharedQuotas(
  host: Host,
  project: Project,
  records: Records,
  clock: Clock,
): Promise<SharedQuotas | undefined> {
  const { provider, claudeCode } = project.config.llm;
  const { backend, anthropic } = provider;
  if (backend !== "claude-code" && backend !== "anthropic") return undefined;
  const readSecret = secretReader(host, project);
  const { AccountLimits } = await loadSessions();
  const limits = new AccountLimits(records, clock);
  const account = async (): Promise<string> => {
    const { accountOf, readCredential } = await loadProcesses();
    const key = async (): Promise<Credential> => {
      const { apiKey, baseUrl } = anthropic;
      return { type: "api_key", key: await readSecret(apiKey), ...(baseUrl && { baseUrl }) };
    };
    const hostVariables = host.env;
    const credential = backend === "anthropic" ? key() : readCredential(claudeCode, { readSecret, hostVariables });
    return accountOf(await credential, hostVariables);
  };
  // A key may come from a program. Run it once per process, as the backend does.
  let known: Promise<string> | undefined;
  const name = (): Promise<string> => (known ??= account());
  return {
    async until(model) {
      const limit = await limits.find(await name(), model);
      return limit && new Date(limit.resetsAt);
    },
    async learned(model, resetsAt) {
      const limit = { model, resetsAt: resetsAt.toISOString() };
      await limits.learn(await name(), limit, holderName("a job"));
    },
  };
}
