import { useEffect, useRef, useState } from "react";

const keyOf = (session: string): string => `tandem.draft.${session}`;
const REST_MS = 250;

/** What is being written to a session: still there after a reload, and when one comes back from another session. */
export function useDraft(session: string): [text: string, setText: (text: string) => void] {
  const [text, setText] = useState(() => read(keyOf(session)));
  const latest = useRef(text);
  useEffect(() => {
    latest.current = text;
    const timer = setTimeout(() => write(keyOf(session), text), REST_MS);
    return () => clearTimeout(timer);
  }, [session, text]);
  useEffect(() => {
    const keep = (): void => write(keyOf(session), latest.current);
    addEventListener("pagehide", keep);
    return () => {
      removeEventListener("pagehide", keep);
      keep();
    };
  }, [session]);
  return [text, setText];
}

// A browser that keeps nothing, as in a private window, refuses with an error.

function read(key: string): string {
  try {
    return localStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}

function write(key: string, text: string): void {
  try {
    if (text === "") localStorage.removeItem(key);
    else localStorage.setItem(key, text);
  } catch {
    // Then the draft lasts as long as the page.
  }
}
