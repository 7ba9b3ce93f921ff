import { z } from "zod";
import { SESSION_STATUSES, thread } from "./sessions.ts";
import { sessionEvent } from "../../events/session-event.ts";
import { ownEventsQuery, streamFrame, streamQuery } from "./session-events.ts";
import { pageOf, pageQuery } from "../page.ts";

export const threadsApi = {
  "sessions.threads.list": {
    query: z.strictObject({ ...pageQuery, statuses: z.array(z.enum(SESSION_STATUSES)).optional() }),
    response: pageOf(thread),
  },
  "sessions.threads.retrieve": { response: thread },
  "sessions.threads.archive": { response: thread },
  "sessions.threads.events.list": {
    query: z.strictObject({ ...pageQuery, ...ownEventsQuery }),
    response: pageOf(sessionEvent),
  },
  "sessions.threads.events.stream": { query: streamQuery, frame: streamFrame },
};
