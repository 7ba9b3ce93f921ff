import { z } from "zod";
import { file } from "./sessions.ts";
import { count, deletedOf, pageOf, pageQuery } from "../page.ts";

/** A hundred years: clients cannot parse later dates. */
const MAX_SECONDS = 100 * 365 * 24 * 60 * 60;

export const filesApi = {
  "files.upload": {
    form: z.strictObject({ expires_in_seconds: count().min(1).max(MAX_SECONDS).optional() }),
    response: file,
  },
  "files.list": {
    query: z.strictObject({ ...pageQuery, ids: z.array(z.string()).optional(), scope_id: z.string().optional() }),
    response: pageOf(file),
  },
  "files.retrieveMetadata": { response: file },
  "files.download": { download: true as const },
  "files.delete": { response: deletedOf("file_deleted") },
};
