import { existsSync } from "node:fs";
import type { Caretaker, ServerStatus } from "@tandem/server";
import { readCredentials, wireReport } from "./read-credentials.ts";
import { checkAuth, withoutModels } from "../models/check-auth.ts";
import { sessionRoots } from "../compose.ts";
import type { Project } from "../config/load-project.ts";
import type { Host } from "../host.ts";
import { credentialOf, describeProject, payerOf, shownSecret } from "../project/describe-project.ts";
import { examine } from "./examine.ts";
import { lookAtSessions } from "./look-at-sessions.ts";

const DEADLINE_MS = 15_000;

/** The health of a running server, with the same results as `tandem status` and `tandem doctor`. */
export function takeCare(host: Host, project: Project, { demo }: { demo: boolean }): Caretaker {
  const startedAt = new Date().toISOString();
  return {
    status: async (): Promise<ServerStatus> => {
      const { llm } = project.config;
      const auth = checkAuth(host, project, DEADLINE_MS);
      const [{ models, ignored }, looked, checked] = await Promise.all([
        describeProject(project),
        lookAtSessions(host, project, { deadlineMs: DEADLINE_MS, callAuth: () => auth }),
        auth,
      ]);
      const credential = credentialOf(llm);
      const { folder, state, files } = looked.trust;
      return {
        version: host.version,
        node: process.versions.node,
        demo,
        started_at: startedAt,
        roots: sessionRoots(project),
        file: existsSync(project.file) ? project.file : null,
        backend: llm.provider.backend,
        payer: payerOf(llm),
        credential: credential === undefined ? null : shownSecret(credential),
        auth: withoutModels(checked),
        models: models.map(({ role, model, fallsBack }) => ({ role, model, falls_back: fallsBack })),
        ignored,
        sessions: {
          payer: demo ? "nobody" : looked.payer,
          auth: withoutModels(looked.auth),
          sandbox: looked.sandbox,
          trust: { folder, state, files },
        },
        storage: looked.storage,
      };
    },
    // The server that handles this request is evidently running.
    examine: () => examine(host, async () => true),
    credentials: async () => {
      const { report, uses } = await readCredentials(host, project);
      return wireReport(report, uses);
    },
  };
}
