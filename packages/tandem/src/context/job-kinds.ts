import type { Connection, DatabaseLocation } from "@tandem/connectors";
import type {
  Budget,
  Context as Knowledge,
  ContextTool,
  CreateTools,
  JobKind,
  Metrics,
  SourceAccess,
} from "@tandem/context";
import type { Config, JobParams } from "@tandem/protocol";
import type { Embedder } from "@tandem/runtime";
import type { Store } from "@tandem/storage";
import { z } from "zod";
import { loadContext } from "../compose.ts";
import type { Project } from "../config/load-project.ts";
import { ingestSources, type GivenDocuments } from "./ingest-sources.ts";

/** The jobs of a project's context. Servers and commands run the same ones, so either can resume a job of the other. */
export async function jobKinds(parts: {
  project: Project;
  store: Store;
  knowledge: Knowledge;
  metrics: Metrics;
  /** The context's current tools for agents. */
  tools: () => readonly ContextTool[];
  /** The same over another state of the context. */
  createTools: CreateTools;
  embedder: Embedder | undefined;
  connect: (name: string) => Promise<Connection>;
  locate: (name: string) => Promise<DatabaseLocation>;
  access: SourceAccess;
  /** Documents that an ingest of this process reads beside the configured sources. Never from a request. */
  given?: GivenDocuments | undefined;
}): Promise<Record<string, JobKind>> {
  const { project, store, knowledge, metrics, tools, embedder, connect, access, given, createTools, locate } = parts;
  const library = await loadContext();
  const { scan } = project.config;
  const { budget } = project.config.context;
  const memory = { context: knowledge, store, settings: project.config.memory };
  const { scan: scanParams, ingest: ingestParams } = jobParams(project);
  return {
    memory: library.memoryKind(memory),
    remember: library.rememberKind(memory),
    scan: library.jobKind(
      scanParams,
      async (run, { connection: connectionName, descriptions, ...limits }) => {
        await using connection = await connect(connectionName);
        const config = { ...scan, descriptions };
        const limit = limitOf(limits, budget);
        const context = { ...knowledge, metrics };
        return await library.scan(run, { context, connectionName, connection, config, limit });
      },
      (params) => budgetOf(params, budget),
    ),
    ingest: library.jobKind(
      given
        ? z
            .strictObject({ sources: z.array(sourceName(project)), files: z.array(z.string()), text: z.string() })
            .partial()
            .extend(limitParams)
        : ingestParams,
      async (run, { sources: names = [], ...limits }) =>
        library.ingest(run, {
          context: knowledge,
          store: { records: store.records, blobs: store.blobs, search: store.search, space: knowledge.id },
          config: project.config.ingest,
          sources: (await ingestSources(project, { names, ...given }, access)).sources,
          tools: tools(),
          metrics,
          ...(embedder && { embedder }),
          limit: limitOf(limits, budget),
        }),
      (params) => budgetOf(params, budget),
    ),
    evals: library.jobKind(
      library.evalParams.extend(limitParams),
      async (run, { max_usd, max_requests, confirmed, ...params }) =>
        library.runEvals(run, {
          context: knowledge,
          store,
          embedder,
          createTools,
          connect,
          locate,
          params,
          limit: limitOf({ max_usd, max_requests, confirmed }, budget),
        }),
      (params) => budgetOf(params, budget),
    ),
  };
}

/** The parameters of jobs. Names are checked against the config at each call, because it can grow. */
export function jobParams(project: Project) {
  const { config } = project;
  const connection = z.string().refine((name) => Object.hasOwn(config.connections, name), {
    error: () => expected("a connection", Object.keys(config.connections)),
  });
  return {
    scan: z.strictObject({ connection, descriptions: z.boolean().default(config.scan.descriptions), ...limitParams }),
    ingest: z.strictObject({
      sources: z
        .array(sourceName(project))
        .min(1)
        .default(() => Object.keys(config.ingest.sources)),
      ...limitParams,
    }),
  } satisfies { [Kind in "scan" | "ingest"]: z.ZodType<JobParams[Kind]> };
}

export type ScanParams = z.output<ReturnType<typeof jobParams>["scan"]>;
export type IngestParams = z.output<ReturnType<typeof jobParams>["ingest"]>;

const sourceName = ({ config: { ingest } }: Project) =>
  z.string().refine((name) => Object.hasOwn(ingest.sources, name), {
    error: () => expected("a source", Object.keys(ingest.sources)),
  });

const expected = (what: string, names: readonly string[]): string =>
  names.length === 0 ? `expected ${what} of the config, which has none` : `expected ${what}: ${names.join(", ")}`;

/** A person's limit for one job, and the person's consent to an estimate beyond it. */
const limitParams = {
  max_usd: z.number().positive().optional(),
  max_requests: z.int().min(1).optional(),
  confirmed: z.boolean().optional(),
};
type LimitParams = z.output<z.ZodObject<typeof limitParams>>;
type ConfiguredBudget = Config["context"]["budget"];

const givenBudget = ({ max_usd, max_requests }: LimitParams): Budget => ({
  ...(max_usd !== undefined && { usd: max_usd }),
  ...(max_requests !== undefined && { requests: max_requests }),
});

/** The estimate above which the job does not start. */
const limitOf = (params: LimitParams, configured: ConfiguredBudget): Budget =>
  params.confirmed ? {} : { ...configured, ...givenBudget(params) };

/** Where the running job stops. Consent lifts the configured limit, but not one of the same request. */
const budgetOf = (params: LimitParams, configured: ConfiguredBudget): Budget =>
  params.confirmed ? givenBudget(params) : { ...configured, ...givenBudget(params) };
