import { createParser } from "eventsource-parser";
import { type RecordedExchange, readRecording } from "./recording-file.ts";
import { installedPackage, type TypedValue, typeMismatches } from "../type-mismatches.ts";

const SDK = "@anthropic-ai/sdk";

/** A request or response that does not have the type that the SDK declares for it. */
export interface RecordedMismatch {
  /** Number of the exchange in the recording. */
  exchange: number;
  part: "request" | "response";
  /** The compiler's message. */
  problem: string;
}

export interface RecordingCheck {
  /** Exchanges of the Messages API that were checked. Error responses are not. */
  checked: number;
  /** Version of `@anthropic-ai/sdk`. */
  sdk: string;
  mismatches: RecordedMismatch[];
}

/**
 * Compares a recording with the types of the `@anthropic-ai/sdk` that is installed for `folder`, by the TypeScript that is
 * installed there. Fields that the SDK does not know are allowed, because the API may add some.
 */
export async function checkRecording(file: string, folder = process.cwd()): Promise<RecordingCheck> {
  const exchanges = readRecording(file).filter(({ request }) => urlOf(request.path).pathname.endsWith("/v1/messages"));
  const prelude = [
    `import type * as Plain from "${SDK}/resources/messages/messages";`,
    `import type * as Beta from "${SDK}/resources/beta/messages/messages";`,
  ];
  const found = await typeMismatches(exchanges.flatMap(valuesOf), { folder, library: SDK, prelude });
  const mismatches = found.map(({ name, problem }): RecordedMismatch => {
    const [exchange, part] = name.split(" ");
    return { exchange: Number(exchange), part: part === "request" ? "request" : "response", problem };
  });
  return { checked: exchanges.length, sdk: installedPackage(SDK, folder).version, mismatches };
}

function valuesOf({ number, request, response }: RecordedExchange): TypedValue[] {
  const isBeta = urlOf(request.path).searchParams.get("beta") === "true";
  const [module, prefix] = isBeta ? ["Beta", "Beta.Beta"] : ["Plain", "Plain."];
  const sent = { name: `${number} request`, type: `${module}.MessageCreateParams`, value: request.body };
  if (response.status >= 400) return [sent];
  const answers = answersOf(response.body).map((value) => ({
    name: `${number} response`,
    type: `${prefix}${hasType(value, "message") ? "Message" : "RawMessageStreamEvent"}`,
    value,
  }));
  return [sent, ...answers];
}

const urlOf = (path: string): URL => new URL(path, "http://recording");

/** The message, or the events of a stream without pings and errors, which the SDK does not pass on. */
function answersOf(body: string): unknown[] {
  const events: unknown[] = [];
  const parser = createParser({ onEvent: ({ data }) => void events.push(JSON.parse(data)) });
  // A recording may lack the empty line after the last event.
  parser.feed(`${body}\n\n`);
  if (events.length === 0) return [JSON.parse(body)];
  return events.filter((event) => !hasType(event, "ping") && !hasType(event, "error"));
}

const hasType = (value: unknown, type: string): boolean =>
  typeof value === "object" && value !== null && "type" in value && value.type === type;
