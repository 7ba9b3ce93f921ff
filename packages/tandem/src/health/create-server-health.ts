import { existsSync } from "node:fs";
import type { ServerStatus } from "@tandem/protocol";
import type { ServerHealth } from "@tandem/server";
import { readCredentials, wireReport } from "./read-credentials.ts";
import { checkAuth, withoutModels } from "../models/check-auth.ts";
import { sessionRoots } from "../compose.ts";
import type { Project } from "../config/load-project.ts";
import type { Host } from "../config/host.ts";
import { credentialOf, describeProject, payerOf, describeSecret } from "../project/describe-project.ts";
import { runHealthChecks } from "./run-health-checks.ts";
import { suggestPrompts } from "../project/suggest-prompts.ts";
import { sandboxView } from "./sandbox-overview.ts";
import { readSessionsOverview } from "./sessions-overview.ts";

const DEADLINE_MS = 15_000;

/** The health of a running server, with the same results as `tandem status` and `tandem doctor`. */
export function createServerHealth(host: Host, project: Project, { demo }: { demo: boolean }): ServerHealth {
  const startedAt = new Date().toISOString();
  return {
    demo,
    status: async (): Promise<ServerStatus> => {
      const { llm } = project.config;
      const auth = checkAuth(host, project, DEADLINE_MS);
      const roots = sessionRoots(project);
      const [{ models, ignored }, overview, checked, suggestions] = await Promise.all([
        describeProject(project),
        readSessionsOverview(host, project, { deadlineMs: DEADLINE_MS, callAuth: () => auth }),
        auth,
        suggestPrompts(roots[0] ?? project.folder),
      ]);
      const credential = credentialOf(llm);
      const { folder, state, files } = overview.trust;
      return {
        version: host.version,
        node: process.versions.node,
        demo,
        started_at: startedAt,
        roots,
        file: existsSync(project.file) ? project.file : null,
        backend: llm.provider.backend,
        payer: payerOf(llm),
        credential: credential === undefined ? null : describeSecret(credential),
        auth: withoutModels(checked),
        models: models.map(({ role, model, fallsBack }) => ({ role, model, falls_back: fallsBack })),
        ignored,
        sessions: {
          payer: demo ? "nobody" : overview.payer,
          auth: withoutModels(overview.auth),
          sandbox: sandboxView(overview.sandbox),
          trust: { folder, state, files },
        },
        storage: overview.storage,
        suggestions,
      };
    },
    // The server that handles this request is evidently running.
    examine: () => runHealthChecks(host, async () => true),
    credentials: async () => {
      const { report, uses } = await readCredentials(host, project);
      return wireReport(report, uses);
    },
  };
}
