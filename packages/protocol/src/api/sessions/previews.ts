/** Events whose text can be streamed before they are logged. */
export const PREVIEWS = ["agent.message", "agent.thinking"] as const;
