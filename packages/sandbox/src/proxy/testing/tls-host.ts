import type { RequestListener } from "node:http";
import { createServer } from "node:https";
import { createAuthority, createLeaf } from "../../certificates/certificate.ts";
import type { Scratch } from "./scratch.ts";

/** A real TLS server for `name`, and the authority that a client must trust. */
export async function openTlsHost(
  scratch: Scratch,
  name: string,
  listener: RequestListener,
): Promise<{ port: number; ca: string }> {
  const authority = await createAuthority("Internet CA");
  const { keyPem, pem } = await createLeaf(name, authority);
  const server = createServer({ key: keyPem, cert: pem }, listener);
  return { port: await scratch.listen(server), ca: authority.pem };
}
