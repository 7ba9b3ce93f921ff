import { request, type Agent, type IncomingHttpHeaders } from "node:http";
import type { TestServer } from "./start-test-server.ts";

export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** Sends exactly the given headers: `fetch` would drop some of them. With an agent, requests share connections. */
export function rawRequest(
  server: Pick<TestServer, "port">,
  {
    method = "GET",
    path,
    headers = {},
    body,
    agent = false,
  }: { method?: string; path: string; headers?: Record<string, string>; body?: string; agent?: Agent | false },
): Promise<RawAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  const sent = request({ host: "127.0.0.1", port: server.port, method, path, headers, agent }, (answer) => {
    let text = "";
    answer.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    answer.on("end", () => resolve({ status: answer.statusCode!, headers: answer.headers, text }));
    answer.on("error", reject);
  });
  sent.on("error", reject);
  sent.end(body);
  return promise;
}
