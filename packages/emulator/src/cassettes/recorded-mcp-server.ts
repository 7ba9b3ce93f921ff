import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { CassetteBlock } from "@tandem/protocol";
import { listenOnLoopback } from "@tandem/rehearsal";
import { z } from "zod";

const rpcRequest = z.object({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string(),
  params: z
    .looseObject({
      protocolVersion: z.string().optional(),
      name: z.string().optional(),
      arguments: z.record(z.string(), z.unknown()).optional(),
    })
    .optional(),
});
type RpcRequest = z.infer<typeof rpcRequest>;

const image = z.object({
  type: z.literal("image"),
  source: z.object({ type: z.literal("base64"), media_type: z.string(), data: z.string() }),
});

interface RecordedTools {
  names: readonly string[];
  call: (
    tool: string,
    input: Record<string, unknown>,
  ) => Promise<{ content: readonly CassetteBlock[]; isError: boolean }>;
}

/** An MCP server on loopback that offers the tools of a recorded one and gives their recorded results. */
export async function startRecordedMcpServer(tools: RecordedTools): Promise<AsyncDisposable & { url: string }> {
  return listenOnLoopback(
    createServer((request, response) => {
      answer(tools, request, response).catch(() => response.destroy());
    }),
  );
}

async function answer(tools: RecordedTools, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const send = (status: number, value: unknown): void =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
  if (request.method !== "POST") return send(405, {});
  const call = rpcRequest.parse(JSON.parse(await text(request)));
  if (call.id === undefined) return send(202, {});
  send(200, { jsonrpc: "2.0", id: call.id, result: await resultOf(tools, call) });
}

async function resultOf(tools: RecordedTools, { method, params = {} }: RpcRequest): Promise<unknown> {
  switch (method) {
    case "tools/list":
      return { tools: tools.names.map((name) => ({ name, description: "", inputSchema: { type: "object" } })) };
    case "tools/call": {
      const { content, isError } = await tools.call(params.name ?? "", params.arguments ?? {});
      return { content: content.map(mcpBlock), isError };
    }
    default:
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "recorded", version: "1" },
      };
  }
}

/** A block of the Messages API as MCP has it. */
function mcpBlock(block: CassetteBlock): unknown {
  const { data } = image.safeParse(block);
  return data ? { type: "image", data: data.source.data, mimeType: data.source.media_type } : block;
}
