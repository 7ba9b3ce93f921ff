import { lazy, Suspense, useEffect } from "react";
import { useLive } from "../live/live-value.ts";
import { isNewSessionOpen } from "../state/new-session.ts";
import { isShortcutsSheetOpen, isStopDialogOpen, sessionAction } from "../state/open-dialogs.ts";

const loadNewSession = () => import("../home/start/new-session-dialog.tsx");
const NewSession = lazy(loadNewSession);
const SessionDialogs = lazy(() => import("./session-dialogs.tsx"));
const StopDialog = lazy(() => import("./stop-dialog.tsx"));
const ShortcutsSheet = lazy(() => import("./shortcuts-sheet.tsx"));

const IDLE_MS = 1_500;

/** Dialogs over any page, as lazy chunks. */
export function Overlays() {
  const isStarting = useLive(isNewSessionOpen);
  const act = useLive(sessionAction);
  const isStopping = useLive(isStopDialogOpen);
  const isSheet = useLive(isShortcutsSheetOpen);
  // Prefetch the most common dialog while the browser is idle.
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
