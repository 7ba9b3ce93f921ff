import type { MessagesProxy } from "@tandem/protocol";
import { raw, type ModelRequest, type Reply, type Script } from "@tandem/rehearsal";
import { z } from "zod";

const requestBody = z.looseObject({ model: z.string(), stream: z.boolean().optional() });
const PASSED_HEADERS = ["anthropic-version", "anthropic-beta"] as const;

/** A real model answers, through a proxy that has the credential. Its answers pass as they arrive. */
export const liveScript =
  (proxy: MessagesProxy, signal: AbortSignal = new AbortController().signal): Script =>
  async (request: ModelRequest): Promise<Reply> => {
    const parsed = requestBody.parse(request.body);
    const headers = PASSED_HEADERS.flatMap((name) => {
      const value = request.headers[name];
      return typeof value === "string" ? [[name, value] as const] : [];
    });
    const answer = await proxy.send({
      operation: "create",
      body: Buffer.from(JSON.stringify(request.body)),
      parsed,
      headers: Object.fromEntries(headers),
      signal,
    });
    return raw(answer.status, answer.headers, answer.body);
  };
