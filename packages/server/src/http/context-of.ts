import { RequestError } from "@tandem/protocol";
import type { ServedContext } from "../served-context.ts";
import type { Call } from "./route.ts";

/** The context for a route; throws if the server has none. */
export function contextOf({ context }: Pick<Call, "context">): ServedContext {
  if (context) return context;
  throw new RequestError("not_found", "This server's project has no context.", {
    fix: "Name a database with `tandem connections add` or a source in tandem.yaml, and start the server again.",
  });
}

/** Calls a context tool and returns its structured result. */
export async function askTool(call: Call, name: string, input: unknown): Promise<Record<string, unknown>> {
  const tool = contextOf(call).tools.find((candidate) => candidate.name === name);
  if (!tool) {
    throw new RequestError("not_found", "This project has no connections.", {
      fix: "Add one with `tandem connections add`, and start the server again.",
    });
  }
  return (await tool.run(input, { signal: call.signal, by: call.token.name })).structured;
}
