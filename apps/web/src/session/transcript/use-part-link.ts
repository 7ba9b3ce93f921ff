import type { Virtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useState } from "react";
import type { LiveLog } from "../../live/live-log.ts";
import { useLive } from "../../live/live-value.ts";
import { type Row, rowOfPart } from "./rows.ts";

const MARKED_MS = 2_500;

/**
 * Scrolls to the part named in the URL and loads it if it is missing. Stops when the user scrolls elsewhere. `marked` is the key of the row to highlight for a moment.
 */
export function usePartLink({
  log,
  rows,
  list,
  part,
  onLeave,
}: {
  log: LiveLog;
  rows: readonly Row[];
  list: Virtualizer<HTMLDivElement, Element>;
  part: string | undefined;
  onLeave: () => void;
}): { marked: string | undefined; isMissing: boolean; giveUp: () => void } {
  const hasEarlier = useLive(log.hasEarlier);
  const [found, setFound] = useState<string>();
  const [missing, setMissing] = useState<string>();
  const [marked, setMarked] = useState<string>();
  const isWanted = part !== undefined && found !== part;

  // Before paint: the first frame shows the part, not another place.
  useLayoutEffect(() => {
    if (!isWanted || hasEarlier === undefined) return;
    const index = rowOfPart(rows, part);
    if (index === -1) {
      if (hasEarlier) void log.loadPart(part);
      else {
        setFound(part);
        setMissing(part);
      }
      return;
    }
    onLeave();
    setFound(part);
    setMarked(rows[index]!.key);
    list.scrollToIndex(index, { align: "center" });
  }, [isWanted, part, rows, hasEarlier, log, list, onLeave]);

  useEffect(() => {
    if (marked === undefined) return undefined;
    const timer = setTimeout(() => setMarked(undefined), MARKED_MS);
    return () => clearTimeout(timer);
  }, [marked]);

  return { marked, isMissing: part !== undefined && missing === part, giveUp: () => setFound(part) };
}
