/** The beginning of a TLS connection, as the client sent it. */
export type ClientHello =
  | { kind: "incomplete" }
  /** Another protocol. */
  | { kind: "other" }
  | { kind: "invalid" }
  | { kind: "tls"; serverName: string | undefined };

const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
/** Larger than any real one; the rest of the connection is not read. */
const MAX_BYTES = 32_768;

/** Reads the host that a TLS client names (SNI). */
export function readClientHello(bytes: Buffer): ClientHello {
  if (bytes.length === 0) return { kind: "incomplete" };
  if (bytes[0] !== HANDSHAKE) return { kind: "other" };
  try {
    const message = handshakeOf(bytes);
    if (message) return { kind: "tls", serverName: serverNameOf(message) };
    return bytes.length > MAX_BYTES ? { kind: "invalid" } : { kind: "incomplete" };
  } catch {
    return { kind: "invalid" };
  }
}

/** Joins the records of the first message. Undefined until it is complete. */
function handshakeOf(bytes: Buffer): Buffer | undefined {
  const parts: Buffer[] = [];
  for (let at = 0; at + 5 <= bytes.length;) {
    if (bytes[at] !== HANDSHAKE) throw new Error("not a handshake");
    const end = at + 5 + bytes.readUInt16BE(at + 3);
    parts.push(bytes.subarray(at + 5, Math.min(end, bytes.length)));
    at = end;
  }
  const joined = Buffer.concat(parts);
  if (joined.length < 4) return undefined;
  if (joined[0] !== CLIENT_HELLO) throw new Error("not a client's hello");
  const length = joined.readUIntBE(1, 3);
  return joined.length < 4 + length ? undefined : joined.subarray(4, 4 + length);
}

/** Throws if a length points beyond the message. */
function serverNameOf(message: Buffer): string | undefined {
  // Version and random; then session id, cipher suites and compression methods with their lengths.
  let at = 34;
  at += 1 + message.readUInt8(at);
  at += 2 + message.readUInt16BE(at);
  at += 1 + message.readUInt8(at);
  if (at === message.length) return undefined;
  const end = at + 2 + message.readUInt16BE(at);
  if (end !== message.length) throw new Error("invalid extensions");
  at += 2;
  const names: string[] = [];
  while (at < end) {
    const type = message.readUInt16BE(at);
    const length = message.readUInt16BE(at + 2);
    const data = message.subarray(at + 4, at + 4 + length);
    if (data.length !== length) throw new Error("invalid extension");
    if (type === SERVER_NAME) names.push(singleName(data));
    at += 4 + length;
  }
  if (names.length > 1) throw new Error("more than one name");
  return names[0];
}

/** A list with one entry: its length, the type 0, the name's length, the name. */
function singleName(data: Buffer): string {
  if (data.readUInt16BE(0) !== data.length - 2 || data.readUInt8(2) !== 0 || data.readUInt16BE(3) !== data.length - 5) {
    throw new Error("invalid name");
  }
  return data.toString("latin1", 5);
}
