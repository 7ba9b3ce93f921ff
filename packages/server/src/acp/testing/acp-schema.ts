import { Ajv2020 } from "ajv/dist/2020.js";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseJson } from "@tandem/protocol";
import { z } from "zod";

/** Requests of the agent, by method. */
const ASKED: Readonly<Record<string, string>> = {
  "session/update": "SessionNotification",
  "session/request_permission": "RequestPermissionRequest",
  "elicitation/create": "CreateElicitationRequest",
  "$/cancel_request": "CancelRequestNotification",
};
const ANSWERED: Readonly<Record<string, string>> = {
  initialize: "InitializeResponse",
  authenticate: "AuthenticateResponse",
  "session/new": "NewSessionResponse",
  "session/load": "LoadSessionResponse",
  "session/resume": "ResumeSessionResponse",
  "session/list": "ListSessionsResponse",
  "session/close": "CloseSessionResponse",
  "session/delete": "DeleteSessionResponse",
  "session/fork": "ForkSessionResponse",
  "session/prompt": "PromptResponse",
  "session/set_mode": "SetSessionModeResponse",
  "session/set_config_option": "SetSessionConfigOptionResponse",
};
/** Not in the stable schema. */
const UNSTABLE: ReadonlySet<string> = new Set(["ForkSessionResponse", "subagent_update"]);

const message = z.looseObject({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string(), z.number(), z.null()]).optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.looseObject({ code: z.int(), message: z.string() }).optional(),
});

/** Validates every message of an agent against the schema of the SDK and collects violations. */
export class AcpSchema {
  readonly #asked = new Map<string, string>();
  readonly wrong: string[] = [];
  checked = 0;

  /** Records a line to the agent; responses are validated by the method of their request. */
  sent(line: string): void {
    const parsed = message.safeParse(parseJson(line));
    if (parsed.success && parsed.data.method !== undefined && parsed.data.id !== undefined) {
      this.#asked.set(String(parsed.data.id), parsed.data.method);
    }
  }

  /** Validates a line from the agent. */
  received(line: string): void {
    const parsed = message.safeParse(parseJson(line));
    if (!parsed.success) return void this.wrong.push(`no message of JSON-RPC: ${line}`);
    const { id, method, params, result, error } = parsed.data;
    this.checked += 1;
    if (method !== undefined) return this.#check(ASKED[method], params, line);
    if (error) return;
    this.#check(ANSWERED[this.#asked.get(String(id)) ?? ""], result, line);
  }

  #check(name: string | undefined, value: unknown, line: string): void {
    if (name === undefined) return void this.wrong.push(`of a kind that is not expected: ${line}`);
    const update = z.object({ update: z.object({ sessionUpdate: z.string() }) }).safeParse(value).data?.update;
    const isUnstable = UNSTABLE.has(name) || UNSTABLE.has(update?.sessionUpdate ?? "");
    const validate = (isUnstable ? unstable : stable).getSchema(`acp#/$defs/${name}`);
    if (!validate) return void this.wrong.push(`the schema has no ${name}`);
    if (!validate(value)) this.wrong.push(`${name}: ${JSON.stringify(validate.errors?.slice(0, 3))} in ${line}`);
  }
}

// Shared: compiling the schemas takes longer than most conversations.
const stable = load("schema.json");
const unstable = load("schema.unstable.json");

function load(file: string): Ajv2020 {
  const path = fileURLToPath(import.meta.resolve(`@agentclientprotocol/sdk/schema/v1/${file}`));
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  return ajv.addSchema({ ...(JSON.parse(readFileSync(path, "utf8")) as object), $id: "acp" });
}
