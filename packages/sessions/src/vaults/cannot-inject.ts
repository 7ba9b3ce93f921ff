import { RequestError } from "@tandem/protocol";

/** The plain value must not reach programs of a session. */
export const cannotInject = (reason: string, code: "unavailable" | "invalid_request" = "unavailable"): RequestError =>
  new RequestError(
    code,
    `A vault of the session has environment variables, and only the sandbox can keep their values from programs: ${reason.replace(/\.$/, "")}.`,
    { fix: "Turn the sandbox on (`tandem sandbox`), or use vaults without environment variables." },
  );
