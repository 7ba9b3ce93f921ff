import type { Agent } from "@tandem/protocol";
import type { Database } from "../database.ts";
import {
  addAgentVersion,
  archiveAgent,
  createAgent,
  getAgent,
  listAgents,
  listAgentVersions,
  type AgentVersionRow,
  type StoredAgent,
} from "../operations/agents.ts";
import type { AgentStore } from "../store.ts";
import type { AnnouncementPort } from "./announcement-port.ts";
import { readList } from "./read-list.ts";
import { toIso, toIsoOrNull, toMs, toMsOrNull, toSpan } from "../rows/time.ts";

function encode(agent: Agent): AgentVersionRow {
  const { created_at: _, archived_at: __, ...body } = agent;
  return { agent: agent.id, version: agent.version, updated_at: toMs(agent.updated_at), body: JSON.stringify(body) };
}

const decode = ({ body, created_at, archived_at }: StoredAgent): Agent => ({
  ...(JSON.parse(body) as Omit<Agent, "created_at" | "archived_at">),
  created_at: toIso(created_at),
  archived_at: toIsoOrNull(archived_at),
});

export function createAgentStore(database: Database, announcements: AnnouncementPort): AgentStore {
  return {
    create: async (agent) => {
      const times = { createdAt: toMs(agent.created_at), archivedAt: toMsOrNull(agent.archived_at) };
      await announcements.with([{ type: "agent.created", id: agent.id }], (announce) =>
        database.write(createAgent, { row: encode(agent), ...times, announce }),
      );
    },
    get: async (id, version) => {
      const row = await database.read(getAgent, { id, version });
      return row && decode(row);
    },
    addVersion: async (agent) =>
      announcements.with([{ type: "agent.updated", id: agent.id }], (announce) =>
        database.write(addAgentVersion, { row: encode(agent), announce }),
      ),
    archive: async (id, at) =>
      announcements.with([{ type: "agent.archived", id }], (announce) =>
        database.write(archiveAgent, { id, at: toMs(at), announce }),
      ),
    list: async (query) => {
      const filter = { includeArchived: query.includeArchived, created: toSpan(query.created) };
      return readList("agents", query, (page) => database.read(listAgents, { page, ...filter }), decode);
    },
    versions: async (id, query) => {
      const created = toSpan(query.created);
      const read = (page: Parameters<typeof listAgentVersions.work>[0]["page"]) =>
        database.read(listAgentVersions, { id, page, created });
      return readList(`versions of ${id}`, query, read, decode);
    },
  };
}
