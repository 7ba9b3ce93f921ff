import { RequestError, TandemError, type SessionErrorDetail } from "@tandem/protocol";
import { redact } from "../http/redact.ts";

/** JSON-RPC's codes, and those that ACP adds. */
const CODES = {
  invalidRequest: -32600,
  invalidParams: -32602,
  internal: -32603,
  authRequired: -32000,
  notFound: -32002,
} as const;

/** A JSON-RPC error. */
interface WireError {
  code: number;
  message: string;
  data?: { code: string; fix?: string };
}

/** A turn that ended with an error rather than an answer. */
export class TurnFailed extends Error {
  readonly detail: SessionErrorDetail;

  constructor(detail: SessionErrorDetail) {
    super(detail.message);
    this.detail = detail;
  }
}

/** Hides the message of an unexpected error from the client: it may name databases or paths of this machine. */
export const UNEXPECTED_ERROR: Omit<WireError, "data"> = {
  code: CODES.internal,
  message: "Something went wrong inside Tandem. Its log has more.",
};

/** Maps an error to JSON-RPC; undefined for an unexpected error, which must be logged instead. */
export function wireError(error: unknown): WireError | undefined {
  if (error instanceof TurnFailed) {
    const { message, tandem } = error.detail;
    const code = tandem?.code ?? error.detail.type;
    return told(isAuth(code) ? CODES.authRequired : CODES.internal, message, code, tandem?.fix);
  }
  if (error instanceof RequestError) return told(codeOf(error), error.message, error.code, error.fix);
  if (error instanceof TandemError) {
    return told(isAuth(error.code) ? CODES.authRequired : CODES.internal, error.message, error.code, error.fix);
  }
  return undefined;
}

const told = (code: number, message: string, name: string, fix: string | undefined): WireError => ({
  code,
  message: redact([message, fix].filter(Boolean).join(" ")),
  data: { code: name, ...(fix && { fix: redact(fix) }) },
});

const AUTH: ReadonlySet<string> = new Set(["not_configured", "not_logged_in", "auth_rejected"]);
const isAuth = (code: string): boolean => AUTH.has(code);

function codeOf({ code }: RequestError): number {
  switch (code) {
    case "invalid_request":
      return CODES.invalidParams;
    case "not_found":
      return CODES.notFound;
    default:
      return CODES.invalidRequest;
  }
}
