import type { AnyMessage } from "@agentclientprotocol/sdk";
import { Ajv2020 } from "ajv/dist/2020.js";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ASKED: Readonly<Record<string, string>> = {
  "session/update": "UpdateSessionNotification",
  "session/request_permission": "RequestPermissionRequest",
  "elicitation/create": "CreateElicitationRequest",
  "$/cancel_request": "CancelRequestNotification",
};
const ANSWERED: Readonly<Record<string, string>> = {
  initialize: "InitializeResponse",
  "auth/login": "LoginAuthResponse",
  "session/new": "NewSessionResponse",
  "session/resume": "ResumeSessionResponse",
  "session/list": "ListSessionsResponse",
  "session/close": "CloseSessionResponse",
  "session/delete": "DeleteSessionResponse",
  "session/prompt": "PromptResponse",
  "session/set_config_option": "SetSessionConfigOptionResponse",
};

/** Holds every message of an agent against the draft's schema that the SDK ships; collects what does not fit. */
export class V2Schema {
  readonly #ajv: Ajv2020;
  readonly #asked = new Map<string, string>();
  readonly wrong: string[] = [];
  checked = 0;

  constructor() {
    const path = fileURLToPath(import.meta.resolve("@agentclientprotocol/sdk/schema/v2/schema.json"));
    const schema = JSON.parse(readFileSync(path, "utf8")) as object;
    this.#ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema({ ...schema, $id: "acp" });
  }

  sent(message: AnyMessage): void {
    if ("method" in message && "id" in message) this.#asked.set(String(message.id), message.method);
  }

  received(message: AnyMessage): void {
    this.checked += 1;
    if ("method" in message) return this.#check(ASKED[message.method], message.params);
    if ("result" in message) this.#check(ANSWERED[this.#asked.get(String(message.id)) ?? ""], message.result);
  }

  #check(name: string | undefined, value: unknown): void {
    const validate = name === undefined ? undefined : this.#ajv.getSchema(`acp#/$defs/${name}`);
    if (!validate) this.wrong.push(`of a kind that is not expected (${name}): ${JSON.stringify(value)}`);
    else if (!validate(value))
      this.wrong.push(`${name}: ${JSON.stringify(validate.errors)} in ${JSON.stringify(value)}`);
  }
}

/** A stream whose messages are looked at as they pass. */
export function checkedStream(
  { readable, writable }: { readable: ReadableStream<AnyMessage>; writable: WritableStream<AnyMessage> },
  schema: V2Schema,
) {
  const writer = writable.getWriter();
  return {
    readable: readable.pipeThrough(
      new TransformStream<AnyMessage, AnyMessage>({
        transform(message, controller) {
          schema.received(message);
          controller.enqueue(message);
        },
      }),
    ),
    writable: new WritableStream<AnyMessage>({
      write(message) {
        schema.sent(message);
        return writer.write(message);
      },
      close: () => writer.close(),
      abort: (reason) => writer.abort(reason),
    }),
  };
}
