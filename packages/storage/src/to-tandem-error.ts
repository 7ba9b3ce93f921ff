import { RequestError, TandemError } from "@tandem/protocol";
import { LeaseLost } from "./lease-lost.ts";
import type { Reason } from "./refusal.ts";

export function toTandemError(reason: Reason, cause?: unknown): TandemError {
  switch (reason.type) {
    case "lease_lost":
      return new LeaseLost(reason.session);
    case "request":
      return new RequestError(reason.code, reason.message, { fix: reason.fix, detail: reason.detail, cause });
    case "tandem":
      return new TandemError(reason.code, reason.message, { fix: reason.fix, cause });
  }
}
