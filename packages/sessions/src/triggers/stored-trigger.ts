import { triggerFilter, triggerVerification, type DeploymentRunId } from "@tandem/protocol";
import { sealedSecret } from "@tandem/storage";
import { z } from "zod";

// The records of triggers. Names are stored, so they do not change.

export const storedTrigger = z.object({
  id: z.string(),
  deployment: z.string(),
  name: z.string(),
  verification: triggerVerification,
  filter: triggerFilter.nullable(),
  message: z.string().nullable(),
  enabled: z.boolean(),
  secret: sealedSecret,
  /** Incremented when the secret is replaced: deliveries signed with the former one cannot come again. */
  secretVersion: z.int(),
  createdAt: z.string(),
  updatedAt: z.string(),
});
export type StoredTrigger = z.infer<typeof storedTrigger>;

/** The run that one accepted delivery has started. It is kept as long as its signature is valid, so that it is accepted once. */
export const acceptedDelivery = z.object({
  run: z.custom<DeploymentRunId>((value) => typeof value === "string"),
  at: z.string(),
});

export const loggedDelivery = z.object({
  id: z.string().nullable(),
  event: z.string().nullable(),
  at: z.string(),
  result: z.enum(["accepted", "ignored"]),
  reason: z.string().nullable(),
  run: z.string().nullable(),
});
export type LoggedDelivery = z.infer<typeof loggedDelivery>;
