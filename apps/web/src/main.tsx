import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode, useEffect, useRef } from "react";
import { createRoot } from "react-dom/client";
import "./shell/style-nonce.ts";
import "./state/theme.ts";
import { ApiError } from "./api/client.ts";
import { feed } from "./live/session-feed.ts";
import { prefetchLog } from "./live/log-page.ts";
import { whenPainted } from "./live/first-paint.ts";
import { watchKeys } from "./live/frame-scheduler.ts";
import { useLive } from "./live/live-value.ts";
import { checkForNewerPage } from "./live/newer-page.ts";
import { router } from "./router.tsx";
import { SignInGate } from "./shell/sign-in-gate.tsx";
import "./styles.css";

/** Retry once, but not a request that the server has refused. */
const mayRetry = (failed: number, error: Error): boolean =>
  failed < 1 && !(error instanceof ApiError && error.status < 500);

const queries = new QueryClient({ defaultOptions: { queries: { retry: mayRetry, staleTime: 5_000 } } });

function App() {
  return (
    <QueryClientProvider client={queries}>
      <SignInGate>
        <Follow />
        <RouterProvider router={router} />
      </SignInGate>
    </QueryClientProvider>
  );
}

/** Follows the feed while the user is signed in. */
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
    // Requests failed during the outage, and cached data may be stale.
    if (connection === "live" && wasLost.current) {
      void queries.invalidateQueries();
      void checkForNewerPage();
    }
    wasLost.current = connection === "lost";
  }, [connection]);
  return null;
}

prefetchLog(location);
watchKeys();
const root = document.getElementById("root");
if (!root) throw new Error("The page has no root.");
const draw = (): void =>
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
// Load the route before the first render, so that page and layout render once, together. The router reports loading
// errors.
void router.load().then(draw, draw);
