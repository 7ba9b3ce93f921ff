import { useEffect } from "react";
import { LiveValue } from "../live/live-value.ts";

/** What the page is about, without what waits elsewhere: that is put before it where the title is shown. */
export const pageTitle = new LiveValue<string | undefined>(undefined);

export function usePageTitle(title: string | null | undefined): void {
  useEffect(() => {
    pageTitle.set(title ?? undefined);
    return () => pageTitle.set(undefined);
  }, [title]);
}
