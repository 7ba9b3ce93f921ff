import type { SourceAccess } from "@tandem/context";
import { join } from "node:path";
import { loadContext, openNamedConnection, secretReader } from "../compose.ts";
import type { Project } from "../config/load-project.ts";
import type { Host } from "../config/host.ts";
import { tandemHome } from "../config/tandem-home.ts";

/** How an ingest reaches databases and repositories. Repositories are kept in TANDEM_HOME and fetched again each time. */
export const sourceAccess = (host: Host, project: Project): SourceAccess => ({
  connect: (name) => openNamedConnection(host, project, name),
  checkout: async ({ git, branch, token }, signal) => {
    const { checkoutSource } = await loadContext();
    const readSecret = secretReader(host, project);
    return checkoutSource(
      { url: git!, branch, ...(token !== undefined && { token: await readSecret(token) }) },
      { cache: join(tandemHome(host.env), "sources"), variables: host.env, signal },
    );
  },
});
