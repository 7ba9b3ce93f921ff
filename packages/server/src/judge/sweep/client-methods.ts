import type Anthropic from "@anthropic-ai/sdk";
import { APIResource } from "@anthropic-ai/sdk/core/resource";

export interface ClientMethod {
  /** As a program writes it after `client.`: `beta.agents.versions.list`. */
  name: string;
  /** The client's object with this method. */
  resource: Record<string, unknown>;
  key: string;
}

/** All public methods of the official client's resources for agents, messages and models. */
export const clientMethods = (client: Anthropic): ClientMethod[] =>
  (["beta", "messages", "models"] as const).flatMap((name) => methodsOf(client[name], `${name}.`));

function methodsOf(resource: APIResource, path: string): ClientMethod[] {
  const own = Object.getOwnPropertyNames(Object.getPrototypeOf(resource)).filter(
    (name) => name !== "constructor" && !name.startsWith("_"),
  );
  const below = Object.entries(resource).filter(
    (entry): entry is [string, APIResource] => entry[1] instanceof APIResource && !entry[0].startsWith("_"),
  );
  return [
    ...own.map((key) => ({ name: path + key, resource: resource as unknown as Record<string, unknown>, key })),
    ...below.flatMap(([name, part]) => methodsOf(part, `${path}${name}.`)),
  ];
}
