import { operation } from "../operation.ts";
import { refuse, type Refusal } from "../refusal.ts";
import { insert, one, sql, type Work } from "../sql-statement.ts";
import { announce, type AnnouncementRow } from "./announcements.ts";
import { readPage, within, type PageArgs, type Span } from "./read-page.ts";

export interface AgentVersionRow {
  agent: string;
  version: number;
  updated_at: number;
  body: string;
}

export interface StoredAgent {
  body: string;
  created_at: number;
  archived_at: number | null;
}

export const createAgent = operation(
  "agents.create",
  function* (args: {
    row: AgentVersionRow;
    createdAt: number;
    archivedAt: number | null;
    announce: readonly AnnouncementRow[];
  }): Work<void> {
    const { row } = args;
    const agent = { id: row.agent, version: row.version, created_at: args.createdAt, archived_at: args.archivedAt };
    yield insert("agent", [agent]);
    yield insert("agent_version", [{ ...row }]);
    yield* announce(args.announce);
  },
);

export const addAgentVersion = operation(
  "agents.addVersion",
  function* (args: { row: AgentVersionRow; announce: readonly AnnouncementRow[] }): Work<void> {
    const { row } = args;
    const isNext = yield* one(sql`
    update agent set version = ${row.version} where id = ${row.agent} and version = ${row.version - 1} returning id`);
    if (!isNext) {
      const newest = yield* one(sql<{ version: number }>`select version from agent where id = ${row.agent}`);
      if (!newest) throw noSuchAgent(row.agent);
      throw refuse(
        "conflict",
        `The newest version of the agent ${row.agent} is ${newest.version}.`,
        "Read the agent again and repeat the change on its newest version.",
      );
    }
    yield insert("agent_version", [{ ...row }]);
    yield* announce(args.announce);
  },
);

export const archiveAgent = operation(
  "agents.archive",
  function* (args: { id: string; at: number; announce: readonly AnnouncementRow[] }): Work<void> {
    const row = yield* one(sql`update agent set archived_at = ${args.at} where id = ${args.id} returning id`);
    if (!row) throw noSuchAgent(args.id);
    yield* announce(args.announce);
  },
);

const noSuchAgent = (id: string): Refusal => refuse("not_found", `There is no agent ${id}.`);

const SELECT = sql<StoredAgent>`
  agent_version.body, agent.created_at, agent.archived_at
  from agent join agent_version on agent_version.agent = agent.id`;

export const getAgent = operation("agents.get", function* (args: { id: string; version: number | undefined }) {
  const version = args.version === undefined ? sql`agent.version` : sql`${args.version}`;
  return yield* one(sql<StoredAgent>`
    select ${SELECT} where agent.id = ${args.id} and agent_version.version = ${version}`);
});

interface ListArgs {
  page: PageArgs;
  includeArchived?: boolean;
  created?: Span;
}

export const listAgents = operation("agents.list", function* ({ page, includeArchived, created }: ListArgs) {
  return yield* readPage<StoredAgent>(page, {
    select: SELECT,
    at: "agent.created_at",
    id: "agent.id",
    conditions: [
      sql`agent_version.version = agent.version`,
      ...(includeArchived ? [] : [sql`agent.archived_at is null`]),
      ...within("agent.created_at", created),
    ],
  });
});

export const listAgentVersions = operation(
  "agents.versions",
  function* (args: { id: string; page: PageArgs; created?: Span }) {
    return yield* readPage<StoredAgent>(args.page, {
      select: SELECT,
      at: "agent_version.version",
      id: "agent_version.agent",
      conditions: [sql`agent.id = ${args.id}`, ...within("agent_version.updated_at", args.created)],
    });
  },
);
