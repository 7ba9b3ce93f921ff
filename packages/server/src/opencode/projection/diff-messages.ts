import type { WireEvent } from "./wire-event.ts";
import type { WireMessage, WirePart } from "./wire-message.ts";

type MessageEvent = Extract<WireEvent, { type: `message.${string}` }>;

/** The events that turn one view of a session into the next. Unchanged messages keep their identity. */
export function diffMessages(
  before: ReadonlyMap<string, WireMessage>,
  after: ReadonlyMap<string, WireMessage>,
  now: number,
): MessageEvent[] {
  const events: MessageEvent[] = [];
  for (const [id, { info }] of before) {
    if (after.has(id)) continue;
    events.push({ type: "message.removed", properties: { sessionID: info.sessionID, messageID: id } });
  }
  for (const [id, message] of after) {
    const old = before.get(id);
    if (old === message) continue;
    if (!old || !isSame(old.info, message.info)) {
      events.push({ type: "message.updated", properties: { sessionID: message.info.sessionID, info: message.info } });
    }
    events.push(...diffParts(old?.parts ?? [], message.parts, now));
  }
  return events;
}

function diffParts(before: readonly WirePart[], after: readonly WirePart[], now: number): MessageEvent[] {
  const events: MessageEvent[] = [];
  const known = new Map(before.map((part) => [part.id, part]));
  const kept = new Set(after.map(({ id }) => id));
  for (const { id, sessionID, messageID } of before) {
    if (!kept.has(id)) events.push({ type: "message.part.removed", properties: { sessionID, messageID, partID: id } });
  }
  for (const part of after) {
    const old = known.get(part.id);
    if (old && isSame(old, part)) continue;
    const delta = old && deltaOf(old, part);
    const { id: partID, sessionID, messageID } = part;
    events.push(
      delta === undefined
        ? { type: "message.part.updated", properties: { sessionID, part, time: now } }
        : { type: "message.part.delta", properties: { sessionID, messageID, partID, field: "text", delta } },
    );
  }
  return events;
}

/** The text that was appended, if nothing else changed. */
function deltaOf(old: WirePart, part: WirePart): string | undefined {
  if (part.type !== "text" && part.type !== "reasoning") return undefined;
  if (old.type !== part.type || !part.text.startsWith(old.text)) return undefined;
  const delta = part.text.slice(old.text.length);
  return delta !== "" && isSame({ ...old, text: "" }, { ...part, text: "" }) ? delta : undefined;
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
