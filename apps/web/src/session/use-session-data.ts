import type { BackgroundTask, BudgetGauge, Session, SessionEvent } from "@tandem/protocol";
import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent } from "react";
import { api } from "../api/client.ts";
import type { LiveLog } from "../live/live-log.ts";

const pathOf = (session: string): string => `/v1/sessions/${session}`;
/** Every model response reports usage. Debounce the cost query. */
const REST_MS = 400;

export const useSessionResource = (session: string): UseQueryResult<Session> =>
  useQuery({
    queryKey: [pathOf(session)],
    queryFn: ({ signal }) => api.call("sessions.retrieve", { params: { session_id: session }, signal }),
  });

export function useBudget(session: string): readonly BudgetGauge[] {
  const path = `${pathOf(session)}/budget`;
  const { data } = useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => api.call("budgets.session", { params: { session_id: session }, signal }),
  });
  return data?.data ?? [];
}

export function useTasks(session: string): readonly BackgroundTask[] {
  const path = `${pathOf(session)}/tasks`;
  const { data } = useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => api.call("sessions.tasks.list", { params: { session_id: session }, signal }),
  });
  return data?.data ?? [];
}

const CHANGES: Readonly<Partial<Record<SessionEvent["type"], readonly ("" | "/budget" | "/tasks")[]>>> = {
  "session.updated": ["", "/budget"],
  "tandem.mode": [""],
  "tandem.model": [""],
  "tandem.budget": ["", "/budget"],
  "session.usage": ["/budget"],
  "session.status_running": ["/budget"],
  "session.status_idle": ["", "/budget", "/tasks"],
  "tandem.background": ["/tasks"],
};

/** Invalidates queries whose data an event has changed. */
export function useFreshData(session: string, log: LiveLog): void {
  const queries = useQueryClient();
  const askAgain = useEffectEvent((paths: readonly string[]) => {
    for (const path of paths) void queries.invalidateQueries({ queryKey: [path], exact: true });
  });
  useEffect(() => {
    const due = new Set<string>();
    let timer: number | undefined;
    const ask = (): void => {
      askAgain([...due]);
      due.clear();
      timer = undefined;
    };
    const end = log.onEvent(({ type }: SessionEvent) => {
      for (const part of CHANGES[type] ?? []) due.add(pathOf(session) + part);
      if (due.size > 0) timer ??= window.setTimeout(ask, REST_MS);
    });
    return () => {
      end();
      clearTimeout(timer);
    };
  }, [session, log]);
}
