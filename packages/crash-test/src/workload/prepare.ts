import { setTimeout as sleep } from "node:timers/promises";
import { TandemError } from "@tandem/protocol";
import type { OrderKind } from "../operation-history.ts";
import type { SystemPlan } from "../system/tested-system.ts";
import type { ApiClient } from "./api-client.ts";

const MODEL = "claude-sonnet-5-5";
const AGAIN_MS = 200;
const TRIES = 50;

export interface Prepared {
  agents: Record<OrderKind, string>;
  /** Sessions take them in turn. */
  environments: readonly [string, ...string[]];
}

/** Creates the agents, and environments if none is given. */
export async function prepare(
  client: ApiClient,
  plan: Pick<SystemPlan, "environment" | "newEnvironments">,
): Promise<Prepared> {
  const create = async (path: string, body: object): Promise<string> => {
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const id = await client.create(path, body);
      if (id !== undefined) return id;
      await sleep(AGAIN_MS);
    }
    throw new TandemError("crash_test_unreachable", `The server did not answer POST ${path}.`, {
      fix: "See that it runs and that its address is right.",
    });
  };
  const toolset = (type: "always_allow" | "always_ask") => ({
    type: "agent_toolset_20260401",
    default_config: { permission_policy: { type } },
  });
  const lookup = {
    type: "custom",
    name: "lookup",
    description: "Looks a key up.",
    input_schema: { type: "object", properties: { key: { type: "string" } } },
  };
  const agent = (name: string, tools: readonly object[]) => create("/v1/agents", { name, model: MODEL, tools });
  const allowing = await agent("crash-test allowing", [toolset("always_allow")]);
  const asking = await agent("crash-test asking", [toolset("always_ask")]);
  const custom = await agent("crash-test custom", [toolset("always_allow"), lookup]);
  const environment = (body: object) =>
    create("/v1/environments", { name: "crash-test", config: { type: "cloud" }, ...body });
  const [first = {}, ...others] = plan.newEnvironments ?? [];
  return {
    agents: { talk: allowing, tool: allowing, approval: asking, custom, interrupt: allowing },
    environments:
      plan.environment === undefined
        ? [await environment(first), ...(await Promise.all(others.map(environment)))]
        : [plan.environment],
  };
}
