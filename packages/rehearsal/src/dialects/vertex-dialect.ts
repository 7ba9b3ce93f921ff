import { anthropicDialect, readMessagesBody } from "./anthropic-dialect.ts";
import type { WireDialect } from "./wire-dialect.ts";

/** `…/publishers/anthropic/models/MODEL:rawPredict`, under any base URL. */
export const vertexPath = /\/([^/:]+):(rawPredict|streamRawPredict)$/;

/** Errors that Google itself returns; all others are Anthropic's, passed through. */
const googleStatus: Record<number, string> = {
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
};

/** The Messages API on Google Vertex: the model is in the path, the rest is the same. */
export const vertexDialect: WireDialect = {
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
