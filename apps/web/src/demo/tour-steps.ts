/** Facts about the demo that complete the steps of the tour. */
export interface TourFacts {
  /** The session whose edit the user approved. */
  approved: string | undefined;
  hasSeenDiff: boolean;
  hasRewound: boolean;
  hasAskedContext: boolean;
}

export const STEPS = ["approve", "diff", "rewind", "ask"] as const;
export type Step = (typeof STEPS)[number];

/** The first step that is not done; undefined at the end of the tour. */
export function currentStep({ approved, hasSeenDiff, hasRewound, hasAskedContext }: TourFacts): Step | undefined {
  if (approved === undefined) return "approve";
  // A rewind shows the diff before it starts.
  if (!hasSeenDiff && !hasRewound) return "diff";
  if (!hasRewound) return "rewind";
  return hasAskedContext ? undefined : "ask";
}
