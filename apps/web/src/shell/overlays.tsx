import { lazy, Suspense, useEffect } from "react";
import { useLive } from "../live/live-value.ts";
import { isStopAsked } from "./kill-switch.tsx";
import { isNewSessionOpen } from "./new-session.ts";
import { sessionAct } from "./session-act.ts";
import { isSheetOpen } from "./shortcuts-sheet-open.ts";

const loadNewSession = () => import("../home/start/new-session-dialog.tsx");
const NewSession = lazy(loadNewSession);
const SessionDialogs = lazy(() => import("./session-dialogs.tsx"));
const StopDialog = lazy(() => import("./stop-dialog.tsx"));
const ShortcutsSheet = lazy(() => import("./shortcuts-sheet.tsx"));

const IDLE_MS = 1_500;

/** What lies over a page, loaded when it is wanted. */
export function Overlays() {
  const isStarting = useLive(isNewSessionOpen);
  const act = useLive(sessionAct);
  const isStopping = useLive(isStopAsked);
  const isSheet = useLive(isSheetOpen);
  // What is wanted most is fetched while nothing else is.
  useEffect(() => {
    const timer = setTimeout(() => void loadNewSession().catch(() => undefined), IDLE_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <Suspense fallback={null}>
      {isStarting && <NewSession />}
      {act && <SessionDialogs />}
      {isStopping && <StopDialog />}
      {isSheet && <ShortcutsSheet />}
    </Suspense>
  );
}
