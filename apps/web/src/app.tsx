import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { ApiError } from "./api/client.ts";
import { feed } from "./live/feed.ts";
import { whenPainted } from "./live/is-drawn.ts";
import { useLive } from "./live/live-value.ts";
import { lookForNewerPage } from "./live/newer-page.ts";
import { router } from "./router.tsx";
import { SignedIn } from "./shell/signed-in.tsx";

/** Once, where that may help: what the server has refused, it refuses again. */
const mayRetry = (failed: number, error: Error): boolean =>
  failed < 1 && !(error instanceof ApiError && error.status < 500);

const queries = new QueryClient({ defaultOptions: { queries: { retry: mayRetry, staleTime: 5_000 } } });

export function App() {
  return (
    <QueryClientProvider client={queries}>
      <SignedIn>
        <Follow />
        <RouterProvider router={router} />
      </SignedIn>
    </QueryClientProvider>
  );
}

/** The feed runs for as long as somebody is signed in. */
function Follow() {
  useEffect(() => {
    const end = new AbortController();
    void feed.follow(end.signal);
    whenPainted();
    return () => end.abort();
  }, []);
  const connection = useLive(feed.connection);
  const wasLost = useRef(false);
  useEffect(() => {
    // What was asked for while the server was away has failed, and what was known before may be old.
    if (connection === "live" && wasLost.current) {
      void queries.invalidateQueries();
      void lookForNewerPage();
    }
    wasLost.current = connection === "lost";
  }, [connection]);
  return null;
}
