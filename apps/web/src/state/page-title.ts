import { useEffect } from "react";
import { LiveValue } from "../live/live-value.ts";

/** The title of the page, without the number of pending approvals that the tab shows before it. */
export const pageTitle = new LiveValue<string | undefined>(undefined);

export function usePageTitle(title: string | null | undefined): void {
  useEffect(() => {
    pageTitle.set(title ?? undefined);
    return () => pageTitle.set(undefined);
  }, [title]);
}
