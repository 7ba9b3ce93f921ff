import { type ModelRequest, type Reply, type Script, text, toolUse } from "@tandem/rehearsal";

/** The tool name with the backend's prefix. */
const offered = ({ toolNames }: ModelRequest, name: string): string =>
  toolNames.find((each) => each === name || each.endsWith(`__${name}`)) ?? name;

/** An agent that calls tools in order, whatever the results, and then stops. */
export function calling(...calls: [name: string, input: object][]): Script {
  let at = 0;
  return (request): Reply => {
    const call = calls[at];
    at += 1;
    return call ? toolUse(offered(request, call[0]), call[1]) : text("That was all.");
  };
}

export const proposing = (given: { text: string; events: string[] } & Record<string, unknown>): [string, object] => [
  "memory_propose",
  { scope: "project", ...given },
];

/** The whole conversation as text. */
export const conversation = (requests: readonly ModelRequest[]): string =>
  JSON.stringify(requests.at(-1)?.messages ?? []);
