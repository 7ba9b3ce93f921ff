import type { Message, Part, PartOf } from "@tandem/protocol";
import { familyOf, isFileChange, isListKeeping, isSubagentCall } from "../../tool/tool-family.ts";
import { cacheMissOf, lastStepOf } from "./cache-miss.ts";
import { turnTotals, type TurnTotals } from "./turn-totals.ts";

type ToolPart = PartOf<"tool">;

/** What one line of the timeline shows. Its key is that of its first part, wherever the line came to begin. */
export type Row = { key: string; rewound: boolean } & (
  | { type: "user"; message: Message }
  /** `isPassed`: a list of things to do that a later one of the same turn has taken the place of. */
  | { type: "part"; part: Exclude<Part, { type: "tool" | "step" | "subtask" }>; isPassed?: boolean }
  /** `isPlan`: it writes down a plan that is handed in, and shown, below it. */
  | { type: "tool"; part: ToolPart; thread: string | null; lane: Lane | undefined; isPlan?: boolean }
  | { type: "group"; parts: readonly ToolPart[] }
  | { type: "subtask"; part: PartOf<"subtask">; call: ToolPart | undefined }
  /** `miss`: why the model had to read anew what it had read before. */
  | { type: "footer"; sum: TurnTotals; miss: string | undefined }
);

type PartRow = Extract<Row, { type: "part" }>;

/** Where a call stands among those that were made at once. */
type Lane = "first" | "middle" | "last";

const GROUP_FROM = 2;
/** Of calls that are not mere looking, more must be alike before they are put together. */
const OTHERS_FROM = 4;

interface Turn {
  messages: readonly Message[];
  rows: readonly Row[];
  isOver: boolean;
}

/**
 * The rows of a timeline. It is asked again at every change: turns of which nothing changed keep the rows that they had,
 * so that a word that streams in costs its own turn and no other, however many came before it.
 */
export class Rows {
  readonly #own: string | null;
  #turns: Turn[] = [];
  #messages: readonly Message[] = [];
  #isRunning = false;
  #rows: readonly Row[] = [];
  #keyOf = (index: number): string => this.#rows[index]!.key;

  /** Whose timeline it is: a subagent's thread, or the session's own. */
  constructor(own: string | null = null) {
    this.#own = own;
  }

