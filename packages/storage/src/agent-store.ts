import { RequestError, type Agent } from "@tandem/protocol";
import type { Database } from "./database.ts";
import { operation } from "./operation.ts";
import { pageArgs, readPage, toPage, within, type PageArgs } from "./page.ts";
import { insert, one, sql, type Work } from "./sql.ts";
import type { AgentStore, PageQuery } from "./store.ts";
import { toIso, toIsoOrNull, toMs } from "./time.ts";

interface VersionRow {
  agent: string;
  version: number;
  updated_at: number;
  body: string;
}

interface StoredAgent {
  body: string;
  created_at: number;
  archived_at: number | null;
}

function encode(agent: Agent): VersionRow {
  const { created_at: _, archived_at: __, ...body } = agent;
  return { agent: agent.id, version: agent.version, updated_at: toMs(agent.updated_at), body: JSON.stringify(body) };
}

const decode = ({ body, created_at, archived_at }: StoredAgent): Agent => ({
  ...(JSON.parse(body) as Omit<Agent, "created_at" | "archived_at">),
  created_at: toIso(created_at),
  archived_at: toIsoOrNull(archived_at),
});

const create = operation(
  "agents.create",
  function* (args: { row: VersionRow; createdAt: number; archivedAt: number | null }): Work<void> {
    const { row } = args;
    yield insert("agent", [
      { id: row.agent, version: row.version, created_at: args.createdAt, archived_at: args.archivedAt },
    ]);
    yield insert("agent_version", [{ ...row }]);
  },
);

const addVersion = operation("agents.addVersion", function* (row: VersionRow): Work<void> {
  const isNext = yield* one(sql`
    update agent set version = ${row.version} where id = ${row.agent} and version = ${row.version - 1} returning id`);
  if (!isNext) {
    const newest = yield* one(sql<{ version: number }>`select version from agent where id = ${row.agent}`);
    if (!newest) throw noSuchAgent(row.agent);
    throw new RequestError("conflict", `The newest version of the agent ${row.agent} is ${newest.version}.`, {
      fix: "Read the agent again and repeat the change on its newest version.",
    });
  }
  yield insert("agent_version", [{ ...row }]);
});

const archive = operation("agents.archive", function* ({ id, at }: { id: string; at: number }): Work<void> {
  const row = yield* one(sql`update agent set archived_at = ${at} where id = ${id} returning id`);
  if (!row) throw noSuchAgent(id);
});

const noSuchAgent = (id: string): RequestError => new RequestError("not_found", `There is no agent ${id}.`);

const SELECT = sql<StoredAgent>`
  agent_version.body, agent.created_at, agent.archived_at
  from agent join agent_version on agent_version.agent = agent.id`;

const get = operation("agents.get", function* (args: { id: string; version: number | undefined }) {
  const version = args.version === undefined ? sql`agent.version` : sql`${args.version}`;
  return yield* one(sql<StoredAgent>`
    select ${SELECT} where agent.id = ${args.id} and agent_version.version = ${version}`);
});

type Filter = Pick<PageQuery, "includeArchived" | "created">;

const list = operation("agents.list", function* ({ page, filter }: { page: PageArgs; filter: Filter }) {
  return yield* readPage<StoredAgent>(page, {
    select: SELECT,
    at: "agent.created_at",
    id: "agent.id",
    conditions: [
      sql`agent_version.version = agent.version`,
      ...(filter.includeArchived ? [] : [sql`agent.archived_at is null`]),
      ...within("agent.created_at", filter.created),
    ],
  });
});

const versions = operation("agents.versions", function* (args: { id: string; page: PageArgs; filter: Filter }) {
  return yield* readPage<StoredAgent>(args.page, {
    select: SELECT,
    at: "agent_version.version",
    id: "agent_version.agent",
    conditions: [sql`agent.id = ${args.id}`, ...within("agent_version.updated_at", args.filter.created)],
  });
});

export function createAgentStore(database: Database): AgentStore {
  return {
    create: (agent) => {
      const archivedAt = agent.archived_at === null ? null : toMs(agent.archived_at);
      return database.write(create, { row: encode(agent), createdAt: toMs(agent.created_at), archivedAt });
    },
    get: async (id, version) => {
      const row = await database.read(get, { id, version });
      return row && decode(row);
    },
    addVersion: (agent) => database.write(addVersion, encode(agent)),
    archive: (id, at) => database.write(archive, { id, at: toMs(at) }),
    list: async (query) => {
      const page = pageArgs("agents", query);
      const { includeArchived, created } = query;
      const found = await database.read(list, { page, filter: { includeArchived, created } });
      return toPage("agents", page, found, decode);
    },
    versions: async (id, query) => {
      const name = `versions of ${id}`;
      const page = pageArgs(name, query);
      const found = await database.read(versions, { id, page, filter: { created: query.created } });
      return toPage(name, page, found, decode);
    },
  };
}
