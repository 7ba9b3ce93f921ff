import { useEffect, useState } from "react";

/** The current time, updated every second while needed. */
export function useNow(isNeeded: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isNeeded) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isNeeded]);
  return now;
}

/** Milliseconds until `due`; 0 afterwards. */
export function useTimeUntil(due: number | undefined): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (due === undefined) return undefined;
    const timer = setInterval(() => {
      const time = Date.now();
      setNow(time);
      if (time >= due) clearInterval(timer);
    }, 500);
    return () => clearInterval(timer);
  }, [due]);
  return due === undefined ? 0 : Math.max(0, due - now);
}