  read(messages: readonly Message[], isRunning: boolean): readonly Row[] {
    if (messages === this.#messages && isRunning === this.#isRunning) return this.#rows;
    const { kept, keptMessages } = this.#keep(messages);
    const parts = split(messages.slice(keptMessages));
    const fresh = parts.map((own, index): Turn => {
      const isOver = index < parts.length - 1 || !isRunning;
      const before = this.#turns[kept + index];
      if (before?.isOver === isOver && isSame(before.messages, own)) return before;
      const earlier = parts[index - 1] ?? this.#turns[kept - 1]?.messages ?? [];
      return { messages: own, rows: rowsOfTurn(own, isOver, this.#own, earlier), isOver };
    });
    const keptRows = this.#turns.slice(0, kept).reduce((sum, { rows }) => sum + rows.length, 0);
    this.#turns = [...this.#turns.slice(0, kept), ...fresh];
    this.#messages = messages;
    this.#isRunning = isRunning;
    this.#show(this.#rows.slice(0, keptRows).concat(fresh.flatMap(({ rows }) => rows)), keptRows);
    return this.#rows;
  }

  /** Which key a row has: another function only where a key is another one, since who asks for all of them keeps the answers. */
  get keyOf(): (index: number) => string {
    return this.#keyOf;
  }

  /** How many turns are as they were, with all of their messages; the last one may always grow. */
  #keep(messages: readonly Message[]): { kept: number; keptMessages: number } {
    let same = 0;
    while (same < messages.length && messages[same] === this.#messages[same]) same += 1;
    let kept = 0;
    let keptMessages = 0;
    const most = this.#turns.length - 1;
    while (kept < most && keptMessages + this.#turns[kept]!.messages.length < same) {
      keptMessages += this.#turns[kept]!.messages.length;
      kept += 1;
    }
    return { kept, keptMessages };
  }

  #show(rows: readonly Row[], from: number): void {
    const before = this.#rows;
    this.#rows = rows;
    const isSameKeys =
      rows.length === before.length && rows.slice(from).every(({ key }, index) => key === before[from + index]!.key);
    if (!isSameKeys) this.#keyOf = (index) => this.#rows[index]!.key;
  }
}

/** By turn; what stands between turns goes with the one before it. */
function split(messages: readonly Message[]): Message[][] {
  const turns: Message[][] = [];
  let turn: string | null | undefined;
  for (const message of messages) {
    const isNew = message.turn !== null && message.turn !== turn;
    if (turns.length === 0 || isNew) turns.push([message]);
    else turns.at(-1)!.push(message);
    if (isNew) turn = message.turn;
  }
  return turns;
}

const isSame = (before: readonly Message[], after: readonly Message[]): boolean =>
  before.length === after.length && before.every((message, index) => message === after[index]);

export function rowsOfTurn(
  messages: readonly Message[],
  isOver: boolean,
  own: string | null = null,
  /** Those of the turn before. */
  earlier: readonly Message[] = [],
): Row[] {
  const rows = stopLast(messages.flatMap((message) => rowsOfMessage(message, own)));
  const sum = isOver ? turnTotals(messages) : undefined;
  const grouped = group(passPlans(passLists(withoutRepetition(rows))));
  if (!sum) return grouped;
  // What was said after the turn's end stands below its sum.
  const end = grouped.findLastIndex((row) => row.key !== "" && isOfTurn(row, messages, sum.turn)) + 1;
  const rewound = grouped[end - 1]?.rewound ?? false;
  const miss = cacheMissOf(messages, lastStepOf(earlier));
  const footer: Row = { key: `${sum.turn}:footer`, rewound, type: "footer", sum, miss };
  return [...grouped.slice(0, end), footer, ...grouped.slice(end)];
}

/** A list is kept step by step, and repeated each time: only how it stood in the end is worth all its lines. */
function passLists(rows: readonly Row[]): Row[] {
  const last = rows.findLastIndex((row) => isOf(row, "todo"));
  return rows.map((row, index) => (index < last && isOf(row, "todo") ? { ...row, isPassed: true } : row));
}

/** Claude Code writes a plan to a file, and then hands that in: the plan itself is worth seeing once. */
function passPlans(rows: readonly Row[]): Row[] {
  const handedIn = new Map(
    rows.flatMap((row, index): [file: unknown, index: number][] => {
      const file = row.type === "tool" && row.part.name === "ExitPlanMode" && row.part.input?.["planFilePath"];
      return typeof file === "string" ? [[file, index]] : [];
    }),
  );
  if (handedIn.size === 0) return [...rows];
  return rows.map((row, index) =>
    row.type === "tool" && isFileChange(row.part) && index < (handedIn.get(row.part.input?.["file_path"]) ?? 0)
      ? { ...row, isPlan: true }
      : row,
  );
}

/** What had been said when somebody stopped the turn is told after that: it stands above it all the same. */
function stopLast(rows: readonly Row[]): Row[] {
  const isStop = (row: Row): boolean => isOf(row, "interruption");
  if (!rows.some(isStop)) return [...rows];
  const last = rows.findLastIndex((row) => row.type !== "user" && !isStop(row));
  const before = rows.filter((row, index) => index <= last && !isStop(row));
  return [...before, ...rows.filter(isStop), ...rows.slice(last + 1).filter((row) => !isStop(row))];
}

function isOfTurn(row: Row, messages: readonly Message[], turn: string): boolean {
  if (row.type === "user") return row.message.turn === turn;
  const id = row.type === "group" ? row.parts[0]!.id : row.type === "footer" ? "" : row.part.id;
  return messages.some((message) => message.turn === turn && message.parts.some((part) => part.id === id));
}

function rowsOfMessage(message: Message, own: string | null): Row[] {
  const rewound = message.rewound !== undefined;
  // Nothing came of it, and its words are with who wrote them.
  if (message.delivery?.type === "dropped" && message.delivery.reason.startsWith("taken back")) return [];
  if (message.role === "user" && message.parts[0]?.type !== "interruption") {
    return [{ key: `${message.id}:user`, rewound, type: "user", message }];
  }
  const calls = message.parts.filter((part): part is ToolPart => part.type === "tool" && isSubagentCall(part));
  const subtasks = message.parts.filter((part) => part.type === "subtask");
  const callOf = new Map(subtasks.map((subtask) => [subtask, calls.find((call) => isCallOf(call, subtask))]));
  const told = new Set(callOf.values());
  const tools = message.parts.filter((part) => part.type === "tool" && isShown(part, told));
  return message.parts.flatMap((part): Row[] => {
    const key = keyOf(part);
    switch (part.type) {
      case "step":
        return [];
      // Of use to who looks for a fault in the counting, in the events; nobody else can do anything about it.
      case "notice":
        return part.about === "tandem.usage_mismatch" ? [] : [{ key, rewound, type: "part", part }];
      case "reasoning":
        return part.text === "" && !part.preview ? [] : [{ key, rewound, type: "part", part }];
      case "subtask":
        return [{ key, rewound, type: "subtask", part, call: callOf.get(part) }];
      case "tool": {
        if (!isShown(part, told)) return [];
        // A subagent's call stands here for as long as somebody has to answer it; what came of it, where the subagent is.
        if (message.thread !== own && !isWaiting(part)) return [];
        const lane = laneOf(tools.indexOf(part), tools.length);
        return [{ key, rewound, type: "tool", part, thread: message.thread, lane }];
      }
      default:
        return [{ key, rewound, type: "part", part }];
    }
  });
}

/** A list of things to do is shown as what it became; a call of a subagent as the subagent. */
const isShown = (part: ToolPart, told: ReadonlySet<ToolPart | undefined>): boolean =>
  !told.has(part) && !(isListKeeping(part) && part.state.type !== "error");

/** For a person's leave, or for an answer. */
const isWaiting = ({ kind, permission, state }: ToolPart): boolean =>
  (permission?.type === "asked" && state.type === "pending") || (kind === "custom" && state.type === "running");

function isCallOf(call: ToolPart, subtask: PartOf<"subtask">): boolean {
  const [first] = subtask.exchange;
  const words = first?.content.find((block) => block.type === "text");
  return words !== undefined && call.input?.["prompt"] === words.text;
}

function laneOf(index: number, count: number): Lane | undefined {
  if (count < 2) return undefined;
  if (index === 0) return "first";
  return index === count - 1 ? "last" : "middle";
}

/** Of several tries in a row, the last says it all; and an error says why no more were made. */
const withoutRepetition = (rows: readonly Row[]): Row[] =>
  rows.filter((row, index) => {
    if (isOf(row, "retry")) return !isOf(rows[index + 1], "retry");
    return !(isOf(row, "stop") && row.part.reason === "retries_exhausted" && isOf(rows[index - 1], "error"));
  });

const isOf = <T extends PartRow["part"]["type"]>(
  row: Row | undefined,
  type: T,
): row is PartRow & { part: Extract<PartRow["part"], { type: T }> } => row?.type === "part" && row.part.type === type;

/** Like calls in a row become one, whichever model request they were made in. */
function group(rows: readonly Row[]): Row[] {
  const grouped: Row[] = [];
  for (let index = 0; index < rows.length;) {
    const row = rows[index]!;
    const family = row.type === "tool" ? familyOf(row.part) : undefined;
    let end = index + 1;
    if (family) while (end < rows.length && isLike(rows[end]!, row, family.name)) end += 1;
    const parts = rows.slice(index, end).flatMap((one) => (one.type === "tool" ? [one.part] : []));
    if (family && parts.length >= (family.isLooking ? GROUP_FROM : OTHERS_FROM)) {
      grouped.push({ key: row.key, rewound: row.rewound, type: "group", parts });
    } else {
      grouped.push(...rows.slice(index, end));
    }
    index = end;
  }
  return grouped;
}

const isLike = (row: Row, first: Row, family: string): boolean =>
  row.type === "tool" && row.rewound === first.rewound && familyOf(row.part)?.name === family;

/** Whether two rows look the same: what did not change is the same object. */
export function isSameRow(before: Row, after: Row): boolean {
  if (before === after) return true;
  if (before.type !== after.type || before.rewound !== after.rewound || before.key !== after.key) return false;
  switch (after.type) {
    case "user":
      return (before as typeof after).message === after.message;
    case "part":
      return (before as typeof after).part === after.part && (before as typeof after).isPassed === after.isPassed;
    case "tool":
      return (
        (before as typeof after).part === after.part &&
        (before as typeof after).lane === after.lane &&
        (before as typeof after).isPlan === after.isPlan
      );
    case "group": {
      const { parts } = before as typeof after;
      return parts.length === after.parts.length && parts.every((part, index) => part === after.parts[index]);
    }
    case "subtask":
      return (before as typeof after).part === after.part && (before as typeof after).call === after.call;
    case "footer":
      return false;
  }
}

/** The row that shows a part or a message; -1 if none does. */
export const rowOfPart = (rows: readonly Row[], id: string): number =>
  rows.findIndex((row) => {
    switch (row.type) {
      case "user":
        return row.message.id === id || row.message.parts.some((part) => part.id === id);
      case "group":
        return row.parts.some((part) => part.id === id);
      case "subtask":
        return row.part.id === id || row.call?.id === id;
      case "footer":
        return false;
      default:
        return row.part.id === id;
    }
  });

/** Parts that come of one call share its id: the call itself goes by that alone, and so does what stands for itself. */
const keyOf = ({ id, type }: Part): string => (type === "tool" || type === "text" ? id : `${id}:${type}`);
