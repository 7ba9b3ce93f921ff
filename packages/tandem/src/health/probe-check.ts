import type { CallReport } from "@tandem/protocol";
import { createRuntime } from "../compose.ts";
import type { Project } from "../config/load-project.ts";
import { PAYERS } from "../project/describe-project.ts";
import { callProject } from "../project/open-project.ts";
import { type Check, ok } from "./check.ts";

/** Makes one minimal model call: the only proof that the service accepts the credential. Costs a few tokens. */
export const probe: Check = {
  name: "probe",
  async run({ host, project, here, trusted }, signal) {
    const chosen = project ?? (here && callProject(here));
    if (!chosen || !trusted || chosen.config.llm.provider.backend === "none") return undefined;
    let report: CallReport | undefined;
    const runtime = await createRuntime(host, asOneRequest(chosen), (done) => (report = done));
    try {
      await runtime.generateText({ role: "default", prompt: "Reply with: ok", signal, patienceMs: 0 });
    } finally {
      await runtime.close();
    }
    if (!report) return undefined;
    const { model, usage, latencyMs, payer } = report;
    const cached = usage.cacheReadTokens + usage.cacheWrite5mTokens + usage.cacheWrite1hTokens;
    const tokens = usage.inputTokens + cached + usage.outputTokens;
    return ok(`${model} answered in ${(latencyMs / 1000).toFixed(1)} s, ${tokens} tokens; billed to ${PAYERS[payer]}.`);
  },
};

/** Without retries, so that the probe costs one request, and without processes kept for later calls. */
function asOneRequest(project: Project): Project {
  const { llm } = project.config;
  const single = { ...llm, limits: { ...llm.limits, attempts: 1 }, pool: { ...llm.pool, mode: "off" as const } };
  return { ...project, config: { ...project.config, llm: single } };
}
