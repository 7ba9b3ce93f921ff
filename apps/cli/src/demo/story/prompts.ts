/** The prompts of the seeded sessions. Each starts a scene of `scenes.ts`. */
export const PROMPTS = {
  refunds: "Retried refunds are counted twice in the monthly report. Find the cause and fix it.",
  firstBooking: "If a line was booked twice, the first booking should count. Say so in the comment.",
  newestBooking: "If a line was booked twice, the newest booking should count.",
  review: "Review the change to the refunds.",
  callers: "Find every caller of refundedCents. Does any of them rely on duplicates?",
  push: "Push the branch.",
  newsletter: "Prepare the recipient list for the spring newsletter.",
  shipping: "Raise the free-shipping limit to 60 €.",
  plan: "Plan the migration of prices to cents.",
  stock: "Which bikes should we reorder before Christmas?",
} as const;
