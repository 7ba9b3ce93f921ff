import { z } from "zod";
import { TandemError } from "../errors/tandem-error.ts";
import {
  CASSETTE_VERSION,
  cassetteEvent,
  cassetteFolder,
  cassetteHeader,
  cassetteStep,
  type Cassette,
} from "./cassette.ts";
import { sortKeys } from "./sort-keys.ts";

/** Characters of the bundle in one line: a small change of the folder changes few lines. */
const DATA_CHARACTERS = 1_000;

/** The file of a cassette: the header, the steps, the events, the folder and a last line, one JSON object per line. */
export function formatCassette({ header, steps, events, folder }: Cassette): string {
  const { bundle = "", ...about } = folder.type === "bundle" ? folder : { ...folder, bundle: "" };
  const data = bundle.match(new RegExp(`.{1,${DATA_CHARACTERS}}`, "g")) ?? [];
  const lines = [
    header,
    ...steps,
    ...events,
    { folder: about },
    ...data.map((part) => ({ data: part })),
    { end: { steps: steps.length, events: events.length, data: data.length } },
  ];
  return lines.map((line) => `${JSON.stringify(sortKeys(line))}\n`).join("");
}

/** Reads a file. Throws a `TandemError` that names the wrong line. */
export function parseCassette(text: string): Cassette {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const values = lines.map(parseLine);
  const header = parse(cassetteHeader, checkVersion(values[0]), 1);
  const cassette: Cassette = { header, steps: [], events: [], folder: { type: "left_out", reason: "" } };
  let folder: { line: number; about: object } | undefined;
  let bundle = "";
  let data = 0;
  let end: unknown;
  for (const [index, value] of values.entries()) {
    const line = index + 1;
    if (line === 1) continue;
    if (end !== undefined) throw damaged(line, "nothing may follow the last line");
    if ("step" in value) cassette.steps.push(parse(cassetteStep, value, line));
    else if ("event" in value) cassette.events.push(parse(cassetteEvent, value, line));
    else if ("folder" in value) folder = { line, about: parse(z.looseObject({}), value["folder"], line) };
    else if ("data" in value) {
      bundle += parse(z.string(), value["data"], line);
      data += 1;
    } else if ("end" in value) end = value["end"];
    else throw damaged(line, `unknown kind of line: ${Object.keys(value).slice(0, 3).join(", ")}`);
  }
  const { steps, events } = cassette;
  for (const [index, { step }] of steps.entries()) {
    if (step !== index + 1) throw damaged(index + 2, `expected step ${index + 1}, found step ${step}`);
  }
  const counted = { steps: steps.length, events: events.length, data };
  const found = z.object({ steps: z.int(), events: z.int(), data: z.int() }).safeParse(end).data;
  if (!found || !folder) throw damaged(lines.length, "the file ends too early");
  for (const key of ["steps", "events", "data"] as const) {
    if (found[key] !== counted[key]) {
      throw damaged(lines.length, `the last line counts ${found[key]} lines of ${key}, the file has ${counted[key]}`);
    }
  }
  const about = { ...folder.about, ...(bundle !== "" && { bundle }) };
  return { ...cassette, folder: parse(cassetteFolder, about, folder.line) };
}

function parseLine(line: string, index: number): Record<string, unknown> {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(line));
  } catch (cause) {
    if (index === 0) throw notACassette(cause);
    throw damaged(index + 1, "it is not a JSON object", cause);
  }
}

function checkVersion(first: Record<string, unknown> | undefined): unknown {
  const version = first?.["tandem_cassette"];
  if (typeof version !== "number") throw notACassette();
  if (version <= CASSETTE_VERSION) return first;
  throw new TandemError(
    "cassette_newer",
    `The cassette has format ${version}. This version of Tandem reads format ${CASSETTE_VERSION}.`,
    { fix: "Update Tandem, or export the session again with this version." },
  );
}

function parse<T>(schema: z.ZodType<T>, value: unknown, line: number): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.join(".") ?? "";
  throw damaged(line, `${path === "" ? "" : `${path}: `}${issue?.message ?? "invalid"}`, parsed.error);
}

const notACassette = (cause?: unknown): TandemError =>
  new TandemError("cassette_damaged", "The file is not a cassette: its first line has no `tandem_cassette`.", {
    fix: "Export one with `tandem cassettes export SESSION -o FILE`.",
    cause,
  });

const damaged = (line: number, why: string, cause?: unknown): TandemError =>
  new TandemError("cassette_damaged", `Line ${line} of the cassette is damaged: ${why}.`, {
    fix: "Restore the file, or export the session again.",
    cause,
  });
