import { z } from "zod";
import { errorBody } from "./server/error-body.ts";

// Lines of `tandem stdio`. Every line is one object. Its fields tell its kind: `method` a request; `result` or `error` a
// response; `event` or `end` part of a stream; `hello` the first line.

export const PROTOCOL = 1;

export const requestId = z
  .union([z.string().min(1).max(200), z.int()])
  .meta({ id: "Id", description: "Chosen by the host; not that of another request or stream that is still open." });
export type RequestId = z.output<typeof requestId>;

/** A raw request; its method decides how the params are validated. */
export const requestLine = z.strictObject({
  id: requestId,
  method: z.string().max(200),
  params: z.record(z.string(), z.unknown()).optional(),
});

export const helloParams = z.strictObject({
  protocol: z.int().meta({ description: "The version of this protocol that the host speaks." }),
  client: z.string().max(200).optional().meta({ description: "Name and version of the host, such as `shop/2.1`." }),
});
export const helloResult = z.object({ protocol: z.literal(PROTOCOL) });

export const cancelParams = z.strictObject({ id: requestId });
export const cancelResult = z.object({
  cancelled: z.boolean().meta({ description: "False if no request or stream with this id was open." }),
});

export const streamResult = z.object({ stream: requestId }).meta({ id: "StreamOpened" });

export const fileParams = z.strictObject({
  filename: z.string().min(1),
  mime_type: z
    .string()
    .regex(/^[\w.+-]+\/[\w.+-]+$/)
    .default("application/octet-stream"),
  content: z.string().meta({ contentEncoding: "base64", description: "The file, in base64." }),
});
export type FileParams = z.input<typeof fileParams>;
export const fileResult = z
  .object({
    filename: z.string(),
    mime_type: z.string(),
    size_bytes: z.int(),
    content: z.string().meta({ contentEncoding: "base64", description: "The file, in base64." }),
  })
  .meta({ id: "FileContent" });

export type FileResult = z.output<typeof fileResult>;

const wireError = errorBody.shape.error.shape;

export const lineError = z
  .looseObject({
    type: wireError.type.meta({ description: "As over HTTP, such as `not_found_error`." }),
    message: wireError.message,
    fix: wireError.fix,
    status: z.int().meta({ description: "As over HTTP." }),
    details: wireError.details.unwrap().partial().loose().optional(),
    request_id: z.string().optional().meta({ description: "The id under which the log has more." }),
  })
  .meta({ id: "LineError" });
export type LineError = z.output<typeof lineError>;

export const helloLine = z
  .strictObject({
    hello: z.strictObject({
      protocol: z.literal(PROTOCOL),
      product: z.literal("tandem"),
      version: z.string(),
      engine: z.enum(["own", "server"]).meta({
        description: "Whether sessions run in this process, or in a running server on the same database.",
      }),
      capabilities: z.strictObject({ methods: z.array(z.string()), streams: z.array(z.string()) }),
      limits: z.strictObject({ line_bytes: z.int(), requests: z.int(), streams: z.int() }),
    }),
  })
  .meta({ id: "HelloLine", description: "The first line that Tandem writes." });

export const resultLine = z.strictObject({ id: requestId, result: z.unknown() }).meta({
  id: "ResultLine",
  description: "A request was answered. `#/$defs/Result.METHOD` is what `result` is, by the method of the request.",
});

export const errorLine = z.strictObject({ id: requestId.nullable(), error: lineError }).meta({
  id: "ErrorLine",
  description: "A request was refused or failed. Without an id: a line that could not be read, or no start.",
});

const cursor = z
  .string()
  .meta({ id: "Cursor", description: "Position at which the stream can be resumed: pass it as `after`." });

export const eventLine = z
  .strictObject({ stream: requestId, cursor: cursor.optional(), event: z.looseObject({ type: z.string() }) })
  .meta({
    id: "EventLine",
    description: "An event of a stream. `#/$defs/Event.METHOD` is what `event` is. Previews have no cursor.",
  });

export const endLine = z
  .strictObject({ stream: requestId, end: z.strictObject({ cursor: cursor.optional(), error: lineError.optional() }) })
  .meta({ id: "EndLine", description: "The last line of a stream; without an error, it came to its end." });

export type HelloLine = z.output<typeof helloLine>;
export type StreamLine = z.output<typeof eventLine> | z.output<typeof endLine>;
/** A line of Tandem. */
export type StdioLine = HelloLine | z.output<typeof resultLine> | z.output<typeof errorLine> | StreamLine;
