import type { ServerMetrics, Telemetry } from "@tandem/server";
import type { Engine } from "@tandem/sessions";
import { DEFAULT_TENANT, type Store } from "@tandem/storage";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { loadProcesses, loadServer, startTelemetry } from "../compose.ts";
import type { Project } from "../config/load-project.ts";
import { tandemHome, type Variables } from "../config/tandem-home.ts";
import type { Host } from "../config/host.ts";

/** Metrics of this process, and traces if a collector is configured. */
export interface Observation extends AsyncDisposable {
  metrics: ServerMetrics;
  tracing: Telemetry | undefined;
  /** Counts and traces a tenant's sessions. Returns a stop function. */
  watch: (runtime: { tenant: { id: string }; engine: Engine; store: Store }) => () => void;
}

/** `holder` is this process's name in its leases. */
export async function observe(host: Host, project: Project, holder: string): Promise<Observation> {
  const { env, version } = host;
  const library = await loadServer();
  let own: Engine | undefined;
  const metrics = await library.createMetrics(version, {
    fleet: async () => own!.fleet.status(),
    processes: async () => (await loadProcesses()).measureProcesses(await ledgers(env)),
  });
  await using parts = new AsyncDisposableStack();
  const tracing = await startTelemetry(project, { version, instance: holder });
  if (tracing) parts.use(tracing);
  const { metricsPort } = project.config.server;
  if (metricsPort !== undefined) parts.use(await library.serveMetrics(metrics, metricsPort));
  const owned = parts.move();
  return {
    metrics,
    tracing,
    watch({ tenant, engine, store }) {
      if (tenant.id === DEFAULT_TENANT) own = engine;
      const held = async () =>
        (await store.leases.held()).flatMap((lease) => (lease.holder === holder ? [lease.session] : []));
      const agentOf = async (session: string) => (await engine.sessions.get(session)).agent;
      const stops = [metrics.watch({ events: store.events, held }), tracing?.watch({ events: store.events, agentOf })];
      return () => {
        for (const stop of stops) stop?.();
      };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Each tenant has its own process ledger. */
async function ledgers(env: Variables): Promise<string[]> {
  const home = tandemHome(env);
  const tenants = await readdir(join(home, "tenants")).catch(() => []);
  return [home, ...tenants.map((tenant) => join(home, "tenants", tenant))].map((folder) => join(folder, "processes"));
}
