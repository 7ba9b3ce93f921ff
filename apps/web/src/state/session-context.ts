import { createContext, use } from "react";

/** The session that transcript rows belong to. */
export interface SessionOnScreen {
  id: string;
  /** The session's folder; undefined until it is known. */
  folder: string | undefined;
  agent: string | undefined;
  title: string | null | undefined;
}

export const SessionContext = createContext<SessionOnScreen>({
  id: "",
  folder: undefined,
  agent: undefined,
  title: undefined,
});

export const useSession = (): SessionOnScreen => use(SessionContext);
