import { lazy, Suspense } from "react";
import { useLive } from "../live/live-value.ts";
import { isStopAsked } from "./kill-switch.tsx";
import { isNewSessionOpen } from "./new-session.ts";
import { sessionAct } from "./session-act.ts";
import { isSheetOpen } from "./shortcuts-sheet-open.ts";

const NewSession = lazy(() => import("../home/start/new-session-dialog.tsx"));
const SessionDialogs = lazy(() => import("./session-dialogs.tsx"));
const StopDialog = lazy(() => import("./stop-dialog.tsx"));
const ShortcutsSheet = lazy(() => import("./shortcuts-sheet.tsx"));

/** What lies over a page, loaded when it is wanted. */
export function Overlays() {
  const isStarting = useLive(isNewSessionOpen);
  const act = useLive(sessionAct);
  const isStopping = useLive(isStopAsked);
  const isSheet = useLive(isSheetOpen);
  return (
    <Suspense fallback={null}>
      {isStarting && <NewSession />}
      {act && <SessionDialogs />}
      {isStopping && <StopDialog />}
      {isSheet && <ShortcutsSheet />}
    </Suspense>
  );
}
