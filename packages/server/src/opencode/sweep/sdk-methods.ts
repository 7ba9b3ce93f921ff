import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A method of opencode's SDK. */
export interface SdkMethod {
  /** Such as `session.prompt`. */
  name: string;
  /** Such as `POST /session/{sessionID}/message`. */
  address: string;
  /** The name of the type of its responses, by status. */
  responses: string | undefined;
  call(parameters: object, options: object): Promise<SdkResult>;
}

export interface SdkResult {
  data?: unknown;
  error?: unknown;
  response?: Response;
  /** Of a method that streams events. */
  stream?: AsyncGenerator;
}

/** All methods of the client that speaks the API of this release, in the order of their declaration. */
export function sdkMethods(client: object, sdk: string): SdkMethod[] {
  const types = responseTypes(readFileSync(join(sdk, "dist/v2/gen/sdk.gen.d.ts"), "utf8"));
  return methodsOf(client, "", types);
}

function methodsOf(resource: object, prefix: string, types: ReadonlyMap<string, string>): SdkMethod[] {
  const prototype = Object.getPrototypeOf(resource) as object;
  return Object.entries(Object.getOwnPropertyDescriptors(prototype)).flatMap(([key, property]): SdkMethod[] => {
    const value: unknown = property.value;
    const name = prefix === "" ? key : `${prefix}.${key}`;
    if (property.get) return methodsOf(property.get.call(resource) as object, name, types);
    if (key === "constructor" || typeof value !== "function") return [];
    const source = String(value);
    const [, verb = ""] = /\.(get|post|put|patch|delete)\(\{/.exec(source) ?? [];
    const [, url = ""] = /url: "([^"]+)"/.exec(source) ?? [];
    return [
      {
        name,
        address: `${verb.toUpperCase()} ${url}`,
        responses: types.get(`${prototype.constructor.name}.${key}`),
        call: async (parameters, options) => (await value.call(resource, parameters, options)) as SdkResult,
      },
    ];
  });
}

function responseTypes(declarations: string): Map<string, string> {
  const types = new Map<string, string>();
  let owner = "";
  let method = "";
  for (const line of declarations.split("\n")) {
    owner = /^export declare class (\w+)/.exec(line)?.[1] ?? owner;
    method = /^ {4}(\w+)<ThrowOnError/.exec(line)?.[1] ?? method;
    const responses = /(?:RequestResult|ServerSentEventsResult)<(\w+Responses)/.exec(line)?.[1];
    if (responses !== undefined) types.set(`${owner}.${method}`, responses);
  }
  return types;
}
