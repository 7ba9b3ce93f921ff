import { anthropicDialect, readMessagesBody } from "./anthropic-dialect.ts";
import type { Dialect } from "./dialect.ts";

/** `…/publishers/anthropic/models/MODEL:rawPredict`, under whatever base URL. */
export const vertexPath = /\/([^/:]+):(rawPredict|streamRawPredict)$/;

/** Google's own statuses: it turns these away itself; all other errors are Anthropic's, passed on. */
const googleStatus: Record<number, string> = {
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
};

/** The Messages API as Google Vertex serves it: the model in the path, the rest the same. */
export const vertexDialect: Dialect = {
  ...anthropicDialect,
  name: "vertex",
  read(request) {
    const [, model = ""] = vertexPath.exec(new URL(request.path, "http://rehearsal").pathname) ?? [];
    return { ...readMessagesBody(request), model: decodeURIComponent(model) };
  },
  errorBody(status, type, message) {
    const google = googleStatus[status];
    return google
      ? { error: { code: status, message, status: google } }
      : anthropicDialect.errorBody(status, type, message);
  },
};
