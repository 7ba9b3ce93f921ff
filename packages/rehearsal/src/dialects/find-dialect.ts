import { anthropicDialect } from "./anthropic-dialect.ts";
import type { WireDialect } from "./wire-dialect.ts";
import { gatewayDialect, gatewayPath } from "./gateway-dialect.ts";
import type { ReceivedRequest } from "../received-request.ts";
import { vertexDialect, vertexPath } from "./vertex-dialect.ts";

/** The dialect of a model request; undefined for other requests. */
export function findDialect({ method, path }: ReceivedRequest): WireDialect | undefined {
  if (method !== "POST") return undefined;
  const { pathname } = new URL(path, "http://rehearsal");
  if (pathname === "/v1/messages") return anthropicDialect;
  if (gatewayPath.test(pathname)) return gatewayDialect;
  if (vertexPath.test(pathname) && !pathname.endsWith("/count-tokens:rawPredict")) return vertexDialect;
  return undefined;
}
