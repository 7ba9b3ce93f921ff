import { type ReactNode, useEffect, useState } from "react";
import { api, ApiError, whenSignedOut } from "../api/client.ts";
import { StoredValue } from "../live/stored-value.ts";

type State = "asking" | "in" | "out" | "unreachable";

/** Whether this browser was signed in before. The page then renders at once, until a request returns 401. */
const wasSignedIn = new StoredValue("tandem.signed-in", false);

const isAssumedSignedIn = (): boolean => wasSignedIn.current && location.hash === "";

/** Renders the page for a signed-in browser, or exchanges the code of a sign-in link. */
export function SignInGate({ children }: { children: ReactNode }) {
  const [state, setState] = useState<State>(() => (isAssumedSignedIn() ? "in" : "asking"));
  const [words, setWords] = useState<string>();

  useEffect(() => {
    whenSignedOut(() => {
      wasSignedIn.set(false);
      setState("out");
    });
    const startSignIn = (): void =>
      void signIn().then(({ next, message }) => {
        if (next === "in") wasSignedIn.set(true);
        // An open page already shows that the server is unreachable.
        setState((now) => (now === "in" && next === "unreachable" ? now : next));
        setWords(message);
      });
    // A returning browser without a code skips this check. Its first request shows whether the sign-in is still valid.
    if (!isAssumedSignedIn()) startSignIn();
    // Following a link to a page that is already open only changes the hash.
    const onLink = (): void => {
      if (location.hash.startsWith("#code=")) startSignIn();
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

/** The code is in the hash, which browsers never send to a server. It is removed from the URL before use. */
async function signIn(): Promise<{ next: State; message?: string }> {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
  try {
    if (code !== undefined) {
      history.replaceState(null, "", location.pathname + location.search);
      await api.request("POST", "/v1/sign_in", { code });
    } else {
      await api.call("sessions.list", { query: { limit: 1 } });
    }
    return { next: "in" };
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) {
      return { next: "out", ...(code !== undefined && { message: error.message }) };
    }
    return { next: "unreachable", message: error instanceof Error ? error.message : String(error) };
  }
}
