import { useState, useSyncExternalStore } from "react";
import type { DiffLayout } from "../diff/diff-view.tsx";

const KEY = "tandem.diff";
const wide = matchMedia("(min-width: 72rem)");
const subscribe = (listener: () => void): (() => void) => {
  wide.addEventListener("change", listener);
  return () => wide.removeEventListener("change", listener);
};

/** The split layout needs a wide screen and the user's choice. */
export function useDiffLayout(): { layout: DiffLayout; canSplit: boolean; setLayout: (layout: DiffLayout) => void } {
  const canSplit = useSyncExternalStore(subscribe, () => wide.matches);
  const [wish, setWish] = useState<DiffLayout>(() => (localStorage.getItem(KEY) === "split" ? "split" : "unified"));
  const setLayout = (layout: DiffLayout): void => {
    localStorage.setItem(KEY, layout);
    setWish(layout);
  };
  return { layout: canSplit ? wish : "unified", canSplit, setLayout };
}
