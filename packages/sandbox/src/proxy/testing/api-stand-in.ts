import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type ApiGateway, type ApiGatewayOptions, startApiGateway } from "../api/api-gateway.ts";
import type { ApiUsage } from "../api/api-forwarder.ts";
import type { Scratch } from "./scratch.ts";

export const REAL_KEY = "sk-ant-real-0123456789abcdef";

export interface GatewayStage {
  gateway: ApiGateway;
  received: IncomingMessage[];
  usages: ApiUsage[];
  baseUrl: string;
}

/** A gateway in front of a stand-in for the API. */
export async function openGatewayStage(
  scratch: Scratch,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  options: Partial<ApiGatewayOptions> = {},
): Promise<GatewayStage> {
  const received: IncomingMessage[] = [];
  const usages: ApiUsage[] = [];
  const api = createServer((request, response) => {
    received.push(request);
    answer(request, response);
  });
  const baseUrl = `http://127.0.0.1:${await scratch.listen(api)}`;
  const gateway = await startApiGateway({
    socket: scratch.path("api.sock"),
    upstream: async () => ({ baseUrl, headers: { "x-api-key": REAL_KEY } }),
    onUsage: (usage) => usages.push(usage),
    ...options,
  });
  return { gateway: scratch.use(gateway), received, usages, baseUrl };
}

/** Answers every request with an empty list, after its body. */
export function answerEmpty(request: IncomingMessage, response: ServerResponse): void {
  request.resume().once("end", () => response.writeHead(200, { "content-type": "application/json" }).end("{}"));
}
