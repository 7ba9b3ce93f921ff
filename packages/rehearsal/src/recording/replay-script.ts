import { differences } from "./differences.ts";
import { findDialect } from "../dialects/find-dialect.ts";
import { normalRequest, workingFolder } from "./normal-request.ts";
import type { ModelRequest, ReceivedRequest } from "../received-request.ts";
import { describeQuestion, summariseModelRequest } from "../received-request.ts";
import type { RecordedExchange } from "./recording-file.ts";
import { readRecording } from "./recording-file.ts";
import { RehearsalError } from "../rehearsal-error.ts";
import { raw } from "../reply.ts";
import { rewriteBody } from "./rewrite-body.ts";
import type { Rule } from "../script.ts";

/**
 * A script that answers each request like the recording, once, ignoring volatile parts. With `repeat`, answers can be
 * reused.
 */
export function replayScript(file: string, options: { repeat?: boolean } = {}): Rule[] {
  return readRecording(file).map((exchange) => toRule(exchange, file, options.repeat ?? false));
}

function toRule(exchange: RecordedExchange, file: string, repeat: boolean): Rule {
  const recorded = readRequest(exchange, file);
  const form = normalRequest(recorded);
  const folder = workingFolder(recorded.body);
  const compare = (request: ModelRequest) => differences(form, normalRequest(request));
  const { status, headers, body, complete } = exchange.response;
  return {
    type: "rule",
    predicate: (request) => compare(request).length === 0,
    compare,
    answer: (request) => {
      const here = workingFolder(request.body);
      const moved = folder !== undefined && here !== undefined && folder !== here;
      const placed = moved ? rewriteBody(body, (text) => text.replaceAll(folder, here)) : body;
      return { ...raw(status, headers, placed), stall: !complete };
    },
    uses: repeat ? Number.POSITIVE_INFINITY : 1,
    label: `recorded exchange ${exchange.number}, ${summariseModelRequest(recorded)}`,
  };
}

/** The recorded request as it would have arrived. */
function readRequest(exchange: RecordedExchange, file: string): ModelRequest {
  const received: ReceivedRequest = {
    ...exchange.request,
    body: exchange.request.body,
    receivedAt: new Date(exchange.at),
    answeredBy: undefined,
    status: exchange.response.status,
    closedEarly: !exchange.response.complete,
    finished: exchange.response.complete,
  };
  const dialect = findDialect(received);
  if (!dialect) {
    const problem = `${file}: exchange ${exchange.number} is not a question to a model.`;
    throw new RehearsalError("recording_unreadable", problem, "Remove that line, or record again.");
  }
  return { ...received, ...describeQuestion(dialect.name, dialect.read(received)) };
}
