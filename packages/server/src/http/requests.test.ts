import { once } from "node:events";
import { connect } from "node:net";
import type { Engine } from "@tandem/sessions";
import { afterAll, describe, expect, test } from "vitest";
import { MemoryEngine } from "../testing/memory-engine.ts";
import { rawRequest } from "../testing/raw-request.ts";
import { startTestServer } from "../testing/start-test-server.ts";
import { routeTable } from "./route-table.ts";
import { refusedRoutes } from "./routes/server/refused-routes.ts";

const LIMITS = { maxJsonBytes: 100_000, maxUploadBytes: 200_000, maxFileBytesAtOnce: 500_000, headersTimeoutMs: 300 };
const uploads: Parameters<Engine["files"]["upload"]>[0][] = [];

const memory = new MemoryEngine();
const { engine } = memory;
engine.files.get = async (id) => {
  const { filename, mimeType, content } = uploads.at(-1)!;
  return {
    type: "file",
    id,
    filename,
    mime_type: mimeType,
    size_bytes: content.byteLength,
    created_at: "2026-01-01T00:00:00Z",
    expires_at: null,
    downloadable: true,
    scope: null,
  };
};
engine.files.upload = async (file) => {
  uploads.push(file);
  return engine.files.get("file_1");
};
engine.files.content = async (id) => ({ metadata: await engine.files.get(id), content: uploads.at(-1)!.content });
const server = await startTestServer({ engine, settings: LIMITS });
afterAll(() => server[Symbol.asyncDispose]());

const JSON_TYPE = { "content-type": "application/json" };
const post = (path: string, body: unknown, headers: Record<string, string> = JSON_TYPE): Promise<Response> =>
  server.request(path, { method: "POST", headers, body: typeof body === "string" ? body : JSON.stringify(body) });

interface ErrorBody {
  type: "error";
  error: { type: string; message: string };
  request_id: string;
}
async function refusal(response: Response): Promise<{ status: number; type: string; message: string }> {
  const body = (await response.json()) as ErrorBody;
  expect(body.type).toBe("error");
  expect(body.request_id).toBe(response.headers.get("request-id"));
  return { status: response.status, ...body.error };
}

