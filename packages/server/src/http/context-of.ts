import { RequestError } from "@tandem/protocol";
import type { ServedContext } from "../served-context.ts";
import type { Call } from "./route.ts";

/** The context for a route; throws if the server has none. */
export function contextOf({ context }: Pick<Call, "context">): ServedContext {
  if (context) return context;
  throw new RequestError("not_found", "This server's project has no context.", {
    fix: "Add a database or folder on the page, under Context, or with `tandem connections add` and a restart of the server.",
  });
}

/** A server without a context does not load the package. */
export const loadContext = () => import("@tandem/context");

/** Calls a context tool and returns its structured result. */
export async function askTool(call: Call, name: string, input: unknown): Promise<Record<string, unknown>> {
  const tool = contextOf(call).tools.find((candidate) => candidate.name === name);
  if (!tool) {
    throw new RequestError("not_found", "This project has no connections.", {
      fix: "Add one on the page, under Context, or with `tandem connections add` and a restart of the server.",
    });
  }
  return (await tool.run(input, { signal: call.signal, by: call.token.name })).structured;
}
