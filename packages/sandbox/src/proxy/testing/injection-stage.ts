import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { connect, type TLSSocket } from "node:tls";
import type { Egress, EgressOptions } from "../egress.ts";
import type { InjectedCredential } from "../injected-credential.ts";
import { openEgressStage } from "./egress-stage.ts";
import { openTunnel } from "./raw-exchange.ts";
import { Scratch } from "./scratch.ts";
import { openTlsHost } from "./tls-host.ts";

export interface InjectionStage extends AsyncDisposable {
  egress: Egress;
  port: number;
  /** The authority of the real host. */
  ca: string;
  seen: IncomingMessage[];
  /** Of the requests that arrived whole. */
  bodies: string[];
}

/** `api.example` is a real TLS server that returns everything it gets. */
export async function openInjectionStage(
  credential: ((port: number) => InjectedCredential) | undefined,
  options: Partial<EgressOptions> | ((port: number) => Partial<EgressOptions>) = {},
): Promise<InjectionStage> {
  const scratch = new Scratch();
  const seen: IncomingMessage[] = [];
  const bodies: string[] = [];
  const { port, ca } = await openTlsHost(scratch, "api.example", (request, response) => {
    seen.push(request);
    response.setHeader("x-echo", request.headers.authorization ?? "none");
    const echo = (body: string): void => {
      bodies.push(body);
      response.end(`${body} ${JSON.stringify(request.headers)}`);
    };
    void text(request).then(echo, () => response.destroy());
  });
  const { egress } = await openEgressStage(scratch, [], {
    isAllowed: () => true,
    credentials: credential ? [credential(port)] : [],
    ca: [ca],
    ...(typeof options === "function" ? options(port) : options),
  });
  return { egress, port, ca, seen, bodies, [Symbol.asyncDispose]: () => scratch[Symbol.asyncDispose]() };
}

type Reached = Pick<InjectionStage, "egress" | "port">;

export async function openTls(stage: Reached, ca: string | undefined, host = "api.example"): Promise<TLSSocket> {
  const socket = await openTunnel(stage.egress.socket, `${host}:${stage.port}`);
  const secure = connect({ socket, servername: host, ...(ca && { ca }) });
  await Promise.race([
    once(secure, "secureConnect"),
    once(secure, "error").then(([error]) => Promise.reject(error as Error)),
  ]);
  return secure;
}

/** Sends raw bytes through TLS. `HOST` is the host with its port. */
export async function exchange(stage: Reached, bytes: string): Promise<string> {
  const secure = await openTls(stage, stage.egress.caCertificate);
  const chunks: Buffer[] = [];
  secure.on("data", (chunk: Buffer) => chunks.push(chunk));
  secure.on("error", () => {});
  secure.write(bytes.replaceAll("HOST", `api.example:${stage.port}`));
  await once(secure, "close");
  return Buffer.concat(chunks).toString();
}
