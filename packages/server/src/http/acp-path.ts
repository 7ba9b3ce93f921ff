export const ACP_PATH = "/acp";
export const ACP_METHODS = ["GET", "POST", "DELETE"] as const;
