import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { createMcpFetch, type ResolveName } from "./mcp-fetch.ts";

/** Answers each lookup of a name with the next list of addresses. */
function dnsOf(...answers: string[][]) {
  const asked: string[] = [];
  const resolve: ResolveName = (name, _options, callback) => {
    asked.push(name);
    const addresses = answers[asked.length - 1] ?? answers.at(-1)!;
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  };
  return { resolve, asked };
}

/** In these tests, 127.0.0.1 stands for the internet. */
const isPrivate = (address: string): boolean => address !== "127.0.0.1";

async function listen(reply: { status?: number; headers?: Record<string, string> } = {}) {
  let requests = 0;
  let connections = 0;
  const server = createServer((_request, response) => {
    requests += 1;
    response.writeHead(reply.status ?? 200, { connection: "close", ...reply.headers }).end("hello");
  }).on("connection", () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    counts: () => ({ requests, connections }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test("a name is looked up once for a connection, and the checked address is the one that is used", async () => {
  await using server = await listen();
  const dns = dnsOf(["127.0.0.1"], ["127.0.0.2"]);
  await using guarded = createMcpFetch(true, { resolve: dns.resolve, isPrivate });
  const url = `http://mcp.example:${server.port}/mcp`;
  expect(await (await guarded.fetch(url)).text()).toBe("hello");
  expect(dns.asked).toEqual(["mcp.example"]);
  // The name now has another address: the next connection is checked again.
  await expect(guarded.fetch(url)).rejects.toMatchObject({
    code: "forbidden",
    message: "mcp.example is 127.0.0.2, which is a loopback, private or reserved address.",
  });
  expect(server.counts()).toEqual({ requests: 1, connections: 1 });
  expect(guarded.refusal?.fix).toContain("mcpServers in tandem.yaml");
});

test.each(["localhost", "localhost.", "metadata.example", "mcp.example"])(
  "%s is refused if any of its addresses is private",
  async (name) => {
    await using server = await listen();
    const dns = dnsOf(["127.0.0.1", "fd00::1"]);
    await using guarded = createMcpFetch(true, { resolve: dns.resolve, isPrivate });
    await expect(guarded.fetch(`http://${name}:${server.port}/`)).rejects.toMatchObject({ code: "forbidden" });
    expect(server.counts()).toEqual({ requests: 0, connections: 0 });
  },
);

test("the machine's own resolver is used: localhost is refused", async () => {
  await using server = await listen();
  await using guarded = createMcpFetch(true);
  await expect(guarded.fetch(`http://localhost:${server.port}/`)).rejects.toMatchObject({ code: "forbidden" });
  expect(server.counts()).toEqual({ requests: 0, connections: 0 });
});

test.each([true, false])("redirects are not followed, not even to the same server (public only: %s)", async (only) => {
  await using server = await listen({ status: 307, headers: { location: "/other?key=made-up" } });
  await using guarded = createMcpFetch(only, { isPrivate });
  const url = `http://127.0.0.1:${server.port}`;
  await expect(guarded.fetch(`${url}/mcp`)).rejects.toMatchObject({
    code: "forbidden",
    message: `It redirects to ${url}/other. Redirects are not followed.`,
  });
  expect(server.counts().requests).toBe(1);
});

test("a URL that the owner has named may be private", async () => {
  await using server = await listen();
  await using open = createMcpFetch(false);
  expect((await open.fetch(`http://127.0.0.1:${server.port}/`)).status).toBe(200);
});
