import { announcement, webhookDelivery } from "@tandem/protocol";
import { z } from "zod";

/** The delivery log: `ENDPOINT/EVENT`. */
export const DELIVERY = "delivery";

/** A delivery to be tried. Storage writes the first two fields. */
const dueDelivery = z.object({
  announcement,
  created_at: z.string(),
  /** Attempts that were begun. */
  attempts: z.int().default(0),
  /** When the first attempt began, in milliseconds. */
  first_at: z.number().optional(),
});
export type DueDelivery = z.infer<typeof dueDelivery>;
export const readDue = (value: unknown): DueDelivery => dueDelivery.parse(value);

const loggedDelivery = z.object({
  announcement,
  /** The state `dropped`: the endpoint was disabled, or the delivery became too old, before it succeeded. */
  ...webhookDelivery.omit({ id: true, type: true, resource_id: true }).shape,
});
export type LoggedDelivery = z.infer<typeof loggedDelivery>;
export const readLogged = (value: unknown): LoggedDelivery => loggedDelivery.parse(value);

const DIGITS = 13;
export const dueKey = (endpoint: string, at: number, event: string): string =>
  `${endpoint}/${String(Math.max(0, Math.ceil(at))).padStart(DIGITS, "0")}/${event}`;

export function parseDueKey(key: string): { at: number; event: string } {
  const [, at = "", event = ""] = key.split("/");
  return { at: Number(at), event };
}

export const logKey = (endpoint: string, event: string): string => `${endpoint}/${event}`;
