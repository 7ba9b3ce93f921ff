import { useEffect, useRef, useState } from "react";

const keyOf = (session: string): string => `tandem.draft.${session}`;
const REST_MS = 250;

/** The draft of a session. It survives a reload and switching sessions. */
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

// Private windows may refuse storage with an error.

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
    // Keep the draft in memory.
  }
}
