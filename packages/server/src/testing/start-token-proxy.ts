import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestServer } from "./start-test-server.ts";

/** A proxy that adds the token, for test suites that cannot send one. It keeps the host names that they use. */
export async function startTokenProxy(server: TestServer): Promise<AsyncDisposable & { url: string }> {
  const proxy = createServer((incoming, outgoing) => {
    const { url: path, method } = incoming;
    const headers = { ...incoming.headers, authorization: `Bearer ${server.secret}` };
    const passed = request({ host: "127.0.0.1", port: server.port, path, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      outgoing.flushHeaders();
      answer.pipe(outgoing);
    });
    passed.on("error", () => outgoing.destroy());
    outgoing.on("close", () => passed.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://localhost:${(proxy.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
