import { isAbsolute, relative, resolve } from "node:path";
import type { ConversationHost } from "@tandem/claude-code";
import type { CodeDiagnostic, SessionEventBody } from "@tandem/protocol";
import { z } from "zod";
import { externalDeadline } from "../host/external-deadline.ts";
import { diagnosticNote } from "./found-lines.ts";
import type { LanguageServer } from "./language-server.ts";
import type { FileDiagnostic } from "./open-documents.ts";

const EDITS = new Set(["Edit", "MultiEdit", "Write"]);
/** Default of `editMs`. */
const EDIT_MS = 5_000;
const MAX_REPORTED = 20;

const edited = z.object({ file_path: z.string() });
/** Null for a new file. */
const result = z.object({ originalFile: z.string().nullable() });

type AfterTool = NonNullable<ConversationHost["afterTool"]>;

interface RunningServers {
  ifRunning<T>(folder: string, path: string, work: (server: LanguageServer) => Promise<T>): Promise<T | undefined>;
}

/** See `SessionLanguages`. */
export function diagnoseEdit(
  folder: string,
  servers: RunningServers,
  write: (events: SessionEventBody[]) => void,
  editMs = EDIT_MS,
): AfterTool {
  return async ({ name, mcpServer, input, result: output, eventId, signal }) => {
    const asked = mcpServer === undefined && EDITS.has(name) ? edited.safeParse(input).data : undefined;
    if (!asked) return {};
    const path = resolve(folder, asked.file_path);
    if (isAbsolute(relative(folder, path)) || relative(folder, path).startsWith("..")) return {};
    const before = result.safeParse(output).data?.originalFile;
    // The edit has been made: a server that fails must not make it look failed.
    const inTime = AbortSignal.any([signal, externalDeadline(editMs)]);
    const found = await servers
      .ifRunning(folder, path, async (server) => ({
        server: server.name,
        errors: await server.documents.newErrors(path, before, { ms: editMs, signal: inTime }),
      }))
      .catch(() => undefined);
    if (!found || found.errors.length === 0) return {};
    const { server, errors } = found;
    const shown = errors.slice(0, MAX_REPORTED);
    const diagnostics = shown.map(codeDiagnostic);
    write([{ type: "tandem.diagnostics", event_id: eventId, server, diagnostics, total: errors.length }]);
    const lines = shown.map((each) => `${placeOf(each)} ${diagnosticNote(each.diagnostic)}`);
    if (errors.length > shown.length) lines.push(`… and ${errors.length - shown.length} more.`);
    return { context: `New errors after this edit (language server ${server}):\n${lines.join("\n")}` };
  };
}

const placeOf = ({ path, diagnostic: { range } }: FileDiagnostic): string =>
  `${path}:${range.start.line + 1}:${range.start.character + 1}`;

function codeDiagnostic({ path, diagnostic: { range, message, code, source } }: FileDiagnostic): CodeDiagnostic {
  return {
    path,
    line: range.start.line + 1,
    column: range.start.character + 1,
    message: message.slice(0, 2_000),
    ...(code !== undefined && code !== null && { code: String(code) }),
    ...(source && { source }),
  };
}
