export const SESSION_VIEWS = ["talk", "changes", "history"] as const;
export type SessionView = (typeof SESSION_VIEWS)[number];
export const isSessionView = (value: unknown): value is SessionView => SESSION_VIEWS.some((view) => view === value);
