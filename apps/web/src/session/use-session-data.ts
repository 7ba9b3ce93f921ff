import type { BackgroundTask, BudgetGauge, SessionEvent } from "@tandem/protocol";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent } from "react";
import { useServerQuery } from "../api/use-server-query.ts";
import type { LiveLog } from "../live/live-log.ts";

const pathOf = (session: string): string => `/v1/sessions/${session}`;
/** Every model response reports usage. Debounce the cost query. */
const REST_MS = 400;

export const useSessionResource = (session: string) =>
  useServerQuery("sessions.retrieve", { params: { session_id: session } });

export const useBudget = (session: string): readonly BudgetGauge[] =>
  useServerQuery("budgets.session", { params: { session_id: session } }).data?.data ?? [];

export const useTasks = (session: string): readonly BackgroundTask[] =>
  useServerQuery("sessions.tasks.list", { params: { session_id: session } }).data?.data ?? [];

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
