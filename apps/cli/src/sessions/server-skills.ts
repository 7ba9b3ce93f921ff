import type { ServerConnection } from "./server-connection.ts";
import type { SessionsClient } from "./sessions-client.ts";

/** The skills of the running server. */
export function skillsOf({ api }: ServerConnection): SessionsClient["skills"] {
  return {
    create: ({ files, displayName }) =>
      api.upload("skills.create", {
        files: files.map(asFile),
        form: displayName === undefined ? {} : { display_name: displayName },
      }),
    get: (id) => api.call("skills.retrieve", { params: { skill_id: id } }),
    list: async ({ limit, cursor, source }) => {
      const { data, next_page: next } = await api.call("skills.list", { query: { limit, page: cursor, source } });
      return { data, next, previous: null };
    },
    delete: async (id) => void (await api.call("skills.delete", { params: { skill_id: id } })),
    use: (id) => api.call("skills.use", { params: { skill_id: id } }),
    createVersion: (id, { files }) =>
      api.upload("skills.versions.create", { params: { skill_id: id }, files: files.map(asFile) }),
    version: (id, version) => api.call("skills.versions.retrieve", { params: { skill_id: id, version } }),
    versions: async (id, { limit, cursor }) => {
      const input = { params: { skill_id: id }, query: { limit, page: cursor } };
      const { data, next_page: next } = await api.call("skills.versions.list", input);
      return { data, next, previous: null };
    },
    deleteVersion: async (id, version) =>
      void (await api.call("skills.versions.delete", { params: { skill_id: id, version } })),
    async content(id, version) {
      const params = { skill_id: id, version };
      const { name } = await api.call("skills.versions.retrieve", { params });
      const response = await api.download("skills.versions.download", { params });
      const content = new Uint8Array(await response.bytes());
      return { filename: `${name}.zip`, size: content.byteLength, read: async () => content };
    },
  };
}

const asFile = ({ filename, content }: { filename: string; content: Uint8Array }): File =>
  new File([new Uint8Array(content)], filename);
