import type { Message, Part, PartOf } from "@tandem/protocol";
import { familyOf, isFileChange, isTodoUpdate, isSubagentCall } from "../../tool/tool-family.ts";
import { cacheMissOf, lastStepOf } from "./cache-miss.ts";
import { turnTotals, type TurnTotals } from "./turn/turn-totals.ts";

type ToolPart = PartOf<"tool">;

/** One row of the transcript. Its key is the id of its first part. */
export type Row = { key: string; rewound: boolean } & (
  | { type: "user"; message: Message }
  /** `isPassed`: a todo list that a later one of the same turn replaces. */
  | { type: "part"; part: Exclude<Part, { type: "tool" | "step" | "subtask" }>; isReplaced?: boolean }
  /** `isPlan`: writes the file of a plan that is shown below. */
  | { type: "tool"; part: ToolPart; thread: string | null; lane: Lane | undefined; isPlan?: boolean }
  | { type: "group"; parts: readonly ToolPart[] }
  | { type: "subtask"; part: PartOf<"subtask">; call: ToolPart | undefined }
  /** `miss`: why the prompt cache was missed. `messages`: those of the turn, for its timeline. */
  | { type: "footer"; sum: TurnTotals; miss: string | undefined; messages: readonly Message[] }
  /** Messages that are still being loaded. */
  | { type: "gap" }
);

type PartRow = Extract<Row, { type: "part" }>;

/** Position of a call among parallel calls. */
type Lane = "first" | "middle" | "last";

const GROUP_FROM = 2;
/** Minimum number of equal calls to group, for calls that are not read-only. */
const OTHERS_FROM = 4;

const GAP: Row = { key: "gap", rewound: false, type: "gap" };
const NO_MESSAGES: readonly Message[] = [];

interface Turn {
  messages: readonly Message[];
  rows: readonly Row[];
  isOver: boolean;
}

/**
 * The rows of a transcript, rebuilt on every change. Unchanged turns keep their row objects, so that a streamed word
 * costs only its own turn, however long the conversation is.
 */
export class Rows {
  readonly #own: string | null;
  #turns: Turn[] = [];
  #messages: readonly Message[] = [];
  #isRunning = false;
  #rows: readonly Row[] = [];
  #excerpt = NO_MESSAGES;
  #excerptRows: readonly Row[] = [];
  /** The rows of the excerpt, the gap, and the rest. */
  #shown: readonly Row[] = [];
  #keyOf = (index: number): string => this.#shown[index]!.key;

  /** The thread of this transcript; null for the main thread. */
  constructor(own: string | null = null) {
    this.#own = own;
  }

  /** `excerpt`: messages from further back; those between them and `messages` are not loaded yet. */
  read(messages: readonly Message[], isRunning: boolean, excerpt = NO_MESSAGES): readonly Row[] {
    const isSameExcerpt = excerpt === this.#excerpt;
    if (messages === this.#messages && isRunning === this.#isRunning && isSameExcerpt) return this.#shown;
    if (!isSameExcerpt) {
      this.#excerpt = excerpt;
      const turns = split(excerpt);
      this.#excerptRows = turns.flatMap((own, index) => rowsOfTurn(own, index < turns.length - 1, this.#own));
    }
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
    this.#rows = this.#rows.slice(0, keptRows).concat(fresh.flatMap(({ rows }) => rows));
    if (excerpt.length === 0) this.#show(this.#rows, isSameExcerpt ? keptRows : 0);
    else this.#show([...this.#excerptRows, GAP, ...without(this.#rows, this.#excerptRows)], 0);
    return this.#shown;
  }

  /** Returns the same function until a key changes, because the virtualizer caches keys by the function. */
  get keyOf(): (index: number) => string {
    return this.#keyOf;
  }

  /** Counts the leading turns that are unchanged. The last turn may always grow. */
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
    const before = this.#shown;
    this.#shown = rows;
    const isSameKeys =
      rows.length === before.length && rows.slice(from).every(({ key }, index) => key === before[from + index]!.key);
    if (!isSameKeys) this.#keyOf = (index) => this.#shown[index]!.key;
  }
}

/** A late event of an earlier part, such as a call's result, is a part of its own until both are projected together. */
function without(rows: readonly Row[], earlier: readonly Row[]): Row[] {
  const keys = new Set(earlier.map(({ key }) => key));
  return rows.filter(({ key }) => !keys.has(key));
}

/** Splits by turn. Messages between turns belong to the turn before. */
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
  /** Messages of the previous turn. */
  earlier: readonly Message[] = [],
): Row[] {
  const rows = moveStopToEnd(messages.flatMap((message) => rowsOfMessage(message, own)));
  const sum = isOver ? turnTotals(messages) : undefined;
  const grouped = group(collapsePlanFiles(collapseTodoLists(collapseRetries(rows))));
  if (!sum) return grouped;
  // Messages after the end of the turn come below its totals.
  const end = grouped.findLastIndex((row) => row.key !== "" && isOfTurn(row, messages, sum.turn)) + 1;
  const rewound = grouped[end - 1]?.rewound ?? false;
  const miss = cacheMissOf(messages, lastStepOf(earlier));
  const footer: Row = { key: `${sum.turn}:footer`, rewound, type: "footer", sum, miss, messages };
  return [...grouped.slice(0, end), footer, ...grouped.slice(end)];
}

/** The agent repeats the whole todo list on every update. Only the last one is shown in full. */
function collapseTodoLists(rows: readonly Row[]): Row[] {
  const last = rows.findLastIndex((row) => isOf(row, "todo"));
  return rows.map((row, index) => (index < last && isOf(row, "todo") ? { ...row, isReplaced: true } : row));
}

