import { z } from "zod";

/** Task of a fan-out server: its folder, and the events to send. */
export const fanoutTask = z.object({
  folder: z.string(),
  perSecond: z.number(),
  seconds: z.number(),
  /** The peer's: gather what arises within this time into one write. 0 writes each event by itself. */
  windowMs: z.number(),
});
export type FanoutTask = z.infer<typeof fanoutTask>;

/** Where it can be heard. */
export const fanoutPlace = z.object({ port: z.number(), path: z.string(), token: z.string() });

export const fanoutDone = z.object({ sent: z.number() });

export const subscribersTask = z.object({
  ...fanoutPlace.shape,
  subscribers: z.number(),
  /** From the first event on, before lags count: code is compiled as it is used. */
  warmUpSeconds: z.number(),
});

export const subscribersFound = z.object({
  received: z.number(),
  /** Received where another was to come: lost, repeated or out of order. */
  misplaced: z.number(),
  p50: z.number(),
  p99: z.number(),
  max: z.number(),
});

export const ready = z.object({ ready: z.literal(true) });

/** A sentence or two, as most events are. */
export const WORDS = "A sentence of the length that a sentence often has, and then another one like it.";
