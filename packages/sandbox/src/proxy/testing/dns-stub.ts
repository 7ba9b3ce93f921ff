import { createSocket } from "node:dgram";
import type { Scratch } from "./scratch.ts";

const TYPE_A = 1;

/** A DNS server on loopback. Each name has a list of answers: every query for an A record takes the next, and the last stays. */
export async function openDnsStub(
  scratch: Scratch,
  answers: Record<string, string[][]>,
): Promise<{ server: string; asked: string[] }> {
  const asked: string[] = [];
  const socket = createSocket("udp4");
  socket.on("message", (query, from) => {
    const { name, end } = readName(query);
    const type = query.readUInt16BE(end);
    asked.push(`${name} ${type}`);
    const known = answers[name];
    const found = type === TYPE_A && known ? (known.length > 1 ? known.shift()! : known[0]!) : [];
    socket.send(answerTo(query, end, found, known !== undefined), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  scratch.use({ [Symbol.asyncDispose]: () => new Promise<void>((resolve) => socket.close(() => resolve())) });
  return { server: `127.0.0.1:${socket.address().port}`, asked };
}

function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join("."), end: at + 1 };
}

function answerTo(query: Buffer, end: number, addresses: readonly string[], exists: boolean): Buffer {
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  // Response, recursion available; 3: no such name.
  head.writeUInt16BE(exists ? 0x8180 : 0x8183, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(addresses.length, 6);
  const records = addresses.map((address) =>
    Buffer.from([0xc0, 12, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split(".").map(Number)]),
  );
  return Buffer.concat([head, query.subarray(12, end + 4), ...records]);
}