describe("a body", () => {
  test.each([201, 15_000])("a body that is nested %i levels deep is refused", async (depth) => {
    const schema = `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
    const tool = `{"type":"custom","name":"t","description":"d","input_schema":{"type":"object","properties":${schema}}}`;
    const response = await post("/v1/agents", `{"name":"a","model":"sonnet","tools":[${tool}]}`);
    expect(await refusal(response)).toMatchObject({ status: 400, message: expect.stringContaining("200 levels") });
  });

  test.each([
    '{"name":"a","model":"sonnet","__proto__":{"system":"x"}}',
    '{"name":"a","model":"sonnet","metadata":{"__proto__":"x"}}',
    '{"name":"a","model":"sonnet","metadata":{"__pr\\u006fto__":"x", "a": "__proto__"}}',
  ])("with a field that objects cannot have is refused, not ignored: %s", async (body) => {
    expect(await refusal(await post("/v1/agents", body))).toMatchObject({
      status: 400,
      message: expect.stringContaining("__proto__"),
    });
  });

  test("may mention such a field in a string", async () => {
    const response = await post("/v1/agents", { name: "__proto__", model: "sonnet" });
    expect((await refusal(response)).status).toBe(404);
  });

  test("a body that a route does not take is not read", async () => {
    const body = JSON.stringify({ a: "x".repeat(2_000) });
    const headers = { ...JSON_TYPE, "x-api-key": server.secret, "content-length": String(body.length) };
    const answer = await rawRequest(server, { path: "/v1/agents", headers, body });
    expect(answer.status).toBe(413);
  });

  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "application/jsonx",
    "text/json",
  ])("of the type %s is refused: a web page may send some of these without a preflight", async (type) => {
    expect(await refusal(await post("/v1/agents", "{}", { "content-type": type }))).toMatchObject({ status: 415 });
  });

  test("without a type is refused", async () => {
    const headers = { "x-api-key": server.secret };
    const { status } = await rawRequest(server, { method: "POST", path: "/v1/agents", headers, body: "{}" });
    expect(status).toBe(415);
  });

  test("a body that is compressed is refused", async () => {
    const headers = { ...JSON_TYPE, "content-encoding": "gzip" };
    expect(await refusal(await post("/v1/agents", "{}", headers))).toMatchObject({ status: 415 });
  });

  test.each(["", "application/json", "application/json; charset=utf-8", "Application/JSON"])(
    "is fine as %j",
    async (type) => {
      const response = await post("/v1/agents", "{}", type ? { "content-type": type } : JSON_TYPE);
      expect(response.status).toBe(400);
    },
  );

  test.each(["{", "nothing", '{"a": \u0001}'])(
    "a body that is not JSON (%j) is refused and not quoted",
    async (body) => {
      expect(await refusal(await post("/v1/agents", body))).toEqual({
        status: 400,
        type: "invalid_request_error",
        message: "The body is not valid JSON.",
      });
    },
  );

  test("a body that is not UTF-8 is refused", async () => {
    const response = await server.request("/v1/agents", {
      method: "POST",
      headers: JSON_TYPE,
      body: Buffer.from([0x7b, 0xff, 0x7d]),
    });
    expect((await refusal(response)).message).toBe("The body is not valid JSON.");
  });

  test("a body whose content length is too large is refused before it is read", async () => {
    const socket = connect(server.port, "127.0.0.1");
    socket.write(
      `POST /v1/agents HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${server.secret}\r\ncontent-type: application/json\r\ncontent-length: 1000000000\r\n\r\n`,
    );
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 413 .*request_too_large/s);
    socket.destroy();
  });

  test("a body that turns out too large is refused while it is read", async () => {
    let pulled = 0;
    const endless = new ReadableStream({
      pull(controller) {
        pulled += 1;
        controller.enqueue(Buffer.alloc(10_000, "x"));
      },
    });
    const response = await server.request("/v1/agents", {
      method: "POST",
      headers: JSON_TYPE,
      body: endless,
      duplex: "half",
    });
    expect(await refusal(response)).toMatchObject({ status: 413, type: "request_too_large" });
    expect(pulled).toBeLessThan(10_000);
  });

  test("just within the limit is accepted", async () => {
    const body = { name: "x".repeat(LIMITS.maxJsonBytes - 100), model: "sonnet" };
    expect((await refusal(await post("/v1/agents", body))).message).toContain("name");
  });

  test("may be missing, with its type, if all fields are optional", async () => {
    const path = "/v1/agents/agent_1/archive";
    const bare = await rawRequest(server, { method: "POST", path, headers: { "x-api-key": server.secret } });
    expect(bare.status).toBe(404);
    expect((await post(path, {})).status).toBe(404);
    expect((await refusal(await post(path, { name: "x" }))).message).toBe("This takes no body.");
  });
});

describe("validation", () => {
  test("names unknown fields, with a suggestion", async () => {
    const { status, message } = await refusal(await post("/v1/agents", { name: "a", model: "sonnet", sytem: "x" }));
    expect({ status, message }).toEqual({ status: 400, message: "sytem: not a known field (did you mean system?)." });
  });

  test("names the field and the expected value", async () => {
    const { message } = await refusal(await post("/v1/agents", { model: 7, tools: [{ type: "custm" }] }));
    expect(message).toBe(
      'name: is missing; expected string. model: expected string or object. tools[0].type: expected one of "agent_toolset_20260401", "mcp_toolset", "custom".',
    );
  });

  test("truncates long names", async () => {
    const { message } = await refusal(await post("/v1/agents", { ["x".repeat(90_000)]: 1 }));
    expect(message.length).toBeLessThan(1_000);
  });

  test("reports a body that is not an object", async () => {
    expect((await refusal(await post("/v1/agents", "[1]"))).message).toBe("The body: expected object.");
    expect((await refusal(await post("/v1/agents", "null"))).message).toBe("The body: expected object.");
  });

  test("names unknown query parameters, and ignores `beta`", async () => {
    expect((await server.request("/v1/agents?beta=true")).status).toBe(200);
    expect((await refusal(await server.request("/v1/agents?limt=3"))).message).toBe(
      "limt: not a known query parameter (did you mean limit?).",
    );
    expect((await refusal(await server.request("/v1/agents?limit=3&limit=4"))).message).toContain("2 times");
    expect((await refusal(await server.request("/v1/agents?__proto__=x"))).message).toContain("__proto__");
  });

  test.each(["limit=0", "limit=x", "limit=100000", "created_at[gte]=yesterday", "include_archived=1", "order=up"])(
    "refuses %s",
    async (query) => {
      expect((await refusal(await server.request(`/v1/sessions?${query}`))).message).toContain(query.split("=")[0]);
    },
  );

  test("accepts lists with and without brackets, percent-encoded or not", async () => {
    for (const query of [
      "statuses[]=idle&statuses[]=running",
      "statuses%5B%5D=idle",
      "statuses=idle&statuses=running",
    ]) {
      expect((await server.request(`/v1/sessions?${query}`)).status).toBe(200);
    }
  });

  test.each(["..%2f..%2fetc", "a%00b", "%0a", "x".repeat(300), "a%5Cb"])("an id like %s is not found", async (id) => {
    expect((await server.request(`/v1/sessions/${id}`)).status).toBe(404);
  });
});

describe("paths", () => {
  test("paths that do not exist are not found; other methods are listed", async () => {
    expect(await refusal(await server.request("/v1/nothing"))).toMatchObject({ status: 404, type: "not_found_error" });
    expect((await server.request("/v1/agents/")).status).toBe(404);
    const response = await server.request("/v1/agents/agent_1", { method: "PUT" });
    expect(await refusal(response)).toMatchObject({ status: 405 });
    expect(response.headers.get("allow")).toBe("GET, POST");
  });

  test.each(
    refusedRoutes.map(({ name, path, code, reason }) => [name, path.replace(/:\w+/, "env_1"), code, reason] as const),
  )("%s is refused, without a retry", async (_name, path, code, reason) => {
    const status = { not_found: 404, invalid_request: 400 }[code];
    for (const [method, address] of [
      ["GET", path],
      ["POST", `${path}/x`],
      ["DELETE", `${path}/x/y`],
    ] as const) {
      const response = await server.request(address, { method });
      expect(response.headers.get("x-should-retry")).toBe("false");
      expect(await refusal(response)).toMatchObject({ status, message: reason });
    }
  });

  test("are unique in the table", () => {
    const names = routeTable.map(({ name }) => name);
    const places = routeTable.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(names).size).toBe(names.length);
    expect(new Set(places).size).toBe(places.length);
  });
});

describe("uploads", () => {
  const form = (file: File, fields: Record<string, string> = {}): FormData => {
    const data = new FormData();
    data.append("file", file);
    for (const [name, value] of Object.entries(fields)) data.append(name, value);
    return data;
  };
  const upload = (body: FormData): Promise<Response> => server.request("/v1/files", { method: "POST", body });

  test("accept a form with a file", async () => {
    const response = await upload(
      form(new File(["hello"], "notes.txt", { type: "text/plain" }), { expires_in_seconds: "60" }),
    );
    expect(response.status).toBe(200);
    expect(uploads.at(-1)).toMatchObject({ filename: "notes.txt", mimeType: "text/plain", expiresInSeconds: 60 });
    expect(Buffer.from(uploads.at(-1)!.content).toString()).toBe("hello");
  });

  test("are downloaded as an attachment that no browser renders", async () => {
    await upload(form(new File(["<script>alert(1)</script>"], 'a "page".html', { type: "text/html" })));
    const response = await server.request("/v1/files/file_1/content");
    expect(await response.text()).toBe("<script>alert(1)</script>");
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-disposition": "attachment; filename*=UTF-8''a%20%22page%22.html",
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
    });
  });

  test.each([
    ["../../etc/passwd", "passwd"],
    ["C:\\secrets\\key.pem", "key.pem"],
    ["a\u0000b\nc.txt", "abc.txt"],
    ["half\uD800.txt", "half\uFFFD.txt"],
  ])("reduce the name %j to %s", async (name, kept) => {
    await upload(form(new File(["x"], name)));
    expect(uploads.at(-1)?.filename).toBe(kept);
  });

  test("refuse invalid names, unknown fields, and files under other names", async () => {
    const unnamed = form(new File(["x"], ".."));
    expect((await refusal(await upload(unnamed))).message).toContain("name");
    expect((await refusal(await upload(form(new File(["x"], "a"), { purpose: "x" })))).message).toContain("purpose");
    const proto = form(new File(["x"], "a"));
    proto.append("__proto__", "x");
    expect((await refusal(await upload(proto))).message).toContain("__proto__");
    const other = new FormData();
    other.append("document", new File(["x"], "a"));
    expect((await refusal(await upload(other))).message).toContain("document");
    expect((await refusal(await upload(new FormData()))).message).toContain("file");
    expect((await refusal(await post("/v1/files", {}))).status).toBe(415);
    const broken = await server.request("/v1/files", {
      method: "POST",
      headers: { "content-type": "multipart/form-data; boundary=x" },
      body: "no form",
    });
    expect((await refusal(broken)).message).toBe("The body is not a valid form.");
  });

  test("have their own limit", async () => {
    const fits = await upload(form(new File([Buffer.alloc(LIMITS.maxUploadBytes)], "a.bin")));
    expect(fits.status).toBe(200);
    for (const size of [LIMITS.maxUploadBytes + 1, LIMITS.maxUploadBytes * 2]) {
      const response = await upload(form(new File([Buffer.alloc(size)], "a.bin")));
      expect(await refusal(response)).toMatchObject({ status: 413 });
    }
  });

  test("expire after a hundred years at most", async () => {
    const lasting = (seconds: string) => upload(form(new File(["x"], "a"), { expires_in_seconds: seconds }));
    expect((await lasting("3153600000")).status).toBe(200);
    expect(await refusal(await lasting("9007199254740991"))).toMatchObject({
      status: 400,
      message: expect.stringContaining("expires_in_seconds"),
    });
  });

  test("share a memory limit with downloads that are not read", async () => {
    // More than the sockets buffer.
    uploads.push({ filename: "a.bin", mimeType: "application/octet-stream", content: Buffer.alloc(20_000_000) });
    const path = "/v1/files/file_1/content";
    const idle = connect(server.port, "127.0.0.1");
    idle.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${server.secret}\r\n\r\n`);
    await once(idle, "readable");
    const download = async (): Promise<number> => {
      const response = await server.request(path);
      await response.arrayBuffer();
      return response.status;
    };
    expect(await download()).toBe(429);
    idle.destroy();
    await expect.poll(download).toBe(200);
  });

  test("have a limit on concurrent bytes", async () => {
    const begin = () => {
      const socket = connect(server.port, "127.0.0.1");
      socket.write(
        `POST /v1/files HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${server.secret}\r\ncontent-type: multipart/form-data; boundary=x\r\ncontent-length: 200000\r\n\r\n--x`,
      );
      return socket;
    };
    const sockets = [begin(), begin()];
    const large = () => upload(form(new File([Buffer.alloc(150_000)], "a")));
    await expect.poll(async () => (await large()).status).toBe(429);
    expect((await upload(form(new File(["small"], "a")))).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    await expect.poll(async () => (await large()).status).toBe(200);
  });
});

test("a client that never finishes its headers is disconnected", async () => {
  const socket = connect(server.port, "127.0.0.1");
  socket.write("GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-slow: ");
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString()).toContain("408 Request Timeout");
  await once(socket, "close");
  await expect.poll(() => server.log.some(({ reason }) => reason === "ERR_HTTP_REQUEST_TIMEOUT")).toBe(true);
});
