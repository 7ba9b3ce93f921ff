import { useEffect, useState } from "react";

/** The time, every so often, for as long as somebody needs it. */
export function useNow(isNeeded: boolean, everyMs = 1_000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isNeeded) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [isNeeded, everyMs]);
  return now;
}
