import { LeaseLost } from "@tandem/storage";

/** The lease was given up because the database did not answer for the whole time that a turn waits for it. */
export class DatabaseAway extends LeaseLost {
  constructor(session: string, silentMs: number) {
    super(
      session,
      `The database did not answer for ${Math.round(silentMs / 1_000)} seconds, so Tandem ended the turn.`,
    );
  }
}
