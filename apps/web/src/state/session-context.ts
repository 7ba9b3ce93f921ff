import { createContext, use } from "react";

/** What the rows of a timeline need to know of the session that they are of. */
export interface SessionOnScreen {
  id: string;
  /** Where it works; undefined until that is known. */
  folder: string | undefined;
  agent: string | undefined;
}

export const SessionContext = createContext<SessionOnScreen>({ id: "", folder: undefined, agent: undefined });

export const useSession = (): SessionOnScreen => use(SessionContext);
