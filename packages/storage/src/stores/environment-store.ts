import type { Environment } from "@tandem/protocol";
import type { Database } from "../database.ts";
import {
  createEnvironment,
  deleteEnvironment,
  getEnvironment,
  listEnvironments,
  updateEnvironment,
  type EnvironmentRow,
} from "../operations/environments.ts";
import type { EnvironmentStore } from "../store.ts";
import type { AnnouncementPort } from "./announcement-port.ts";
import { readList } from "./read-list.ts";
import { toIso, toIsoOrNull, toMs, toMsOrNull, toSpan } from "../rows/time.ts";

function encode({ created_at, archived_at, ...body }: Environment): EnvironmentRow {
  return {
    id: body.id,
    created_at: toMs(created_at),
    archived_at: toMsOrNull(archived_at),
    body: JSON.stringify(body),
  };
}

const decode = ({ body, created_at, archived_at }: EnvironmentRow): Environment => ({
  ...(JSON.parse(body) as Omit<Environment, "created_at" | "archived_at">),
  created_at: toIso(created_at),
  archived_at: toIsoOrNull(archived_at),
});

export function createEnvironmentStore(database: Database, announcements: AnnouncementPort): EnvironmentStore {
  return {
    create: async (environment) =>
      announcements.with([{ type: "environment.created", id: environment.id }], (announce) =>
        database.write(createEnvironment, { row: encode(environment), announce }),
      ),
    get: async (id) => {
      const row = await database.read(getEnvironment, id);
      return row && decode(row);
    },
    update: async (environment) => {
      // An archived environment does not change any more.
      const type = environment.archived_at === null ? "environment.updated" : "environment.archived";
      return announcements.with([{ type, id: environment.id }], (announce) =>
        database.write(updateEnvironment, { row: encode(environment), announce }),
      );
    },
    delete: (id) =>
      announcements.with([{ type: "environment.deleted", id }], (announce) =>
        database.write(deleteEnvironment, { id, announce }),
      ),
    list: async (query) => {
      const filter = { includeArchived: query.includeArchived, created: toSpan(query.created) };
      return readList("environments", query, (page) => database.read(listEnvironments, { page, ...filter }), decode);
    },
  };
}
