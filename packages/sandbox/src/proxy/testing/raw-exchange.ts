import { connect, type Socket } from "node:net";

/** Sends bytes as they are, and returns everything that comes back until the other side closes or `until` matches. */
export function rawExchange(socket: string, text: string | Buffer, until?: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    const client = connect(socket);
    const chunks: Buffer[] = [];
    const received = (): string => Buffer.concat(chunks).toString("latin1");
    client.on("data", (chunk) => {
      chunks.push(chunk);
      if (until?.test(received())) client.destroy();
    });
    // A reset after the answer is part of a refusal.
    client.on("error", (error) => (chunks.length > 0 ? resolve(received()) : reject(error)));
    client.on("close", () => resolve(received()));
    client.write(text);
  });
}

export const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1] ?? 0);

/** Opens a tunnel with CONNECT. */
export function openTunnel(socket: string, target: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const client = connect(socket);
    let head = "";
    client.on("error", reject);
    client.on("data", function read(chunk: Buffer) {
      head += chunk.toString("latin1");
      if (!head.includes("\r\n\r\n")) return;
      client.off("data", read);
      client.pause();
      const rest = head.slice(head.indexOf("\r\n\r\n") + 4);
      if (rest !== "") client.unshift(Buffer.from(rest, "latin1"));
      if (head.startsWith("HTTP/1.1 200 ")) resolve(client);
      else reject(new Error(head));
    });
    client.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
  });
}
