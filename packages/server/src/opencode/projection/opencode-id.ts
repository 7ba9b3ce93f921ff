import { RequestError } from "@tandem/protocol";

// opencode's clients sort messages and parts by id. Their own ids start with twelve hexadecimal digits of the time, so ours do,
// too. The rest is the id in the log, so that every id can be translated back without a table.

const TIME_BITS = 48;
const TICKS_PER_MS = 4_096n;
/** The time that the sortable digits cover; then they start again. */
const PERIOD_MS = 2 ** 36;
const TIME_DIGITS = 12;
const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ID_TIME = 10;
/** Marks events whose id an opencode client chose. */
const CLIENT_MADE = "sevt_msg_";
const THREAD_MARK = "_sthr_";

/** The milliseconds in an id of Tandem. `near` is a time at most a year away, for ids that opencode's clients chose. */
export function timeOfId(id: string, near: number): number {
  if (id.startsWith(CLIENT_MADE)) return timeOfClientId(id.slice(CLIENT_MADE.length), near);
  const digits = id.slice(id.indexOf("_") + 1).slice(0, ID_TIME);
  const values = Array.from(digits, (digit) => CROCKFORD.indexOf(digit));
  if (values.length < ID_TIME || values.includes(-1)) return near;
  return values.reduce((time, value) => time * 32 + value, 0);
}

/** opencode keeps only the lower bits of the time. */
function timeOfClientId(id: string, near: number): number {
  const digits = /^[0-9a-f]{12}/.exec(id)?.[0];
  if (digits === undefined) return near;
  const time = Number(BigInt(`0x${digits}`) / TICKS_PER_MS);
  return time + Math.round((near - time) / PERIOD_MS) * PERIOD_MS;
}

const sortable = (ms: number): string =>
  BigInt.asUintN(TIME_BITS, BigInt(Math.trunc(ms)) * TICKS_PER_MS)
    .toString(16)
    .padStart(TIME_DIGITS, "0");

export function messageIdOf(event: string): string {
  if (event.startsWith(CLIENT_MADE)) return `msg_${event.slice(CLIENT_MADE.length)}`;
  return `msg_${sortable(timeOfId(event, 0))}_${event.slice("sevt_".length)}`;
}

/** The id of the event that starts a message. */
export function eventOfMessage(id: string): string {
  const own = /^msg_[0-9a-f]{12}_(.{1,64})$/.exec(id);
  if (own) return `sevt_${own[1]}`;
  const made = /^msg_([0-9A-Za-z]{1,32})$/.exec(id);
  if (made) return `${CLIENT_MADE}${made[1]}`;
  throw notFound("message", id);
}

/** The id of a part: parts of a message are sorted by their position. */
export const partIdOf = (message: string, position: number, part: string): string =>
  `prt_${message.slice("msg_".length, "msg_".length + TIME_DIGITS)}${position.toString(16).padStart(4, "0")}${part.replace(/^\w+?_/, "").replaceAll(/\W/g, "_")}`;

/** A subagent's thread is a child session. */
export const sessionIdOf = (session: string, thread: string | null = null): string =>
  `ses_${session.slice("sesn_".length)}${thread === null ? "" : `${THREAD_MARK}${thread.slice("sthr_".length)}`}`;

/** The session, and the thread of a subagent. */
export function sessionOfId(id: string): { session: string; thread: string | null } {
  const [, session, thread] = /^ses_([0-9A-Za-z-]{1,64}?)(?:_sthr_([0-9A-Za-z_-]{1,64}))?$/.exec(id) ?? [];
  if (session === undefined) throw notFound("session", id);
  return { session: `sesn_${session}`, thread: thread === undefined ? null : `sthr_${thread}` };
}

export const requestIdOf = (kind: "permission" | "question", call: string): string =>
  `${kind === "permission" ? "per" : "que"}_${sortable(timeOfId(call, 0))}_${call.slice("sevt_".length)}`;

/** The id of the call that a permission or question is about. */
export function callOfRequest(id: string): string {
  const [, call] = /^(?:per|que)_[0-9a-f]{12}_(.{1,64})$/.exec(id) ?? [];
  if (call === undefined) throw notFound("request", id);
  return `sevt_${call}`;
}

const notFound = (kind: string, id: string): RequestError =>
  new RequestError("not_found", `There is no ${kind} ${JSON.stringify(id.slice(0, 100))}.`);
