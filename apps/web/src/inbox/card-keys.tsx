import { type RefObject, useRef } from "react";
import { feed } from "../live/session-feed.ts";
import { useLive } from "../live/live-value.ts";
import { type Shortcuts, useShortcuts } from "../ui/keyboard/shortcuts.ts";

/** Ignore keys right after a card appears: they were meant for the previous card. */
const SETTLE_MS = 250;

/** The shortcuts of the active card. A card outside the viewport is scrolled into view instead of being answered. */
export function CardKeys({
  card,
  title,
  keys,
  isOff,
}: {
  card: RefObject<HTMLElement | null>;
  title: string;
  keys: Shortcuts;
  /** Disables the shortcuts while another element uses the keys. */
  isOff: boolean;
}) {
  const since = useRef<number>(undefined);
  since.current ??= performance.now();
  const guarded = Object.entries(keys).map(([key, [label, act]]) => {
    const guard = (): void => {
      if (performance.now() - since.current! < SETTLE_MS) return;
      if (isInSight(card.current)) act();
      else card.current?.scrollIntoView({ block: "center", behavior: "smooth" });
    };
    return [key, [label, guard]] as const;
  });
  useShortcuts(title, isOff ? {} : Object.fromEntries(guarded));
  return null;
}

function isInSight(element: HTMLElement | null): boolean {
  if (!element) return false;
  const { top, bottom } = element.getBoundingClientRect();
  const seen = Math.min(bottom, innerHeight) - Math.max(top, 0);
  return seen > Math.min(120, bottom - top - 1);
}

/** Only the approval that has waited longest gets the shortcuts of its session, so that one key never answers two. */
export const useHasKeys = (session: string, id: string): boolean =>
  useLive(feed.sessions).get(session)?.waiting_for[0]?.event_id === id;
