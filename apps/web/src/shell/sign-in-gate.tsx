import { type ReactNode, useEffect, useState } from "react";
import { api, ApiError, whenSignedOut } from "../api/client.ts";
import { KeptValue } from "../live/kept-value.ts";

type State = "asking" | "in" | "out" | "unreachable";

/** Whether this browser was let in before: then it is taken to be so still, until the server says that it is not. */
const wasIn = new KeptValue("tandem.signed-in", false);

const isTakenIn = (): boolean => wasIn.current && location.hash === "";

/** Lets in whoever has come by a link, or has before. */
export function SignInGate({ children }: { children: ReactNode }) {
  const [state, setState] = useState<State>(() => (isTakenIn() ? "in" : "asking"));
  const [words, setWords] = useState<string>();

  useEffect(() => {
    whenSignedOut(() => {
      wasIn.set(false);
      setState("out");
    });
    const comeIn = (): void =>
      void signIn().then(({ next, message }) => {
        if (next === "in") wasIn.set(true);
        // A page that is up already says by itself that the server is away.
        setState((now) => (now === "in" && next === "unreachable" ? now : next));
        setWords(message);
      });
    // Who was in before and has brought no code is told by the first thing that is asked for, should that be over.
    if (!isTakenIn()) comeIn();
    // A link that is followed where the page is open already changes nothing but what stands behind the `#`.
    const onLink = (): void => {
      if (location.hash.startsWith("#code=")) comeIn();
    };
    addEventListener("hashchange", onLink);
    return () => removeEventListener("hashchange", onLink);
  }, []);

  if (state === "in") return children;
  return (
    <main className="grid h-full place-items-center p-6">
      <div className="max-w-sm text-center">
        <img src="/icon.svg" alt="" className="mx-auto mb-5 size-12" />
        <h1 className="text-lg font-semibold">Tandem</h1>
        {state === "asking" && <p className="mt-2 text-ink-soft">Signing in …</p>}
        {state === "out" && (
          <>
            <p className="mt-2 text-ink-soft">{words ?? "This browser is not signed in."}</p>
            <p className="mt-4 text-ink-soft">
              Run <code className="rounded bg-raised px-1.5 py-0.5 font-mono">tandem open</code> where the server runs,
              and follow its link.
            </p>
          </>
        )}
        {state === "unreachable" && (
          <>
            <p className="mt-2 text-ink-soft">{words}</p>
            <button
              type="button"
              className="mt-4 rounded-md border border-line-strong px-3 py-1.5 hover:bg-raised"
              onClick={() => location.reload()}
            >
              Try again
            </button>
          </>
        )}
      </div>
    </main>
  );
}

/** The code stands behind the `#`, where it is sent nowhere; it leaves the address before it is used. */
async function signIn(): Promise<{ next: State; message?: string }> {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
  try {
    if (code !== undefined) {
      history.replaceState(null, "", location.pathname + location.search);
      await api.post("/v1/sign_in", { code });
    } else {
      await api.get("/v1/sessions", { limit: 1 });
    }
    return { next: "in" };
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) {
      return { next: "out", ...(code !== undefined && { message: error.message }) };
    }
    return { next: "unreachable", message: error instanceof Error ? error.message : String(error) };
  }
}