/** Claude Code writes a plan to a file and then submits it. Show the plan once. */
function collapsePlanFiles(rows: readonly Row[]): Row[] {
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

/** The log has the partial answer after the stop event. Show the stop last. */
function moveStopToEnd(rows: readonly Row[]): Row[] {
  const isStop = (row: Row): boolean => isOf(row, "interruption");
  if (!rows.some(isStop)) return [...rows];
  const last = rows.findLastIndex((row) => row.type !== "user" && !isStop(row));
  const before = rows.filter((row, index) => index <= last && !isStop(row));
  return [...before, ...rows.filter(isStop), ...rows.slice(last + 1).filter((row) => !isStop(row))];
}

function isOfTurn(row: Row, messages: readonly Message[], turn: string): boolean {
  if (row.type === "user") return row.message.turn === turn;
  const id = row.type === "group" ? row.parts[0]!.id : row.type === "footer" || row.type === "gap" ? "" : row.part.id;
  return messages.some((message) => message.turn === turn && message.parts.some((part) => part.id === id));
}

function rowsOfMessage(message: Message, own: string | null): Row[] {
  const rewound = message.rewound !== undefined;
  // A withdrawn message had no effect, and its text is back in the field.
  if (message.delivery?.type === "dropped" && message.delivery.reason.startsWith("taken back")) return [];
  if (message.role === "user" && message.parts[0]?.type !== "interruption") {
    return [{ key: `${message.id}:user`, rewound, type: "user", message }];
  }
  const calls = message.parts.filter((part): part is ToolPart => part.type === "tool" && isSubagentCall(part));
  const subtasks = message.parts.filter((part) => part.type === "subtask");
  const callOf = new Map(subtasks.map((subtask) => [subtask, calls.find((call) => isCallOf(call, subtask))]));
  const replaced = new Set(callOf.values());
  const tools = message.parts.filter((part) => part.type === "tool" && isShown(part, replaced));
  return message.parts.flatMap((part): Row[] => {
    const key = keyOf(part);
    switch (part.type) {
      case "step":
        return [];
      // Accounting notices help only with debugging; the exported events have them.
      case "notice":
        return part.about === "tandem.usage_mismatch" ? [] : [{ key, rewound, type: "part", part }];
      case "reasoning":
        return part.text === "" && !part.preview ? [] : [{ key, rewound, type: "part", part }];
      case "subtask":
        return [{ key, rewound, type: "subtask", part, call: callOf.get(part) }];
      case "tool": {
        if (!isShown(part, replaced)) return [];
        // A subagent's call is shown here while it needs an answer. Its result is shown in the subagent.
        if (message.thread !== own && !isWaiting(part)) return [];
        const lane = laneOf(tools.indexOf(part), tools.length);
        return [{ key, rewound, type: "tool", part, thread: message.thread, lane }];
      }
      default:
        return [{ key, rewound, type: "part", part }];
    }
  });
}

/** Hides calls that are shown in another form: todo updates as a list, subagent calls as the subagent. */
const isShown = (part: ToolPart, replaced: ReadonlySet<ToolPart | undefined>): boolean =>
  !replaced.has(part) && !(isTodoUpdate(part) && part.state.type !== "error");

/** Needs an approval or an answer. */
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

/** Of consecutive retries only the last is shown; an error replaces them. */
const collapseRetries = (rows: readonly Row[]): Row[] =>
  rows.filter((row, index) => {
    if (isOf(row, "retry")) return !isOf(rows[index + 1], "retry");
    return !(isOf(row, "stop") && row.part.reason === "retries_exhausted" && isOf(rows[index - 1], "error"));
  });

const isOf = <T extends PartRow["part"]["type"]>(
  row: Row | undefined,
  type: T,
): row is PartRow & { part: Extract<PartRow["part"], { type: T }> } => row?.type === "part" && row.part.type === type;

/** Groups consecutive similar calls, also across model requests. */
function group(rows: readonly Row[]): Row[] {
  const grouped: Row[] = [];
  for (let index = 0; index < rows.length;) {
    const row = rows[index]!;
    const family = row.type === "tool" ? familyOf(row.part) : undefined;
    let end = index + 1;
    if (family) while (end < rows.length && isGroupable(rows[end]!, row, family.name)) end += 1;
    const parts = rows.slice(index, end).flatMap((one) => (one.type === "tool" ? [one.part] : []));
    if (family && parts.length >= (family.isReadOnly ? GROUP_FROM : OTHERS_FROM)) {
      grouped.push({ key: row.key, rewound: row.rewound, type: "group", parts });
    } else {
      grouped.push(...rows.slice(index, end));
    }
    index = end;
  }
  return grouped;
}

const isGroupable = (row: Row, first: Row, family: string): boolean =>
  row.type === "tool" && row.rewound === first.rewound && familyOf(row.part)?.name === family;

/** Compares by identity: unchanged parts are the same objects. */
export function isSameRow(before: Row, after: Row): boolean {
  if (before === after) return true;
  if (before.type !== after.type || before.rewound !== after.rewound || before.key !== after.key) return false;
  switch (after.type) {
    case "user":
      return (before as typeof after).message === after.message;
    case "part":
      return (before as typeof after).part === after.part && (before as typeof after).isReplaced === after.isReplaced;
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
    case "gap":
      return true;
  }
}

/** The index of the row with this part or message; -1 if there is none. */
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
      case "gap":
        return false;
      default:
        return row.part.id === id || (isOf(row, "workflow") && row.part.agents.some(({ thread }) => thread === id));
    }
  });

/** Parts of one call share its id, so all but the call itself get their type as a suffix. */
const keyOf = ({ id, type }: Part): string => (type === "tool" || type === "text" ? id : `${id}:${type}`);
