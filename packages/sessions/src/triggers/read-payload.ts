import { RequestError } from "@tandem/protocol";
import type { InboundDelivery } from "./verify-delivery.ts";

/** A payload nested deeper than this is of no use to a template, and takes seconds to print. */
const DEEPEST = 100;

/** The delivery's JSON. The signature is checked before: only its sender can send anything here. */
export function readPayload({ body }: InboundDelivery): unknown {
  let payload: unknown;
  try {
    payload = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch (cause) {
    throw new RequestError("invalid_request", "The delivery is not JSON.", {
      fix: "Choose application/json as the content type at the sender.",
      cause,
    });
  }
  if (isDeeper(payload, DEEPEST)) {
    throw new RequestError("invalid_request", `The delivery is nested deeper than ${DEEPEST} levels.`);
  }
  return payload;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1));
}
