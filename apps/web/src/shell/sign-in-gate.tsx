import { type ReactNode, useEffect, useState } from "react";
import { whenSignedOut } from "../api/client.ts";
import { pageKey } from "../api/page-key.ts";
import {
  isAssumedSignedIn,
  NOT_SIGNED_IN,
  signedInAt,
  signIn,
  SIGNED_OUT,
  type SignInState,
} from "../state/sign-in.ts";
import { useLive } from "../live/live-value.ts";
import { Button } from "../ui/button.tsx";

/** Renders the page for a signed-in browser, or exchanges the code of a sign-in link. */
export function SignInGate({ children }: { children: ReactNode }) {
  const [state, setState] = useState<SignInState>(() => (isAssumedSignedIn() ? { type: "in" } : { type: "asking" }));
  // Another tab has signed out.
  const isOut = useLive(signedInAt) === 0;

  useEffect(() => {
    whenSignedOut(() => {
      void pageKey().then((key) => {
        signedInAt.set(0);
        setState({ type: "out", reason: key ? SIGNED_OUT : NOT_SIGNED_IN });
      });
    });
    const startSignIn = (): void =>
      void signIn().then((next) => {
        // An open page already shows that the server is unreachable.
        setState((now) => (now.type === "in" && next.type === "unreachable" ? now : next));
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

  if (state.type === "in" && !isOut) return children;
  return (
    <main className="grid h-full place-items-center p-6">
      <div className="max-w-md text-center">
        <img src="/icon.svg" alt="" className="mx-auto mb-5 size-12" />
        <h1 className="text-lg font-semibold">Tandem</h1>
        <Screen
          state={state.type === "in" ? { type: "out", reason: NOT_SIGNED_IN } : state}
          onContinue={() => setState({ type: "in" })}
        />
      </div>
    </main>
  );
}

function Screen({ state, onContinue }: { state: Exclude<SignInState, { type: "in" }>; onContinue: () => void }) {
  switch (state.type) {
    case "asking":
      return <p className="mt-2 text-ink-soft">Signing in …</p>;
    case "still-in":
      return (
        <>
          <p className="mt-2 text-ink">{state.reason}</p>
          <p className="mt-2 mb-4 text-ink-soft">This browser is still signed in.</p>
          <Button look="primary" onClick={onContinue}>
            Continue
          </Button>
        </>
      );
    case "out":
      return (
        <>
          <p className="mt-2 text-ink">{state.reason}</p>
          <p className="mt-4 text-ink-soft">
            To sign in, run this on the server’s machine and open the link it prints:
          </p>
          <Command>tandem open</Command>
          <p className="mt-2 text-sm text-ink-faint">A link works once and for 10 minutes.</p>
        </>
      );
    case "insecure":
      return (
        <>
          <p className="mt-2 text-ink">This page needs HTTPS.</p>
          <p className="mt-4 text-ink-soft">
            Browsers let a page sign in over plain HTTP only on the server’s own machine. Use an https:// address of
            this server, or forward its port and open it on localhost:
          </p>
          <Command>{`ssh -L ${port()}:127.0.0.1:${port()} ${location.hostname}`}</Command>
        </>
      );
    case "unreachable":
      return (
        <>
          <p className="mt-2 mb-4 text-ink-soft">{state.reason}</p>
          <Button onClick={() => location.reload()}>Try again</Button>
        </>
      );
  }
}

const Command = ({ children }: { children: string }) => (
  <code className="mt-2 inline-block rounded bg-raised px-2 py-1 font-mono text-sm break-all">{children}</code>
);

const port = (): string => location.port || "80";
