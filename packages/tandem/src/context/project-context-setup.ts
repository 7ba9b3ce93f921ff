import { RequestError, type SourceTest, TandemError } from "@tandem/protocol";
import type { ContextSetup } from "@tandem/server";
import { resolve } from "node:path";
import { loadContext, openNamedConnection } from "../compose.ts";
import type { ConfigValue } from "../config/parse/config-value.ts";
import type { Edit } from "../config/edit-config.ts";
import type { Project } from "../config/load-project.ts";
import { requireTrust } from "../config/trust.ts";
import { openProjectToEdit, previewEdits, writeEdits } from "../config/write-edits.ts";
import type { Host } from "../config/host.ts";
import { sourceAccess } from "./source-access.ts";

/** The name under which a connection or source is tested that has none yet. */
const UNNAMED = "new";
/** Skipped documents that a test names. */
const MAX_SKIPPED = 20;

/**
 * Adds databases and folders to tandem.yaml for an administrator of a running server. `live` is the project that the
 * server uses; `onAdded` opens its context if it had none.
 */
export function projectContextSetup(host: Host, live: Project, onAdded: () => Promise<void>): ContextSetup {
  const edited = async (section: "connections" | "ingest.sources", name: string, input: object) => {
    const project = await openProjectToEdit(host);
    // The file may have changed since the server started. Saving must not trust lines that a person has not reviewed.
    await requireTrust(host.env, project);
    const edits = editsFor(`${section}.${name}`, input);
    return { project, edits, after: { ...project, ...(await previewEdits(project, edits)).after } };
  };
  const save = async (name: string, project: Project, edits: readonly Edit[]) => {
    const { config, settings } = await writeEdits(host, project, edits);
    // Other settings take effect with the next start.
    live.config.connections = { ...live.config.connections, ...config.connections };
    live.config.ingest.sources = { ...live.config.ingest.sources, ...config.ingest.sources };
    live.settings = settings;
    await onAdded();
    return { name, file: project.file };
  };
  const testConnection = async (project: Project, name: string, signal: AbortSignal) => {
    const { inspectConnection } = await import("@tandem/connectors");
    const started = Date.now();
    await using connection = await openNamedConnection({ ...host, signal }, trustedFor(project, live), name);
    const tables = await connection.structure({ signal });
    const { version, accountCanWrite } = await inspectConnection(connection, { signal });
    const views = tables.filter(({ type }) => type === "view").length;
    return {
      version,
      tables: tables.length - views,
      views,
      account_can_write: accountCanWrite,
      milliseconds: Date.now() - started,
    };
  };
  return {
    testConnection: (input, signal) =>
      refusing(async () => testConnection((await edited("connections", UNNAMED, input)).after, UNNAMED, signal)),
    addConnection: ({ name, ...input }, signal) =>
      refusing(async () => {
        refuseKnown("connection", name, live.config.connections);
        const { project, edits, after } = await edited("connections", name, input);
        refuseKnown("connection", name, project.config.connections);
        const test = await testConnection(after, name, signal);
        return { ...(await save(name, project, edits)), test };
      }),
    testSource: (input, signal) =>
      refusing(async () =>
        testSource(host, trustedFor((await edited("ingest.sources", UNNAMED, input)).after, live), UNNAMED, signal),
      ),
    addSource: ({ name, ...input }, signal) =>
      refusing(async () => {
        refuseKnown("source", name, live.config.ingest.sources);
        const { project, edits, after } = await edited("ingest.sources", name, input);
        refuseKnown("source", name, project.config.ingest.sources);
        const test = await testSource(host, trustedFor(after, live), name, signal);
        return { ...(await save(name, project, edits)), test };
      }),
  };
}

/** One edit per key, so that a comment beside a neighbour is kept. */
const editsFor = (path: string, input: object): Edit[] =>
  Object.entries(input).flatMap(([key, value]: [string, ConfigValue | undefined]) =>
    value === undefined ? [] : [{ path: `${path}.${key}`, value }],
  );

async function testSource(host: Host, project: Project, name: string, signal: AbortSignal): Promise<SourceTest> {
  const { config, folder } = project;
  const started = Date.now();
  const library = await loadContext();
  const access = sourceAccess(host, project);
  const leaveOut = resolve(folder, config.context.folder);
  const { maxFileMb, sources } = config.ingest;
  const source = library.openSource(name, sources[name]!, { root: folder, maxFileMb, leaveOut, access });
  const test: SourceTest = { documents: 0, bytes: 0, skipped: [], skipped_count: 0, milliseconds: 0 };
  for await (const entry of source.list({ signal })) {
    if (entry.type === "item") {
      test.documents += 1;
      test.bytes += entry.item.size;
    } else if (entry.type === "skipped") {
      test.skipped_count += 1;
      if (test.skipped.length < MAX_SKIPPED) test.skipped.push({ path: entry.path, message: entry.error.message });
    }
  }
  if (test.documents === 0 && test.skipped_count === 0) {
    throw new TandemError(
      "source_missing",
      `There are no documents of this kind in ${placeOf(sources[name]!, folder)}.`,
      { fix: "Name another folder, or choose the kind of source that it holds." },
    );
  }
  return { ...test, milliseconds: Date.now() - started };
}

const placeOf = ({ path, git, connection }: Project["config"]["ingest"]["sources"][string], folder: string): string =>
  git ?? (path === undefined ? (connection ?? folder) : resolve(folder, path));

/** The administrator's own request needs no further trust: the rest of the file was checked before. */
const trustedFor = (project: Project, { settings }: Project): Project => ({ ...project, settings });

function refuseKnown(kind: string, name: string, known: object): void {
  if (!Object.hasOwn(known, name)) return;
  throw new RequestError("conflict", `The ${kind} ${name} exists already.`, { fix: "Choose another name." });
}

/** A database that cannot be opened is the answer to a test, not a failure of the server. */
async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TandemError) || error instanceof RequestError) throw error;
    throw new RequestError("invalid_request", error.message, { cause: error, ...(error.fix && { fix: error.fix }) });
  }
}
